"""The claims of a paper: what its text says about its numbers."""

from pydantic import Field, model_validator

from analogyqa.settings.base import Count, Section
from analogyqa.settings.coordinates import COST, KINDS, SCORE, Coordinates, require_given

OURS = "ours"


class Comparison(Section):
    """Two numbers, one of which a claim says is better.

    Higher scores and norms are better; lower costs are better. Numbers on the same subset are
    compared question by question; scores on two subsets are not, since the questions differ.
    """

    better: Coordinates
    """The coordinates of the better number."""
    worse: Coordinates
    """The coordinates of the worse number."""
    cells: Coordinates = Coordinates()
    """The coordinates that both share."""


class Claim(Section):
    """A statement of a paper about its numbers, made of comparisons."""

    claim: str
    """The statement in one sentence."""
    where: str
    """The section or page of the paper; `ours` if the paper does not say it, alone or with an
    explanation (`ours: a reading of section 3`). Our claims are listed and corrected apart from
    those of the paper."""
    primary: bool = False
    """Whether this is a primary claim: a single comparison of scores, tested at the full level,
    also in the cross-validation of its paper."""
    cells: Coordinates = Coordinates()
    """Coordinates that both sides of every comparison share."""
    needs: Count | None = None
    """How many comparisons must be true; null for all of them."""
    tolerance: float = Field(default=0, ge=0, lt=1)
    """How far the better side of a comparison of scores may lie below the other one."""
    times: float = Field(default=1, ge=1)
    """By which factor the worse side of a comparison of costs must exceed the better one."""
    margin: float | None = Field(default=None, gt=0, lt=1)
    """The equivalence margin, if the paper prints no difference; otherwise it is half of the
    printed one."""
    not_measured: str = ""
    """Why nothing here can measure the claim, instead of comparisons."""
    comparisons: list[Comparison] = []
    """The pairs of numbers."""

    @model_validator(mode="after")
    def _check_comparisons(self) -> "Claim":
        if bool(self.not_measured) == bool(self.comparisons):
            raise ValueError("give comparisons, or say in not_measured why there are none")
        if self.primary and (len(self.comparisons) != 1 or self.kind != SCORE):
            raise ValueError("primary: a primary claim is a single comparison of scores")
        if self.not_measured:
            return self
        for better, worse in self.sides():
            for side in (better, worse):
                require_given(side.system or "comparisons", side.given, KINDS[side.kind].keys)
            if better == worse:
                raise ValueError(f"{better.system} is compared with itself")
            if better.dataset != worse.dataset:
                raise ValueError(
                    f"{better.system}, {worse.system}: both sides need the same dataset"
                )
            if better.subset != worse.subset and (self.kind != SCORE or self.primary):
                raise ValueError(
                    f"{better.system}, {worse.system}: both sides need the same subset, because "
                    "they are compared question by question; only the scores of a secondary claim "
                    "may be on different subsets"
                )
        kinds = {side.kind for pair in self.sides() for side in pair}
        if len(kinds) > 1:
            raise ValueError(
                f"all numbers of a claim must be of one kind, and these are {sorted(kinds)}"
            )
        if self.needed > len(self.comparisons):
            most = len(self.comparisons)
            raise ValueError(f"needs: give at most {most}, the number of comparisons")
        if self.tolerance and self.kind != SCORE:
            raise ValueError("tolerance: this claim compares no scores")
        if self.times > 1 and self.kind != COST:
            raise ValueError("times: this claim compares no costs")
        if any(side.cost == "parameters" for pair in self.sides() for side in pair):
            raise ValueError("cost: parameters are counted, so there is nothing to test")
        return self

    @property
    def kind(self) -> str:
        return self.sides()[0][0].kind if self.comparisons else SCORE

    @property
    def ours(self) -> bool:
        return self.where.partition(":")[0] == OURS

    @property
    def needed(self) -> int:
        return self.needs or len(self.comparisons)

    def sides(self) -> list[tuple[Coordinates, Coordinates]]:
        """Return the full coordinates of the better and the worse side of each comparison.

        Raises ValueError when a key is given twice.
        """
        common = [self.cells | comparison.cells for comparison in self.comparisons]
        return [
            (cells | comparison.better, cells | comparison.worse)
            for cells, comparison in zip(common, self.comparisons, strict=True)
        ]
