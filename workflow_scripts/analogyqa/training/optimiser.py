"""What the optimisers share.

They call the functions behind PyTorch's optimisers, whose own classes import PyTorch's compiler.
That takes 2.7 s of CPU time in every job (measured with PyTorch 2.13).
"""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.systems import Training


class Optimiser:
    """Parameters to train, and the state of their training.

    Args:
        parameters: The parameters, each of which must have a gradient in each step.
        training: Learning rate and weight decay.
        moments: The tensors that a subclass keeps for each parameter, by name.
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
        """Restore a state that `state_dict` returned."""
        self.state = {**state, "steps": [step.cpu() for step in state["steps"]]}
