"""Does an encoder keep the interface? Asked before any job, on two sentences."""

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
    """Raise AnalogyQAError when a registered encoder cannot be used, with what is wrong.

    That PyTorch cannot be imported is no fault of the encoder, and the message says so.
    """
    path = ENCODERS[name].path
    if ENCODERS[name].trained or ENCODERS[name].gives_words:
        _require_pytorch()
    try:
        problem = _problem_of(name)
    except AnalogyQAError:
        raise
    except Exception as error:  # of any kind: the code is somebody's own
        problem = f"it raises {one_line(error)}"
    if problem:
        raise AnalogyQAError(
            f"the encoder {name} ({path}): {problem}. docs/extending.md says what an encoder must "
            "do."
        )


def _require_pytorch() -> None:
    try:
        import torch  # noqa: F401
    except Exception as error:  # of any kind: a library of the system can be missing
        raise AnalogyQAError(
            f"PyTorch cannot be imported ({one_line(error)}). Install it again in {sys.prefix}, or "
            "delete this environment and set it up again."
        ) from error


def _problem_of(name: str) -> str | None:
    entry = ENCODERS[name]
    generator = np.random.default_rng(0)
    word_vectors = generator.normal(size=(WORDS, DIM)).astype(np.float32)
    vectors = word_vectors if entry.needs_vectors else None
    encoder = build_encoder(name, vectors, Training(sentence_dim=6), seed=0)
    if not (entry.trained or entry.gives_words):
        return _unfit(encoder(SENTENCES, LENGTHS))
    import torch

    if entry.gives_words:
        found = encoder(torch.from_numpy(SENTENCES), torch.from_numpy(LENGTHS)).detach().numpy()
        beyond = np.arange(SENTENCES.shape[1]) >= LENGTHS[:, None]
        return _unfit(found, 3) or ("a row of padding is not zero" if found[beyond].any() else None)
    if not isinstance(encoder, torch.nn.Module):
        return "it is trained, so it must be a torch.nn.Module"
    if not any(parameter.requires_grad for parameter in encoder.parameters()):
        return "it is trained, but none of its parameters requires a gradient"
    encoder.eval()
    with torch.no_grad():
        found, other = (
            encoder(torch.from_numpy(words), torch.from_numpy(LENGTHS)).numpy()
            for words in (SENTENCES, OTHER_PADDING)
        )
    if problem := _unfit(found):
        return problem
    return None if np.allclose(found, other, atol=1e-6) else "padding changes a vector"


def _unfit(vectors: np.ndarray, dimensions: int = 2) -> str | None:
    shape = SENTENCES.shape[: dimensions - 1]
    if vectors.dtype != np.float32 or vectors.ndim != dimensions or vectors.shape[:-1] != shape:
        found, sizes = f"{vectors.dtype} {list(vectors.shape)}", ", ".join(map(str, shape))
        return f"for {len(LENGTHS)} sentences it gives {found}, not float32 [{sizes}, dim]"
    return None if np.isfinite(vectors).all() else "a vector has a value that is not finite"
