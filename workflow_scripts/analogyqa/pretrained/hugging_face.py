"""Encode sentences with a local model of Hugging Face's transformers and CLS or AVG pooling."""

from collections.abc import Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.analogies.pairs import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.loading import encode_whole, fit_tokenizer, loading_model
from analogyqa.pretrained.transformer import BATCH, cached_folder, find_model, offline

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from analogyqa.pretrained import Resources

CONFIG = "config.json"  # in the folder of every model
ADAPTER = "adapter_config.json"


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
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
