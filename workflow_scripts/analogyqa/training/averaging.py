"""Weight averaging: the exponential moving average of the weights after each step."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn import Parameter


class WeightAverages:
    """Averages of weights, started at zero and corrected for it (Kingma and Ba 2015, section 7.2).

    Args:
        parameters: that are averaged.
        decay: what is left of an average after a step, from 0, the weights themselves, to under 1.
    """

    def __init__(self, parameters: Sequence[Parameter], decay: float) -> None:
        self.parameters, self.decay, self.steps = parameters, decay, 0
        self.sums = [torch.zeros_like(parameter) for parameter in parameters]

    @torch.no_grad()
    def update(self) -> None:
        """Take in the weights as they are after a step."""
        self.steps += 1
        for own, parameter in zip(self.sums, self.parameters, strict=True):
            own.lerp_(parameter, 1 - self.decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the averages in the place of the weights for as long as it is open."""
        weights = [parameter.detach().clone() for parameter in self.parameters]
        if self.steps:
            self._set([own / (1 - self.decay**self.steps) for own in self.sums])
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
        """Go on from what `state_dict` returned."""
        self.sums, self.steps = state["sums"], state["steps"]
