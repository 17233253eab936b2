"""Adam, with the same steps as PyTorch's class."""

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
    """Adam (Kingma and Ba 2015), bit for bit the steps of `torch.optim.Adam` and `AdamW`.

    Args:
        parameters: The parameters to train.
        learning_rate: The learning rate of all parameters.
        weight_decay: The weight decay of all parameters.
        decoupled: Whether to subtract the decay from the weights (Loshchilov and Hutter 2019)
            instead of adding it to the gradients.
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
        """Take one step. Every parameter must have a gradient."""
        adam(
            self.parameters,
            self.gradients,
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
        """Restore a state that `state_dict` returned."""
        self.means, self.squares = state["means"], state["squares"]
        self.steps = [step.cpu() for step in state["steps"]]
