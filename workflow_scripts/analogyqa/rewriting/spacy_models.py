"""spaCy models by one string: an installed package such as `en_core_web_sm`, or a folder."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from analogyqa.errors import AnalogyQAError, one_line

if TYPE_CHECKING:
    from spacy.language import Language


def installed(model: str) -> bool:
    """Return whether there is such a package or folder; nothing is loaded."""
    is_package = model.isidentifier() and importlib.util.find_spec(model) is not None
    return is_package or Path(model).is_dir()


def load(model: str, remedy: str) -> "Language":
    """Load a model; raises AnalogyQAError, which ends with the remedy, when spaCy cannot."""
    import spacy

    try:
        return spacy.load(model)
    except Exception as error:  # what a damaged model raises depends on the damage
        raise load_error(model, error, remedy) from error


def check_model(nlp: "Language", model: str, remedy: str) -> None:
    """Run a loaded model on a sentence: that a file of a component is missing may show only then.

    Raises AnalogyQAError as `load` does.
    """
    try:
        nlp("Ada Lovelace was born in London in 1815.").to_json()
    except Exception as error:
        raise load_error(model, error, remedy) from error


def load_error(model: str, error: Exception, remedy: str) -> AnalogyQAError:
    return AnalogyQAError(
        f"{model}: spaCy cannot load it ({one_line(error)}). Install the package (python -m spacy "
        f"download NAME) or {remedy}"
    )
