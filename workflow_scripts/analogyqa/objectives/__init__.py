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
    import torch

    def on_device(column: "np.ndarray") -> "Tensor":
        return torch.from_numpy(column).to(vectors.device)

    rows = map(on_device, (batch.a, batch.b, batch.c, batch.d))
    energies = ranker.energies(Quadruples(vectors, *rows), both_sides)
    return energies, on_device(batch.labels).to(vectors.dtype)
