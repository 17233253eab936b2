"""Load spaCy models from an installed package such as `en_core_web_sm`, or from a folder."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from analogyqa.errors import AnalogyQAError, one_line

if TYPE_CHECKING:
    from spacy.language import Language


def installed(model: str) -> bool:
    """Return whether the package or folder exists, without loading it."""
    is_package = model.isidentifier() and importlib.util.find_spec(model) is not None
    return is_package or Path(model).is_dir()


def load(model: str, remedy: str) -> "Language":
    """Load a model, or raise AnalogyQAError with a message that ends in `remedy`."""
    import spacy

    try:
        return spacy.load(model)
    except Exception as error:  # spaCy raises many types
        raise load_error(model, error, remedy) from error


def check_model(nlp: "Language", model: str, remedy: str) -> None:
    """Run a loaded model once, because some missing files show only then.

    Raises:
        AnalogyQAError: with a message that ends in `remedy`.
    """
    try:
        nlp("Ada Lovelace was born in London in 1815.").to_json()
    except Exception as error:
        raise load_error(model, error, remedy) from error


def load_error(model: str, error: Exception, remedy: str) -> AnalogyQAError:
    return AnalogyQAError(
        f"{model}: spaCy cannot load this model ({one_line(error)}). Install the package (python "
        f"-m spacy download NAME), or {remedy}"
    )
