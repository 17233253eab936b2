"""Weight averaging: an exponential moving average of the weights over the steps."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn import Parameter


class WeightAverages:
    """Averages of weights that start at zero and are corrected for it (Kingma and Ba 2015, 7.2).

    `decay` in [0, 1) is the factor of the old average in each step; 0 gives the last weights.
    """

    def __init__(self, parameters: Sequence[Parameter], decay: float) -> None:
        self.parameters, self.decay, self.steps = parameters, decay, 0
        self.sums = [torch.zeros_like(parameter) for parameter in parameters]

    @torch.no_grad()
    def update(self) -> None:
        """Update the averages after a step."""
        self.steps += 1
        for total, parameter in zip(self.sums, self.parameters, strict=True):
            total.lerp_(parameter, 1 - self.decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Replace the weights by their averages within a `with` block."""
        weights = [parameter.detach().clone() for parameter in self.parameters]
        if self.steps:
            self._set([total / (1 - self.decay**self.steps) for total in self.sums])
        try:
            yield
        finally:
            self._set(weights)

    @torch.no_grad()
    def _set(self, values: Sequence[Tensor]) -> None:
        for parameter, value in zip(self.parameters, values, strict=True):
            parameter.copy_(value)

    def state_dict(self) -> dict:
        return {"sums": self.sums, "steps": self.steps}

    def load_state_dict(self, state: dict) -> None:
        """Restore a state that `state_dict` returned."""
        self.sums, self.steps = state["sums"], state["steps"]
