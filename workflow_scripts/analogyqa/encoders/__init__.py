"""The sentence encoders: classes with the methods of `Encoder`."""

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from analogyqa.encoders.specs import ENCODERS

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from analogyqa.settings.systems import Training

    Batch = TypeVar("Batch", np.ndarray, Tensor)


class Encoder(Protocol):
    """Turns sentences into vectors; one that is trained is a `torch.nn.Module`.

    Its constructor takes the word vectors (float32 [V, d], or None without `needs_vectors`), the
    training section of the configuration and the seed of its random numbers.

    One that takes the maximum over the words may have a method `winners`, called in the same way:
    the position of the word that each dimension comes from, int [n, dim]. Explanations show it.
    """

    def __call__(self, words: "Batch", lengths: "Batch") -> "Batch":
        """Encode n sentences of up to t words: ids [n, t] and lengths [n] to float32 [n, dim].

        Ids beyond a sentence's length are padding and must not change its vector. A trained encoder
        takes and returns tensors. Others take and return arrays, and do not import PyTorch.
        """
        ...


def build_encoder(
    name: str, word_vectors: "np.ndarray | None", training: "Training", seed: int
) -> Any:
    """Return a new `Encoder`; a trained one is also a `torch.nn.Module`."""
    return ENCODERS[name].load()(word_vectors, training, seed)
