"""The objectives: a function each, a file for each kind of loss."""

from typing import TYPE_CHECKING

from analogyqa.rankers import Quadruples

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from analogyqa.examples.batches import Batch
    from analogyqa.rankers import Ranker


def batch_energies(
    ranker: "Ranker", vectors: "Tensor", batch: "Batch", both_sides: bool = False
) -> tuple[list["Tensor"], "Tensor"]:
    """Return the energies [n] of a batch, one tensor for each side, and its labels [n]."""
    quadruples, labels = batch_quadruples(vectors, batch)
    return ranker.energies(quadruples, both_sides), labels


def batch_quadruples(vectors: "Tensor", batch: "Batch") -> tuple[Quadruples, "Tensor"]:
    """Return the quadruples of a batch, and their labels [n], on the device of their vectors."""
    import torch

    def on_device(column: "np.ndarray") -> "Tensor":
        return torch.from_numpy(column).to(vectors.device)

    rows = map(on_device, (batch.a, batch.b, batch.c, batch.d))
    return Quadruples(vectors, *rows), on_device(batch.labels).to(vectors.dtype)
