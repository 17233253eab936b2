"""AdaGrad, with the same steps as PyTorch's class, and with the gradients of HyperQA's code."""

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
# The first value of the sums of squares in TensorFlow, which HyperQA uses. Starting at 0 would make
# the first step as long as the learning rate however small its gradient is.
START = 0.1


def adagrad_of(parameters: Iterable[Parameter], training: "Training") -> "AdaGrad":
    return AdaGrad(parameters, training.learning_rate, training.weight_decay)


def adagrad_riemannian_of(parameters: Iterable[Parameter], training: "Training") -> "AdaGrad":
    return AdaGrad(parameters, training.learning_rate, training.weight_decay, riemannian=True)


class AdaGrad(Optimiser):
    """AdaGrad (Duchi et al. 2011), bit for bit the steps of `torch.optim.Adagrad`.

    Args:
        parameters: The parameters to train.
        learning_rate: The learning rate of all parameters.
        weight_decay: The factor of an L2 penalty that is added to all gradients.
        riemannian: Whether to multiply each gradient g by ((1 - |g|^2)^2 + 1e-5) / 4 first. The
            code of Tay et al. (2018) does this for every weight, although their eq. 9 has the point
            in the ball instead of g.
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
        """Take one step. Every parameter must have a gradient."""
        gradients = self.gradients
        if self.riemannian:
            gradients = [g * ((1 - g.norm() ** 2) ** 2 + 1e-5) / 4 for g in gradients]
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
        """Restore a state that `state_dict` returned."""
        self.sums = state["sums"]
        self.steps = [step.cpu() for step in state["steps"]]
