"""AdaGrad, without the imports of its class in PyTorch, and by the gradients of HyperQA's code."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim.adagrad import adagrad

from analogyqa.training.optimiser import Optimiser

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training

EPSILON = 1e-10
# Of the sums of squares, as TensorFlow starts them, which HyperQA is written in: a first step is
# then not of the length of the learning rate however small its gradient is.
START = 0.1


def adagrad_of(parameters: Iterable[Parameter], training: "Training") -> "AdaGrad":
    return AdaGrad(parameters, training.learning_rate, training.weight_decay)


def adagrad_riemannian_of(parameters: Iterable[Parameter], training: "Training") -> "AdaGrad":
    return AdaGrad(parameters, training.learning_rate, training.weight_decay, riemannian=True)


class AdaGrad(Optimiser):
    """AdaGrad (Duchi et al. 2011), to the bit the steps of `torch.optim.Adagrad`.

    Args:
        parameters: to be trained.
        learning_rate: of all of them.
        weight_decay: of all of them, added to the gradient: an L2 penalty.
        riemannian: whether each gradient g is first multiplied by ((1 - |g|^2)^2 + 1e-5) / 4. So
            does the code of Tay et al. (2018) with every weight, where their eq. 9 has the point of
            the ball in the place of g.
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        learning_rate: float,
        weight_decay: float = 0.0,
        riemannian: bool = False,
    ) -> None:
        super().__init__(parameters, learning_rate, weight_decay)
        self.riemannian = riemannian
        self.sums = [torch.full_like(parameter, START) for parameter in self.parameters]

    @torch.no_grad()
    def step(self) -> None:
        """Take a step along the gradients, which every parameter must have."""
        gradients = [parameter.grad for parameter in self.parameters]
        if self.riemannian:
            gradients = [each * ((1 - each.norm() ** 2) ** 2 + 1e-5) / 4 for each in gradients]
        adagrad(
            self.parameters,
            gradients,
            self.sums,
            self.steps,
            lr=self.learning_rate,
            weight_decay=self.weight_decay,
            lr_decay=0.0,
            eps=EPSILON,
            maximize=False,
        )

    def state_dict(self) -> dict[str, list[Tensor]]:
        return {"sums": self.sums, "steps": self.steps}

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        """Go on from what `state_dict` returned."""
        self.sums = state["sums"]
        self.steps = [step.cpu() for step in state["steps"]]
