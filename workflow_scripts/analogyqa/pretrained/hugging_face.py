"""A model of Hugging Face's transformers that is on this machine, pooled by CLS or AVG."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.analogies.pairs import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.transformer import BATCH, find_model, offline

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources

CONFIG = "config.json"  # which every model has in its folder


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences as in Zhu and de Melo 2020, section 4.2: float32 [n, d].

    `cls`: the vector of the first token, with the linear layer and tanh that the model has for it.
    `avg`: the sum of the vectors of all tokens of the last layer over the root of their number.
    On the CPU; nothing is downloaded here.

    Raises AnalogyQAError when the model is not here, cannot be loaded, or lacks the layer.
    """
    folder = find_folder(resources.weights)
    if folder is None:
        raise AnalogyQAError(
            f"{resources.weights}: no transformer of this name or path is on this machine. Give "
            f"the folder that holds its {CONFIG} in its place. Nothing is downloaded."
        )
    with offline():
        import torch
        from transformers import AutoModel, AutoTokenizer

        try:
            tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            model = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        except Exception as error:  # of any kind: each file of the folder has a reader of its own
            raise AnalogyQAError(
                f"{folder}: the transformer cannot be loaded ({error}). Is the folder complete? "
                "Copy or install it again."
            ) from error
        masked = [text.replace(MASK, tokenizer.mask_token or MASK) for text in texts]
        order = np.argsort([len(text) for text in masked], kind="stable")
        vectors = None
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                part = order[start : start + BATCH]
                batch = tokenizer(
                    [masked[i] for i in part], padding=True, truncation=True, return_tensors="pt"
                )
                own = _pooled(model(**batch), batch["attention_mask"], resources)
                if vectors is None:
                    vectors = np.zeros((len(texts), own.shape[1]), dtype=np.float32)
                vectors[part] = own.float().numpy()
    return vectors


def _pooled(output, attention_mask, resources: "Resources"):
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
