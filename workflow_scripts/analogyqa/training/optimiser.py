"""What the optimisers share.

They call the functions behind PyTorch's optimisers, whose own classes import PyTorch's compiler.
That takes 2.7 s of CPU time in every job (measured with PyTorch 2.13).
"""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter


class Optimiser:
    """Parameters to train, with one learning rate and one weight decay."""

    def __init__(
        self, parameters: Iterable[Parameter], learning_rate: float, weight_decay: float
    ) -> None:
        self.parameters: list[Tensor] = list(parameters)
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.steps = [torch.tensor(0.0) for _ in self.parameters]

    @property
    def gradients(self) -> list[Tensor]:
        """The gradients of all parameters, each of which must have one."""
        return [parameter.grad for parameter in self.parameters if parameter.grad is not None]

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None
