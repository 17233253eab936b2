"""Check before any job that an encoder implements the interface, on two sentences."""

import sys
from typing import Any

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
    generator = np.random.default_rng(0)
    word_vectors = generator.normal(size=(WORDS, DIM)).astype(np.float32)
    vectors = word_vectors if entry.needs_vectors else None

    def build() -> Any:
        return build_encoder(name, vectors, Training(sentence_dim=6), seed=0)

    encoder = build()
    if not (entry.trained or entry.gives_words):
        # Built twice, because an encoder may draw random numbers.
        return _find_vector_problem(encoder(SENTENCES, LENGTHS), build()(OTHER_PADDING, LENGTHS))
    import torch

    if entry.gives_words:
        words = encoder(torch.from_numpy(SENTENCES), torch.from_numpy(LENGTHS)).detach().numpy()
        is_padding = np.arange(SENTENCES.shape[1]) >= LENGTHS[:, None]
        if problem := _find_shape_problem(words, 3):
            return problem
        return "a row of padding is not zero" if words[is_padding].any() else None
    if not isinstance(encoder, torch.nn.Module):
        return "a trained encoder must be a torch.nn.Module"
    if not any(parameter.requires_grad for parameter in encoder.parameters()):
        return "it is trained, but none of its parameters requires a gradient"
    encoder.eval()
    with torch.no_grad():
        encoded, with_other_padding = (
            encoder(torch.from_numpy(words), torch.from_numpy(LENGTHS)).numpy()
            for words in (SENTENCES, OTHER_PADDING)
        )
    return _find_vector_problem(encoded, with_other_padding)


def _find_vector_problem(vectors: np.ndarray, with_other_padding: np.ndarray) -> str | None:
    """Return what is wrong with sentence vectors; the second ones are those with other padding."""
    if problem := _find_shape_problem(vectors):
        return problem
    return (
        None if np.allclose(vectors, with_other_padding, atol=1e-6) else "padding changes a vector"
    )


def _find_shape_problem(vectors: np.ndarray, dimensions: int = 2) -> str | None:
    shape = SENTENCES.shape[: dimensions - 1]
    if vectors.dtype != np.float32 or vectors.ndim != dimensions or vectors.shape[:-1] != shape:
        actual, sizes = f"{vectors.dtype} {list(vectors.shape)}", ", ".join(map(str, shape))
        return f"for {len(LENGTHS)} sentences it gives {actual}, not float32 [{sizes}, dim]"
    return None if np.isfinite(vectors).all() else "a vector has a value that is not finite"
