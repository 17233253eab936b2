"""Dropout, with the choices that papers leave open: where it acts, and who shares a mask."""

from typing import Literal

from torch import Tensor, nn

from analogyqa.settings.systems import Training


class Dropout(nn.Module):
    """Dropout of vectors [..., dim] at one place in an encoder, if `dropout_place` includes it.

    With `dropout_mask: own`, each word or sentence of a batch has its own mask. With `shared`, all
    share one mask, so that both sides of a pair lose the same coordinates.
    """

    def __init__(
        self, training: Training, place: Literal["word_vectors", "sentence_vector"]
    ) -> None:
        super().__init__()
        self.rate = training.dropout if training.dropout_place in (place, "both") else 0.0
        self.shared = training.dropout_mask == "shared"

    @property
    def acts(self) -> bool:
        return self.training and self.rate > 0

    def forward(self, x: Tensor) -> Tensor:
        if not self.acts:
            return x
        # F.dropout is five times slower on the CPU.
        mask = x.new_empty(x.shape[-1:] if self.shared else x.shape).uniform_()
        return x.mul(mask.ge_(self.rate)).div_(1 - self.rate)
