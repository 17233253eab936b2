"""The objectives: functions that return the loss of a batch."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analogyqa.rankers import Quadruples, Ranker

if TYPE_CHECKING:
    from torch import Tensor


class Batch(NamedTuple):
    """Quadruples of some questions, as indices of their unique sentences.

    Attributes:
        sentences: The unique sentence numbers, [u].
        a, b, c, d: The positions in `sentences`, [n]; a and b are empty without prototypes.
        labels: The label of each quadruple, [n].
    """

    sentences: np.ndarray
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    labels: np.ndarray


def batch_energies(
    ranker: Ranker, vectors: "Tensor", batch: Batch, both_sides: bool = False
) -> tuple[list["Tensor"], "Tensor"]:
    """Return the energies [n] of a batch, one tensor for each side, and its labels [n]."""
    quadruples, labels = batch_quadruples(vectors, batch)
    return ranker.energies(quadruples, both_sides), labels


def batch_quadruples(vectors: "Tensor", batch: Batch) -> tuple[Quadruples, "Tensor"]:
    """Return the quadruples of a batch, and their labels [n], on the device of their vectors."""
    import torch

    columns = (batch.a, batch.b, batch.c, batch.d, batch.labels)
    *rows, labels = (torch.from_numpy(column).to(vectors.device) for column in columns)
    return Quadruples(vectors, *rows), labels.to(vectors.dtype)
