"""A verdict on each claim of a paper, by tests between systems."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from analogyqa.plan import Cell, cells_by_hyperparameters, fold_cells, why_no_run
from analogyqa.report.comparing import compare_runs, level_of, rounded
from analogyqa.report.learning import NOT_LEARNT, rests_on_learnt
from analogyqa.report.significance import holm, partial_conjunction
from analogyqa.report.summary import DECIMALS, Values, joined, typed
from analogyqa.report.verdicts import NOT_RUN, no_run
from analogyqa.settings.claims import Claim
from analogyqa.settings.coordinates import COST, SCORE, Coordinates
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
SAME = "equivalent"
# Blue and orange are told apart with any colour vision; the word beside the sign says it too.
CLAIM_MARKS = {HOLDS: "🟦", FAILS: "🟧", SAME: "🟰", UNDECIDED: "⬜", NOT_RUN: "➖"}
# The protocols: the paper's split; all questions, each tested by what others trained; for costs the
# steps of training.
SPLIT, FOLDS, STEPS = "paper", "cross-validated", "steps"

_INTERVAL = {"low": "float64", "high": "float64"}
_CAN_DECIDE = {
    "detectable": "float64",
    "paper_effect": "float64",
    "power": "float64",
    "items_needed": "float64",
    "n_items": "Int64",
    "n_seeds": "Int64",
}
CLAIMS = {
    "paper": "str",
    "claim": "str",
    "text": "str",
    "primary": "bool",
    "kind": "str",
    "protocol": "str",
    "hyperparameters": "str",
    "effect": "float64",
    **_INTERVAL,
    **_CAN_DECIDE,
    "p_value": "float64",
    "equivalent": "str",
    "verdict": "str",
    "evidence": "str",
    "reason": "str",
}
COMPARISONS = {
    "paper": "str",
    "claim": "str",
    "protocol": "str",
    "hyperparameters": "str",
    "better": "str",
    "worse": "str",
    "mean_better": "float64",
    "mean_worse": "float64",
    "difference": "float64",
    **_INTERVAL,
    "p_greater": "float64",
    "p_less": "float64",
    "p_equivalent": "float64",
    **_CAN_DECIDE,
}


class _Side(NamedTuple):
    """A side of a comparison at one setting; `name` tells it from the claim's other sides.

    Its values are those of `cells`, a fold each, or of the one cell.
    """

    name: str
    coordinates: Coordinates
    cells: tuple[Cell, ...]

    @property
    def runs(self) -> str:
        """How the table of comparisons calls it."""
        paths = [cell.path for cell in self.cells]
        first = paths[0] if len(paths) == 1 else f"{paths[0]} .. {paths[-1]}"
        return f"{first} {self.coordinates.measured}"

    def values(self, values: Values) -> pd.DataFrame | None:
        """Return [seeds, items], None where a run is missing."""
        return joined(self.cells, self.coordinates.measured, values)


def judge_claims(
    papers: Iterable[Paper], config: Config, values: Values, learnt: Mapping[Cell, bool]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judge every claim with the paper's hyperparameters and with those that were tuned on dev.

    A claim without a trained system has one row, of hyperparameters "". One with overrides, and one
    about norms or costs, has the paper's row only. A primary claim has a further row, by
    cross-validation with the paper's hyperparameters, where its paper cross-validates both systems.

    Args:
        papers: their claims.
        config: says which systems there are, and the confidence below whose complement a p-value
            decides.
        values: see `claimed.with_norms_and_costs`.
        learnt: of each cell that was trained, see `learning.has_learnt`. A verdict that rests on
            one which did not learn says so in its `reason`.

    Returns:
        The verdicts, columns CLAIMS, and what they rest on, columns COMPARISONS. The p-value of a
        claim is two-sided. Those of the secondary claims are adjusted (Holm) over the secondary
        claims of their paper at their setting. Effect and interval are those of the comparison that
        decides: of as many as are needed the weakest. Of costs they say how many times less the
        better side takes. `equivalent` says whether a difference of scores is shown to be smaller
        than `EQUIVALENT`. The p-values of a comparison are one-sided and not adjusted.

    Raises:
        AnalogyQAError: when two runs of the same data have other questions.
    """
    judged, compared = [], []
    for paper in papers:
        rows = []
        for name, claim in paper.claims.items():
            for protocol, hyperparameters, reason in _settings(claim, config, paper.paper):
                row = {"paper": paper.paper, "claim": name, "text": claim.claim}
                row |= {"primary": claim.primary, "kind": claim.kind}
                row |= {"protocol": protocol, "hyperparameters": hyperparameters}
                sides = (
                    [] if reason else _sides(claim, protocol, hyperparameters, config, paper.paper)
                )
                reason = reason or _missing(sides, values)
                if reason:
                    rows.append(row | {"verdict": NOT_RUN, "reason": reason})
                    continue
                comparisons = [_compare(claim, *pair, values, paper, config) for pair in sides]
                compared += [row | comparison for comparison in comparisons]
                rows.append(row | _judge(claim, sides, comparisons, config))
                rows[-1]["reason"] = _not_learnt(sides, learnt, config)
        judged += _decide(rows, config)
    return typed(judged, CLAIMS), typed(compared, COMPARISONS)


def _settings(claim: Claim, config: Config, paper: str) -> list[tuple[str, str, str]]:
    """Return protocol and setting of each judgement, or why a claim cannot be judged at all."""
    sides = [side for pair in claim.sides() for side in pair]
    reasons = filter(None, (why_no_run(side, config) for side in sides))
    if reason := "; ".join(dict.fromkeys(reasons)):
        return [(SPLIT, "", reason)]
    if claim.kind == COST:
        return [(STEPS, PAPER, "")]
    if not any(config.uses_training(side.system) for side in sides):
        return [(SPLIT, "", "")]
    settings = [PAPER]
    selected = [side for side in sides if config.find_selection(side.system)]
    if (
        claim.kind == SCORE
        and selected
        and all(TUNED in cells_by_hyperparameters(side, config) for side in selected)
    ):
        settings.append(TUNED)
    judged = [(SPLIT, hyperparameters, "") for hyperparameters in settings]
    if claim.primary and all(fold_cells(side, config, paper) for side in sides):
        judged.append((FOLDS, PAPER, ""))
    return judged


def _sides(
    claim: Claim, protocol: str, hyperparameters: str, config: Config, paper: str
) -> list[tuple[_Side, _Side]]:
    """Return both sides of each comparison at one setting."""
    pairs = claim.sides()
    said = [
        side.model_dump(exclude={"system"}, exclude_none=True) for pair in pairs for side in pair
    ]
    keys = dict.fromkeys(key for each in said for key in each)
    differing = [key for key in keys if len({str(each.get(key)) for each in said}) > 1]

    def side_of(coordinates: Coordinates) -> _Side:
        if protocol == FOLDS:
            own_cells = tuple(fold_cells(coordinates, config, paper))
        else:
            cells = cells_by_hyperparameters(coordinates, config)
            # A system that chooses no setting stays as it is.
            own_cells = (
                next(cells[name] for name in (hyperparameters, PAPER, "") if name in cells),
            )
        own, overrides = coordinates.model_dump(), dict(coordinates.overrides)
        details = ", ".join(
            f"{key} = {own[key]}" if key in overrides else str(own[key])
            for key in differing
            if own.get(key) is not None
        )
        return _Side(
            f"{coordinates.system} ({details})" if details else coordinates.system,
            coordinates,
            own_cells,
        )

    return [(side_of(better), side_of(worse)) for better, worse in pairs]


def _missing(sides: list[tuple[_Side, _Side]], values: Values) -> str:
    measured = [
        (cell, side.coordinates.measured) for pair in sides for side in pair for cell in side.cells
    ]
    missing = [cell for cell, measure in measured if values(cell, measure) is None]
    return no_run(*missing) if missing else ""


def _not_learnt(
    sides: list[tuple[_Side, _Side]], learnt: Mapping[Cell, bool], config: Config
) -> str:
    """Say which sides rest on trainings that did not learn."""
    said = {}
    for side in chain.from_iterable(sides):
        failed = sum(not rests_on_learnt(cell, learnt, config) for cell in side.cells)
        folds = f" ({failed} of {len(side.cells)} folds)" if len(side.cells) > 1 else ""
        said |= {f"{side.name} {NOT_LEARNT}{folds}": None} if failed else {}
    return "; ".join(said)


def _compare(
    claim: Claim, better: _Side, worse: _Side, values: Values, paper: Paper, config: Config
) -> dict:
    first, second = (side.values(values) for side in (better, worse))
    same_runs = better.cells == worse.cells
    apart = better.coordinates.subset != worse.coordinates.subset
    names = better.cells[0].path, worse.cells[0].path
    means = [round(float(values.to_numpy().mean()), DECIMALS) for values in (first, second)]
    shift = claim.tolerance
    if claim.kind == COST:
        # The less is the better, and how many times so counts.
        first, second, shift = -np.log(first), -np.log(second), -np.log(claim.times)
    compared = compare_runs(names, first, second, config, same_runs, apart)
    row = {
        "better": better.runs,
        "worse": worse.runs,
        "mean_better": means[0],
        "mean_worse": means[1],
        **rounded(compared),
        "n_items": min(first.shape[1], second.shape[1]),
        "n_seeds": min(len(first), len(second)),
    }
    if shift:
        moved = compare_runs(names, first + shift, second, config, same_runs, apart)
        shifted = rounded(moved)
        row |= {name: shifted[name] for name in ("p_greater", "p_less")}
    if claim.kind == COST:
        ratios = {name: np.exp(row[name]) for name in ("difference", *_INTERVAL)}
        row |= {name: round(float(ratio), DECIMALS) for name, ratio in ratios.items()}
    if claim.kind != SCORE:
        row |= {"p_equivalent": None, "detectable": None}
    printed = [paper.published_at(side.coordinates) for side in (better, worse)]
    if None not in printed and printed[0] != printed[1]:
        effect, level = round(printed[0] - printed[1], DECIMALS), level_of(config)
        row["paper_effect"] = effect
        row["power"] = round(compared.power(effect, level), DECIMALS)
        needed = compared.items_needed(effect, level, first.shape[1])
        row["items_needed"] = None if np.isinf(needed) else needed
    return row


def _judge(
    claim: Claim, sides: list[tuple[_Side, _Side]], comparisons: list[dict], config: Config
) -> dict:
    """Return verdict and two-sided p-value, both before any correction, and the evidence."""
    count = len(comparisons)
    # It cannot hold when so many comparisons are reversed that too few are left.
    reversed_needed = count - claim.needed + 1
    holds = partial_conjunction([one["p_greater"] for one in comparisons], claim.needed)
    fails = partial_conjunction([one["p_less"] for one in comparisons], reversed_needed)
    deciding = sorted(comparisons, key=lambda one: -one["difference"])[claim.needed - 1]
    alike = claim.kind == SCORE and count == 1 and deciding["p_equivalent"] < level_of(config)
    return {
        "verdict": HOLDS if holds < fails else FAILS,
        "p_value": min(1.0, 2 * min(holds, fails)),
        "effect": deciding["difference"],
        # What a claim has of the comparison that decides it.
        **{name: deciding.get(name) for name in (*_INTERVAL, *_CAN_DECIDE)},
        "equivalent": {True: "yes", False: "no"}[alike],
        "evidence": "; ".join(
            f"{better.name} {number_of(one['mean_better'], claim.kind)}, "
            f"{worse.name} {number_of(one['mean_worse'], claim.kind)} "
            f"({effect_of(one['difference'], one, claim.kind)}, p = {one['p_greater']:.2g})"
            for (better, worse), one in zip(sides, comparisons, strict=True)
        ),
    }


def number_of(value: float, kind: str) -> str:
    """Return a mean in words: three digits of a cost, three decimals of what else is compared."""
    return f"{value:.3g}" if kind == COST else f"{value:.3f}"


def effect_of(effect: float, row: dict, kind: str) -> str:
    """Return an effect with its interval in words: how many times of a cost, else a difference."""
    ends = row["low"], row["high"]
    if kind == COST:
        return "{:.3g} times [{:.3g}, {:.3g}]".format(effect, *ends)
    return "{:+.3f} [{:+.3f}, {:+.3f}]".format(effect, *ends)


def _decide(rows: list[dict], config: Config) -> list[dict]:
    """Adjust the p-values of one paper's secondary claims at each setting; decide all."""
    ran = [row for row in rows if "p_value" in row]
    for hyperparameters in dict.fromkeys(row["hyperparameters"] for row in ran):
        own = [
            row for row in ran if row["hyperparameters"] == hyperparameters and not row["primary"]
        ]
        for row, adjusted in zip(own, holm([row["p_value"] for row in own]), strict=True):
            row["p_value"] = adjusted
    for row in ran:
        row["p_value"] = round(row["p_value"], DECIMALS)
        if row["p_value"] >= level_of(config):
            row["verdict"] = SAME if row["equivalent"] == "yes" else UNDECIDED
    return rows
