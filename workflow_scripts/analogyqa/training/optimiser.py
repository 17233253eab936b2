"""What the optimisers share. PyTorch's own classes import its compiler, 1.5 s of CPU time a job."""

from collections.abc import Iterable

import torch
from torch.nn import Parameter


class Optimiser:
    """Parameters to be trained, with one learning rate and weight decay for all of them."""

    def __init__(
        self, parameters: Iterable[Parameter], learning_rate: float, weight_decay: float
    ) -> None:
        self.parameters = list(parameters)
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.steps = [torch.tensor(0.0) for _ in self.parameters]

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None
