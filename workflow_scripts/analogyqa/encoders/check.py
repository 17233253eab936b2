"""Check before any job that an encoder implements the interface, on two sentences."""

import sys

import numpy as np

from analogyqa.encoders import build_encoder
from analogyqa.encoders.specs import ENCODERS
from analogyqa.errors import AnalogyQAError, one_line
from analogyqa.settings.systems import Training

WORDS, DIM = 7, 5
SENTENCES = np.array([[1, 2, 3], [4, 0, 0]])
OTHER_PADDING = np.array([[1, 2, 3], [4, 5, 6]])
LENGTHS = np.array([3, 1])


def check_encoder(name: str) -> None:
    """Raise AnalogyQAError when a registered encoder violates the interface.

    If PyTorch cannot be imported, the message says so and does not blame the encoder.
    """
    path = ENCODERS[name].path
    if ENCODERS[name].trained or ENCODERS[name].gives_words:
        _require_pytorch()
    try:
        problem = _find_problem(name)
    except AnalogyQAError:
        raise
    except Exception as error:  # user code raises anything
        problem = f"it raises {one_line(error)}"
    if problem:
        raise AnalogyQAError(
            f"the encoder {name} ({path}): {problem}. docs/plug-ins.md says what an encoder must "
            "do."
        )


def _require_pytorch() -> None:
    try:
        import torch  # noqa: F401
    except Exception as error:  # for example, OSError for a missing system library
        raise AnalogyQAError(
            f"PyTorch cannot be imported ({one_line(error)}). Reinstall it in {sys.prefix}, or "
            "delete this environment and create it again."
        ) from error


def _find_problem(name: str) -> str | None:
    entry = ENCODERS[name]
    word_vectors = np.random.default_rng(0).normal(size=(WORDS, DIM)).astype(np.float32)
    vectors = word_vectors if entry.needs_vectors else None
    arguments = name, vectors, Training(sentence_dim=6), 0
    encoder = build_encoder(*arguments)
    if entry.trained or entry.gives_words:
        import torch

        if entry.trained and not isinstance(encoder, torch.nn.Module):
            return "a trained encoder must be a torch.nn.Module"
        if entry.trained and not any(weight.requires_grad for weight in encoder.parameters()):
            return "it is trained, but none of its parameters requires a gradient"
        encoded, with_other_padding = (
            encoder.eval()(torch.from_numpy(words), torch.from_numpy(LENGTHS)).detach().numpy()
            for words in (SENTENCES, OTHER_PADDING)
        )
    else:
        encoded = encoder(SENTENCES, LENGTHS)
        # Built again, because an encoder may draw random numbers.
        with_other_padding = build_encoder(*arguments)(OTHER_PADDING, LENGTHS)
    shape = SENTENCES.shape[: 1 + entry.gives_words]
    if encoded.dtype != np.float32 or encoded.shape[:-1] != shape:
        actual, sizes = f"{encoded.dtype} {list(encoded.shape)}", ", ".join(map(str, shape))
        return f"for {len(LENGTHS)} sentences it gives {actual}, not float32 [{sizes}, dim]"
    if not np.isfinite(encoded).all():
        return "a vector has a value that is not finite"
    is_padding = np.arange(SENTENCES.shape[1]) >= LENGTHS[:, None]
    if entry.gives_words and encoded[is_padding].any():
        return "a row of padding is not zero"
    if not np.allclose(encoded, with_other_padding, atol=1e-6):
        return "padding changes a vector"
    return None
