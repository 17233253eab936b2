"""AdaGrad, with the steps of PyTorch's class, and with the gradients of HyperQA's code."""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim.adagrad import adagrad

from analogyqa.settings.systems import Training
from analogyqa.training.optimiser import Optimiser

EPSILON = 1e-10
# The first value of the sums of squares in TensorFlow, which HyperQA uses. Starting at 0 would make
# the first step as long as the learning rate however small its gradient is.
START = 0.1


class AdaGrad(Optimiser):
    """AdaGrad (Duchi et al. 2011), bit for bit the steps of `torch.optim.Adagrad`."""

    def __init__(self, parameters: Iterable[Parameter], training: Training) -> None:
        super().__init__(parameters, training, sums=START)

    def step(self) -> None:
        """Take one step."""
        self._step(self.gradients, self.training.weight_decay)

    @torch.no_grad()
    def _step(self, gradients: list[Tensor], weight_decay: float) -> None:
        adagrad(
            self.parameters,
            gradients,
            self.state["sums"],
            self.state["steps"],
            lr=self.training.learning_rate,
            weight_decay=weight_decay,
            lr_decay=0.0,
            eps=EPSILON,
            maximize=False,
        )


class CodedAdaGrad(AdaGrad):
    """AdaGrad with gradients that are converted as in HyperQA's code."""

    scaled = True

    @torch.no_grad()
    def step(self) -> None:
        """Take one step."""
        decay, clip_norm = self.training.weight_decay, self.training.clip_norm
        gradients = [
            converted(gradient, parameter, decay, clip_norm, self.scaled)
            for gradient, parameter in zip(self.gradients, self.parameters, strict=True)
        ]
        self._step(gradients, weight_decay=0.0)


class ClippedAdaGrad(CodedAdaGrad):
    """CodedAdaGrad without the scaling of gradients, to measure the effect of the scaling alone."""

    scaled = False


def converted(
    gradient: Tensor,
    parameter: Tensor,
    weight_decay: float,
    clip_norm: float,
    scaled: bool = True,
) -> Tensor:
    """Return a gradient as the code of Tay et al. (2018) converts it before a step of AdaGrad.

    The gradient g of a matrix includes that of its L2 penalty and is multiplied by
    ((1 - |g|^2)^2 + 1e-5) / 4; their eq. 9, as we read it, has the point in the ball instead of g.
    Gradients of biases have neither. All are then clipped, each value to +-10 and each gradient to
    the norm `clip_norm`. Without `scaled`, no gradient is multiplied; the rest is the same.
    """
    if gradient.ndim > 1:
        gradient = gradient + weight_decay * parameter
        if scaled:
            gradient = gradient * ((1 - gradient.norm() ** 2) ** 2 + 1e-5) / 4
    gradient = gradient.clamp(-10, 10)
    return gradient * (clip_norm / gradient.norm().clamp(min=clip_norm))
