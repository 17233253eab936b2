"""Optimisers with the steps of PyTorch's classes, or with the gradients of HyperQA's code.

They call the functions behind PyTorch's optimisers, whose own classes import PyTorch's compiler,
which takes 2.7 s of CPU time in every job (measured with PyTorch 2.13).
"""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim.adagrad import adagrad
from torch.optim.adam import adam

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.systems import Training


class Optimiser:
    """Parameters that all have a gradient in each step, and the state of their training.

    `moments` are the first values of the tensors that a subclass keeps for each parameter.
    """

    def __init__(
        self, parameters: Iterable[Parameter], training: Training, **moments: float
    ) -> None:
        self.parameters: list[Tensor] = list(parameters)
        self.training = training
        self.state = {
            name: [torch.full_like(parameter, start) for parameter in self.parameters]
            for name, start in moments.items()
        }
        self.state["steps"] = [torch.tensor(0.0) for _ in self.parameters]

    @property
    def gradients(self) -> list[Tensor]:
        """The gradients of the last step; raises AnalogyQAError when a parameter has none."""
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        if len(gradients) < len(self.parameters):
            raise AnalogyQAError(
                "A parameter that is trained has no effect on the loss. Set its `requires_grad` to "
                "False, or choose another loss."
            )
        return gradients

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    def state_dict(self) -> dict[str, list[Tensor]]:
        return self.state

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        self.state = {**state, "steps": [step.cpu() for step in state["steps"]]}


BETAS, ADAM_EPSILON = (0.9, 0.999), 1e-8


class Adam(Optimiser):
    """Adam (Kingma and Ba 2015), bit for bit the steps of `torch.optim.Adam` and `AdamW`.

    A decoupled weight decay is subtracted from the weights (Loshchilov and Hutter 2019) instead of
    being added to the gradients.
    """

    def __init__(self, parameters: Iterable[Parameter], training: Training) -> None:
        super().__init__(parameters, training, means=0, squares=0)

    @torch.no_grad()
    def step(self) -> None:
        """Take one step."""
        adam(
            self.parameters,
            self.gradients,
            self.state["means"],
            self.state["squares"],
            [],
            self.state["steps"],
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=self.training.learning_rate,
            weight_decay=self.training.weight_decay,
            eps=ADAM_EPSILON,
            maximize=False,
            decoupled_weight_decay=self.training.weight_decay_coupling == "decoupled",
        )


ADAGRAD_EPSILON = 1e-10
# The first value of the sums of squares in TensorFlow, which HyperQA uses. Starting at 0 would make
# the first step as long as the learning rate however small its gradient is.
START = 0.1


class AdaGrad(Optimiser):
    """AdaGrad (Duchi et al. 2011), bit for bit the steps of `torch.optim.Adagrad`."""

    def __init__(self, parameters: Iterable[Parameter], training: Training) -> None:
        super().__init__(parameters, training, sums=START)
        self.weight_decay = training.weight_decay

    @torch.no_grad()
    def step(self) -> None:
        """Take one step."""
        adagrad(
            self.parameters,
            self.gradients,
            self.state["sums"],
            self.state["steps"],
            lr=self.training.learning_rate,
            weight_decay=self.weight_decay,
            lr_decay=0.0,
            eps=ADAGRAD_EPSILON,
            maximize=False,
        )


class CodedAdaGrad(AdaGrad):
    """AdaGrad with gradients that are converted as in HyperQA's code."""

    is_scaled = True

    def __init__(self, parameters: Iterable[Parameter], training: Training) -> None:
        super().__init__(parameters, training)
        self.weight_decay = 0.0  # the converted gradients include it

    @property
    def gradients(self) -> list[Tensor]:
        decay, clip_norm = self.training.weight_decay, self.training.clip_norm
        return [
            converted(gradient, parameter, decay, clip_norm, self.is_scaled)
            for gradient, parameter in zip(super().gradients, self.parameters, strict=True)
        ]


class ClippedAdaGrad(CodedAdaGrad):
    """CodedAdaGrad without the scaling of gradients, to measure the effect of the scaling alone."""

    is_scaled = False


def converted(
    gradient: Tensor, parameter: Tensor, weight_decay: float, clip_norm: float, is_scaled: bool
) -> Tensor:
    """Return a gradient as the code of Tay et al. (2018) converts it before a step of AdaGrad.

    The gradient g of a matrix includes that of its L2 penalty and is multiplied by
    ((1 - |g|^2)^2 + 1e-5) / 4; their eq. 9, as we read it, has the point in the ball instead of g.
    Gradients of biases have neither. All are then clipped, each value to +-10 and each gradient to
    the norm `clip_norm`. Only with `is_scaled` are gradients multiplied.
    """
    if gradient.ndim > 1:
        gradient = gradient + weight_decay * parameter
        if is_scaled:
            gradient = gradient * ((1 - gradient.norm() ** 2) ** 2 + 1e-5) / 4
    gradient = gradient.clamp(-10, 10)
    return gradient * (clip_norm / gradient.norm().clamp(min=clip_norm))
