"""The sentence encoders: one file each, and a line here.

To add one, write a file with a class that has the methods of `Encoder`, then register it. The
registry holds names instead of classes so that reading the configuration does not import PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from analogyqa.config import Training

    Batch = TypeVar("Batch", np.ndarray, Tensor)


class Entry(NamedTuple):
    """Where an encoder's class is, and what it needs."""

    path: str
    trained: bool
    needs_vectors: bool


ENCODERS = {
    "random": Entry("analogyqa.encoders.random:RandomEncoder", trained=False, needs_vectors=False),
    "mean": Entry("analogyqa.encoders.mean:MeanEncoder", trained=False, needs_vectors=True),
    "bigru": Entry("analogyqa.encoders.bigru:BiGRUEncoder", trained=True, needs_vectors=True),
    "cnn": Entry("analogyqa.encoders.cnn:CNNEncoder", trained=True, needs_vectors=True),
}


class Encoder(Protocol):
    """Turns sentences into vectors; one that is trained is a `torch.nn.Module`.

    Its constructor takes the word vectors (float32 [V, d], or None where the registry says that
    it needs none), the training section of the configuration and the seed of all that it draws.
    """

    def __call__(self, words: "Batch", lengths: "Batch") -> "Batch":
        """Encode n sentences of up to t words: ids [n, t] and lengths [n] to float32 [n, dim].

        Ids beyond a sentence's length are padding and must not change its vector. An encoder that
        is trained takes and returns tensors, another one arrays: it does not import PyTorch.
        """
        ...


def build_encoder(
    name: str, word_vectors: "np.ndarray | None", training: "Training", seed: int
) -> Encoder:
    """Return a new encoder of a registered name."""
    module, _, attribute = ENCODERS[name].path.partition(":")
    return getattr(import_module(module), attribute)(word_vectors, training, seed)
