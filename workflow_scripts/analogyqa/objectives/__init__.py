"""The objectives: a function each, a file for each kind of loss."""

from typing import TYPE_CHECKING

from analogyqa.rankers import Quadruples

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from analogyqa.examples.batches import Batch


def quadruples_of(vectors: "Tensor", batch: "Batch") -> tuple[Quadruples, "Tensor"]:
    """Return a batch's quadruples, and their labels [n] of the type of `vectors`."""
    import torch

    def on_device(column: "np.ndarray") -> "Tensor":
        return torch.from_numpy(column).to(vectors.device)

    rows = map(on_device, (batch.a, batch.b, batch.c, batch.d))
    return Quadruples(vectors, *rows), on_device(batch.labels).to(vectors.dtype)
