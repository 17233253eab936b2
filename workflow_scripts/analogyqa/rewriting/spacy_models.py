"""spaCy models by one string: an installed package such as `en_core_web_sm`, or a folder."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from analogyqa.errors import AnalogyQAError

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
        raise cannot_load(model, error, remedy) from error


def cannot_load(model: str, error: Exception, remedy: str) -> AnalogyQAError:
    cause = " ".join(f"{type(error).__name__}: {error}".split())
    return AnalogyQAError(
        f"{model}: spaCy cannot load it ({cause}). Install the package (python -m spacy download "
        f"NAME) or {remedy}"
    )
