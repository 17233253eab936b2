"""AdaGrad, with the steps of PyTorch's class, and with the gradients of HyperQA's code."""

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


def adagrad_coded_of(parameters: Iterable[Parameter], training: "Training") -> "AdaGrad":
    return AdaGrad(
        parameters, training.learning_rate, training.weight_decay, clip_norm=training.clip_norm
    )


class AdaGrad(Optimiser):
    """AdaGrad (Duchi et al. 2011), bit for bit the steps of `torch.optim.Adagrad`.

    Args:
        parameters: The parameters to train.
        learning_rate: The learning rate of all parameters.
        weight_decay: The factor of an L2 penalty.
        clip_norm: The largest norm of a gradient if gradients are converted as in HyperQA's code;
            None for AdaGrad alone.
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        learning_rate: float,
        weight_decay: float = 0.0,
        clip_norm: float | None = None,
    ) -> None:
        super().__init__(parameters, learning_rate, weight_decay)
        self.clip_norm = clip_norm
        self.sums = [torch.full_like(parameter, START) for parameter in self.parameters]

    @torch.no_grad()
    def step(self) -> None:
        """Take one step. Every parameter must have a gradient."""
        gradients, weight_decay = self.gradients, self.weight_decay
        if self.clip_norm is not None:
            gradients = [
                converted(gradient, parameter, weight_decay, self.clip_norm)
                for gradient, parameter in zip(gradients, self.parameters, strict=True)
            ]
            weight_decay = 0.0
        adagrad(
            self.parameters,
            gradients,
            self.sums,
            self.steps,
            lr=self.learning_rate,
            weight_decay=weight_decay,
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


def converted(gradient: Tensor, parameter: Tensor, weight_decay: float, clip_norm: float) -> Tensor:
    """Return a gradient as the code of Tay et al. (2018) converts it before a step of AdaGrad.

    The gradient g of a matrix includes that of its L2 penalty and is multiplied by
    ((1 - |g|^2)^2 + 1e-5) / 4, although their eq. 9 has the point in the ball instead of g.
    Gradients of biases have neither. All are then clipped, each value to +-10 and each gradient to
    the norm `clip_norm`.
    """
    if gradient.ndim > 1:
        gradient = gradient + weight_decay * parameter
        gradient = gradient * ((1 - gradient.norm() ** 2) ** 2 + 1e-5) / 4
    gradient = gradient.clamp(-10, 10)
    return gradient * (clip_norm / gradient.norm().clamp(min=clip_norm))
