"""Adam, without the imports of its class in PyTorch."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.optim.adam import adam

from analogyqa.training.optimiser import Optimiser

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training

BETAS, EPSILON = (0.9, 0.999), 1e-8


def adam_of(parameters: Iterable[Parameter], training: "Training") -> "Adam":
    decoupled = training.weight_decay_coupling == "decoupled"
    return Adam(parameters, training.learning_rate, training.weight_decay, decoupled)


class Adam(Optimiser):
    """Adam (Kingma and Ba 2015), to the bit the steps of `torch.optim.Adam` and `AdamW`.

    It calls the function under both.

    Args:
        parameters: to be trained.
        learning_rate: of all of them.
        weight_decay: of all of them.
        decoupled: whether the decay is taken from the weights (Loshchilov and Hutter 2019) instead
            of being added to the gradient.
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        learning_rate: float,
        weight_decay: float = 0.0,
        decoupled: bool = False,
    ) -> None:
        super().__init__(parameters, learning_rate, weight_decay)
        self.decoupled = decoupled
        self.means = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in self.parameters]

    @torch.no_grad()
    def step(self) -> None:
        """Take a step along the gradients, which every parameter must have."""
        adam(
            self.parameters,
            [parameter.grad for parameter in self.parameters],
            self.means,
            self.squares,
            [],
            self.steps,
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=self.learning_rate,
            weight_decay=self.weight_decay,
            eps=EPSILON,
            maximize=False,
            decoupled_weight_decay=self.decoupled,
        )

    def state_dict(self) -> dict[str, list[Tensor]]:
        return {"means": self.means, "squares": self.squares, "steps": self.steps}

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        """Go on from what `state_dict` returned."""
        self.means, self.squares = state["means"], state["squares"]
        self.steps = [step.cpu() for step in state["steps"]]
