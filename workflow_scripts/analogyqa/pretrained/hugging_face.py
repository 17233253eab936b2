"""A model of Hugging Face's transformers that is on this machine, pooled by CLS or AVG."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.analogies.pairs import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.loading import encode_whole, fit_tokenizer, loading_model
from analogyqa.pretrained.transformer import BATCH, find_model, offline

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from analogyqa.pretrained import Resources

CONFIG = "config.json"  # which every model has in its folder
ADAPTER = "adapter_config.json"


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences as in Zhu and de Melo 2020, section 4.2: float32 [n, d].

    `cls`: the vector of the first token, with the linear layer and tanh that the model has for it.
    `avg`: the sum of the vectors of all tokens of the last layer over the root of their number.
    An encoder-decoder is asked for the states of its encoder. On the CPU; nothing is downloaded, no
    code of the model's folder is run, and a sentence without tokens is the zero vector.

    Raises:
        AnalogyQAError: when the model is not on this machine, cannot be loaded, lacks the layer or
            another weight that is used, or when the tokenizer is not the model's.
    """
    folder = find_folder(resources.weights)
    if folder is None:
        raise AnalogyQAError(
            f"{resources.weights}: no transformer of this name or path is on this machine. Give "
            f"the folder that holds its {CONFIG} instead. Nothing is downloaded."
        )
    if (folder / ADAPTER).is_file():
        raise AnalogyQAError(
            f"{folder / ADAPTER}: the weights of an adapter would be ignored. Merge it into its "
            "model (merge_and_unload of the package peft), and name the folder of the result."
        )
    with offline():
        import torch
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        own = {"local_files_only": True, "trust_remote_code": False}
        with loading_model(folder) as missing:
            tokenizer = AutoTokenizer.from_pretrained(str(folder), **own)
            model = AutoModel.from_pretrained(str(folder), **own).eval()
            masked = [text.replace(MASK, tokenizer.mask_token or MASK) for text in texts]
            has_tokens = fit_tokenizer(folder, model, tokenizer, masked)
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
        batch = tokenizer(part, padding=True, truncation=True, return_tensors="pt")
        vectors = _pool(model(**batch), batch["attention_mask"], resources)
        parts.append(vectors.float().numpy())
    return np.concatenate(parts)[order.argsort()]


def _pool(output, attention_mask, resources: "Resources"):
    if resources.options["pooling"] == "cls":
        pooled = getattr(output, "pooler_output", None)
        if pooled is None:
            raise AnalogyQAError(
                f"{resources.weights}: this model has no layer for its first token; use pooling: "
                "avg"
            )
        return pooled
    inside = attention_mask[:, :, None].to(output.last_hidden_state.dtype)
    return (output.last_hidden_state * inside).sum(dim=1) / inside.sum(dim=1).sqrt()


def installed(weights: str) -> bool:
    """Return whether the model is on this machine, without importing PyTorch."""
    return find_folder(weights) is not None


def find_folder(weights: str) -> Path | None:
    """Return the folder of a model: the path itself, of a package, or of the Hugging Face cache."""
    return next((path for path in _places(weights) if (path / CONFIG).is_file()), None)


def _places(weights: str) -> Iterator[Path]:
    yield Path(weights)
    if found := find_model(weights):
        yield found

    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    with suppress(HFValidationError):
        cached = try_to_load_from_cache(weights, CONFIG)
        if isinstance(cached, str):
            yield Path(cached).parent
