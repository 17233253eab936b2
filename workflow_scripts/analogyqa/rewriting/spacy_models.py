"""Load spaCy models.

A model is given as an installed package such as `en_core_web_sm`, as the folder or the wheel of a
model, or as a `.jsonl` file of patterns for spaCy's `entity_ruler`.
"""

import importlib.util
from os.path import isdir, isfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from analogyqa.errors import AnalogyQAError, one_line
from analogyqa.sources.archives import unpack

if TYPE_CHECKING:
    from spacy.language import Language

PATTERNS = ".jsonl"
_WHEEL = ".whl"


def installed(model: str) -> bool:
    """Return whether the package, folder or file exists, without loading it."""
    is_package = model.isidentifier() and importlib.util.find_spec(model) is not None
    # Unlike those of `Path`, these functions take a name that is too long for a file.
    exists = isfile if Path(model).suffix in (PATTERNS, _WHEEL) else isdir
    return is_package or exists(model)


def load(model: str, remedy: str) -> "Language":
    """Load a model, or raise AnalogyQAError with a message that ends in `remedy`."""
    import spacy

    try:
        if Path(model).suffix == PATTERNS:
            nlp = spacy.blank("en")
            ruler: Any = nlp.add_pipe("entity_ruler", config={"validate": True})
            ruler.from_disk(model)
            return nlp
        if Path(model).suffix != _WHEEL:
            return spacy.load(model)
        with TemporaryDirectory() as folder:
            unpack(Path(model), Path(folder))
            # The pipeline of a model's package is in package/package-version/.
            (config,) = Path(folder).glob("*/*/config.cfg")
            return spacy.load(config.parent)
    except Exception as error:  # spaCy raises many types
        raise _load_error(model, error, remedy) from error


def check_model(nlp: "Language", model: str, remedy: str) -> None:
    """Run a loaded model once, because some missing files show only then.

    Raises:
        AnalogyQAError: with a message that ends in `remedy`.
    """
    try:
        nlp("Ada Lovelace was born in London in 1815.").to_json()
    except Exception as error:
        raise _load_error(model, error, remedy) from error


def _load_error(model: str, error: Exception, remedy: str) -> AnalogyQAError:
    return AnalogyQAError(
        f"{model}: spaCy cannot load this model ({one_line(error)}). Install the package (python "
        f"-m spacy download NAME), or {remedy}"
    )
