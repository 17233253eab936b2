"""What a paper says about its numbers."""

from pydantic import Field, model_validator

from analogyqa.settings.base import Count, Section
from analogyqa.settings.coordinates import COST, SCORE, Coordinates, require_given


class Comparison(Section):
    """Two numbers of which a claim says that one is better, on the same questions.

    Scores of two subsets are of other questions, and are not compared in pairs.
    A score is better where it is larger, and a norm, too; a cost where it is smaller.
    """

    better: Coordinates
    worse: Coordinates
    cells: Coordinates = Coordinates()


class Claim(Section):
    """What a paper says about its numbers: at least `needs` of the comparisons are true.

    `cells` is said of both sides of every comparison. Without `needs` all must be true. A `primary`
    claim is one comparison of scores, tested at the full level and, where its paper cross-fits,
    there, too. With a `tolerance` a comparison of scores is true as well where the better side is
    no more than it below; with `times` one of costs is true only where the worse side costs more
    than that many times as much.
    """

    claim: str
    where: str
    primary: bool = False
    cells: Coordinates = Coordinates()
    needs: Count | None = None
    tolerance: float = Field(default=0, ge=0, lt=1)
    times: float = Field(default=1, ge=1)
    comparisons: list[Comparison] = Field(min_length=1)

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        for better, worse in self.sides():
            for side in (better, worse):
                require_given(str(side.system), side.given, side.kind)
            if better == worse:
                raise ValueError(f"{better.system} is compared with itself")
            if better.dataset != worse.dataset:
                raise ValueError(f"{better.system}, {worse.system}: both sides need one dataset")
            if better.subset != worse.subset and (self.kind != SCORE or self.primary):
                raise ValueError(
                    f"{better.system}, {worse.system}: both sides need the same subset, because "
                    "their questions are compared in pairs; only scores of a secondary claim may "
                    "be of other questions"
                )
        kinds = {side.kind for pair in self.sides() for side in pair}
        if len(kinds) > 1:
            raise ValueError(f"a claim is about numbers of one kind, this about {sorted(kinds)}")
        if self.needed > len(self.comparisons):
            raise ValueError(f"needs: {self.needs} of {len(self.comparisons)} comparisons")
        if self.primary and (len(self.comparisons) > 1 or self.kind != SCORE):
            raise ValueError("primary: such a claim is one comparison of scores")
        if self.tolerance and self.kind != SCORE:
            raise ValueError("tolerance: this claim compares no scores")
        if self.times > 1 and self.kind != COST:
            raise ValueError("times: this claim compares no costs")
        if any(side.cost == "parameters" for pair in self.sides() for side in pair):
            raise ValueError("cost: parameters are counted, so there is nothing to test")
        return self

    @property
    def kind(self) -> str:
        """Of all its numbers."""
        return self.sides()[0][0].kind

    @property
    def needed(self) -> int:
        return self.needs or len(self.comparisons)

    def sides(self) -> list[tuple[Coordinates, Coordinates]]:
        """Return the better and the worse side of each comparison, with all that is said of them.

        Raises ValueError when a key is given twice.
        """
        common = [self.cells | comparison.cells for comparison in self.comparisons]
        return [
            (cells | comparison.better, cells | comparison.worse)
            for cells, comparison in zip(common, self.comparisons, strict=True)
        ]
