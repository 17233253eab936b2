"""Dropout as the open choices of the papers read it: where it acts, and who shares a mask."""

from typing import TYPE_CHECKING, Literal

from torch import Tensor, nn

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training


class Dropout(nn.Module):
    """Sets coordinates of vectors [.., dim] to 0 while training, at one place of an encoder.

    `dropout_place` says whether it acts there. With `dropout_mask: own` each word, or sentence, of
    a batch has a mask of its own; with `shared` all of them have one, so that both sides of a pair
    lose the same coordinates.
    """

    def __init__(
        self, training: "Training", place: Literal["word_vectors", "sentence_vector"]
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
        # F.dropout draws its mask five times slower on the CPU.
        drawn = x.new_empty(x.shape[-1:] if self.shared else x.shape).uniform_()
        return x.mul(drawn.ge_(self.rate)).div_(1 - self.rate)
