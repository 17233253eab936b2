"""Adam, with the same steps as PyTorch's class."""

from collections.abc import Iterable

import torch
from torch.nn import Parameter
from torch.optim.adam import adam

from analogyqa.settings.systems import Training
from analogyqa.training.optimiser import Optimiser

BETAS, EPSILON = (0.9, 0.999), 1e-8


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
            eps=EPSILON,
            maximize=False,
            decoupled_weight_decay=self.training.weight_decay_coupling == "decoupled",
        )
