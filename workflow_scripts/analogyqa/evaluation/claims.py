"""Judge the claims of papers by tests between systems."""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from analogyqa.cells import Cell, cells_by_hyperparameters, fold_cells, why_no_run
from analogyqa.evaluation.significance import (
    COMPARED,
    compare_runs,
    holm,
    p_text,
    partial_conjunction,
    row_p_value,
    share_runs,
    significance_level,
)
from analogyqa.evaluation.summary import (
    DECIMALS,
    LearnedCount,
    Values,
    few_learned,
    join_folds,
    learned_text,
    sum_learned,
    to_frame,
)
from analogyqa.evaluation.verdicts import LOOKS, NOT_LEARNED, NOT_RUN, no_run
from analogyqa.runs.cost import Costs
from analogyqa.schemas import INSIDE, read_table
from analogyqa.settings.coordinates import COST, NORM, SCORE, Coordinates
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import Claim, Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
EQUIVALENT = "equivalent"
# Blue and orange differ for any colour vision.
CLAIM_MARKS = {
    **{HOLDS: "🟦", FAILS: "🟧", EQUIVALENT: "🟰", UNDECIDED: "⬜"},
    **{verdict: LOOKS[verdict].colour for verdict in (NOT_LEARNED, NOT_RUN)},
}
CLAIM_MEANINGS = {
    HOLDS: "the claim is significantly true here",
    FAILS: "the reverse of the claim is significantly true here",
    EQUIVALENT: "the systems differ by significantly less than the margin",
    UNDECIDED: "these data and seeds decide none of these",
    NOT_LEARNED: "most training runs of a system did not learn, so nothing follows from it",
}
# The protocols: on the paper's split, by cross-validation, and for costs by steps of training.
SPLIT, FOLDS, STEPS = "paper", "cross-validated", "steps"

# The roles of judgements: one decides a primary claim, and its others show how sensitive that is.
PRIMARY, SENSITIVITY, SECONDARY = "primary", "sensitivity", "secondary"

_INTERVAL = ("low", "high")
_CAN_DECIDE = {
    **dict.fromkeys(
        ["detectable", "paper_effect", "effect_ratio", "power", "items_needed"], "float64"
    ),
    **dict.fromkeys(["n_items", "n_seeds"], "Int64"),
}
CLAIMS = {
    **dict.fromkeys(["paper", "claim", "text"], "str"),
    "ours": "bool",
    **dict.fromkeys(["role", "kind", "protocol", "hyperparameters"], "str"),
    **dict.fromkeys(["effect", *_INTERVAL], "float64"),
    **_CAN_DECIDE,
    **dict.fromkeys(["p_value", "margin"], "float64"),
    **dict.fromkeys(["equivalent", "verdict", "evidence", "beside", "reason"], "str"),
}
COMPARISONS = {
    **dict.fromkeys(["paper", "claim", "protocol", "hyperparameters", "better", "worse"], "str"),
    **dict.fromkeys(["mean_better", "mean_worse", *COMPARED, "margin", "p_equivalent"], "float64"),
    **_CAN_DECIDE,
}


class _Side(NamedTuple):
    """One side of a comparison: one cell, or one for each fold."""

    name: str  # unique among the sides of the claim
    coordinates: Coordinates
    cells: tuple[Cell, ...]

    def missing(self, values: Values) -> list[Cell]:
        return [cell for cell in self.cells if values(cell, self.coordinates.measured) is None]

    def values(self, values: Values) -> pd.DataFrame:
        """Return the values [seeds, items] of all cells, which must not be `missing`."""
        joined = join_folds(self.cells, self.coordinates.measured, values)
        assert joined is not None
        return joined


def judge_claims(
    papers: Iterable[Paper], config: Config, values: Values, learned: Mapping[Cell, LearnedCount]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judge every claim with the paper's hyperparameters and with those tuned on dev.

    Only claims whose trained systems are all tuned have the second row. A claim about untrained
    systems has one row, with hyperparameters "". A claim with overrides, and one about norms or
    costs, has only the row with the paper's hyperparameters. A primary claim has another row, by
    cross-validation with the paper's hyperparameters, if its paper cross-validates both systems.
    Its first row is the one that decides it (`role`).

    Args:
        values: As `with_norms_and_costs` returns it.
        learned: Counts the training runs of each trained cell, see `summary.read_learned`. A claim
            that rests on a system of which most training runs did not learn has no other verdict
            than that, but stays in its family. `reason` has the counts if some did not learn.

    Returns:
        The verdicts, columns CLAIMS, and their comparisons, columns COMPARISONS. The p-value of a
        claim is two-sided; those of the secondary claims are adjusted (Holm) over all secondary
        claims of the paper with the same hyperparameters; our own claims are adjusted separately.
        Effect and interval are those of the comparison that decides: the weakest of the needed
        ones. For costs, the effect is how many times cheaper the better side is. `effect_ratio` is
        our effect over the published one. `equivalent` says whether a difference of scores is
        significantly smaller than `margin`: half of the published difference, or that of the claim.
        The p-values of a comparison are one-sided and not adjusted. `beside` are the means of the
        paper's references that have run on the same data by the same protocol.

    Raises:
        AnalogyQAError: if the two sides of a comparison have different questions.
    """
    verdicts, compared = [], []
    for paper in papers:
        for name, claim in paper.claims.items():
            about = {key: getattr(claim, key) for key in ("kind", "ours")}
            about |= {"paper": paper.paper, "claim": name, "text": claim.claim, "verdict": NOT_RUN}
            for protocol, hyperparameters, reason in _judgements(claim, config, paper.paper):
                row: dict = about | {"protocol": protocol, "hyperparameters": hyperparameters}
                row["role"] = SECONDARY
                if claim.primary:
                    decides = protocol == claim.primary and hyperparameters != TUNED
                    row["role"] = PRIMARY if decides else SENSITIVITY
                judged_on = protocol, hyperparameters, config, paper
                pairs, references = ([], []) if reason else _sides(claim, *judged_on)
                sides = list(chain.from_iterable(pairs))
                if missing := [cell for side in sides for cell in side.missing(values)]:
                    reason = no_run(*missing)
                if not reason:
                    comparisons = [
                        _compare(claim, *pair, values, paper, config)
                        | _learned_columns(claim, pair, learned, config)
                        for pair in pairs
                    ]
                    compared += [row | comparison for comparison in comparisons]
                    row |= _claim_verdict(claim, pairs, comparisons)
                    row["beside"] = _beside(references, values)
                verdicts.append({"reason": reason} | row)
    return _decide(verdicts, significance_level(config.bootstrap)), to_frame(compared, COMPARISONS)


def _judgements(claim: Claim, config: Config, paper: str) -> list[tuple[str, str, str]]:
    """Return protocol, hyperparameters and, if it cannot be made, the reason of each judgement."""
    if claim.not_measured:
        return [(SPLIT, "", claim.not_measured)]
    sides = list(chain.from_iterable(claim.sides()))
    reasons = filter(None, (why_no_run(side, config) for side in sides))
    has_folds = bool(claim.primary) and all(fold_cells(side, config, paper) for side in sides)
    folds = []
    if has_folds or claim.primary == FOLDS:
        folds = [(FOLDS, PAPER, "" if has_folds else "these systems are not cross-validated here")]
    if reason := "; ".join(dict.fromkeys(reasons)):
        return [*folds, (SPLIT, "", reason)]
    if claim.kind == COST:
        return [(STEPS, PAPER, "")]
    trained = [side for side in sides if config.uses_training(side.system)]
    if not trained:
        return [*folds, (SPLIT, "", "")]
    judgements = [(SPLIT, PAPER, "")]
    # A tuned system against one that could have been tuned, but is not, would be unfair.
    if claim.kind == SCORE and all(
        TUNED in cells_by_hyperparameters(side, config) for side in trained
    ):
        judgements.append((SPLIT, TUNED, ""))
    return [*judgements, *folds] if claim.primary == SPLIT else [*folds, *judgements]


def _sides(
    claim: Claim, protocol: str, hyperparameters: str, config: Config, paper: Paper
) -> tuple[list[tuple[_Side, _Side]], list[_Side]]:
    """Return both sides of each comparison, and the references beside them.

    They are named by the coordinates in which the sides differ.
    """
    pairs = claim.sides()
    dumped = [side.model_dump(exclude={"system"}) for pair in pairs for side in pair]
    keys = dict.fromkeys(chain.from_iterable(dumped))
    differing = [key for key in keys if len({str(values.get(key)) for values in dumped}) > 1]

    def side_at(coordinates: Coordinates) -> _Side:
        if protocol == FOLDS:
            cells = tuple(fold_cells(coordinates, config, paper.paper))
        else:
            by_name = cells_by_hyperparameters(coordinates, config)
            # A system that is not trained has no hyperparameters to tune.
            cells = (next(by_name[n] for n in (hyperparameters, PAPER, "") if n in by_name),)
        values, overrides = coordinates.model_dump(), dict(coordinates.overrides)
        details = ", ".join(
            f"{key} = {values[key]}" if key in overrides else str(values[key])
            for key in differing
            if values.get(key) is not None
        )
        name = f"{coordinates.system} ({details})" if details else coordinates.system
        return _Side(name, coordinates, cells)

    # By cross-validation, `fold_cells` says which there are.
    references = [
        side_at(at) for at in paper.beside(claim) if protocol == FOLDS or not why_no_run(at, config)
    ]
    return [(side_at(better), side_at(worse)) for better, worse in pairs], references


def _beside(references: Iterable[_Side], values: Values) -> str:
    """Return the means of those references that have run."""
    run = [side for side in references if side.cells and not side.missing(values)]
    means = [float(side.values(values).to_numpy().mean()) for side in run]
    return ", ".join(f"{side.name} {mean:.3f}" for side, mean in zip(run, means, strict=True))


def _learned_columns(
    claim: Claim, pair: tuple[_Side, _Side], learned: Mapping[Cell, LearnedCount], config: Config
) -> dict:
    """Return how many training runs of both sides learned, and whether one has too few.

    `learned` is "" if all did, and for costs.
    """
    counts = {side.name: sum_learned(side.cells, learned, config) for side in pair}
    if claim.kind == COST or not any(learned_text(*count) for count in counts.values()):
        return {"learned": "", "few_learned": False}
    text = ", ".join(
        f"{name} learned in {learned} of {trained} training runs"
        for name, (learned, trained) in counts.items()
        if trained
    )
    return {"learned": text, "few_learned": any(few_learned(*count) for count in counts.values())}


def _compare(
    claim: Claim, better: _Side, worse: _Side, values: Values, paper: Paper, config: Config
) -> dict:
    """Return a comparison as a row of COMPARISONS."""
    first, second = better.values(values), worse.values(values)
    row: dict = {
        "mean_better": round(float(first.to_numpy().mean()), DECIMALS),
        "mean_worse": round(float(second.to_numpy().mean()), DECIMALS),
        "n_items": min(first.shape[1], second.shape[1]),
        "n_seeds": min(len(first), len(second)),
    }
    for name, side in (("better", better), ("worse", worse)):
        paths = " .. ".join(dict.fromkeys([side.cells[0].path, side.cells[-1].path]))
        row[name] = f"{paths} {side.coordinates.measured}"
    shift = claim.tolerance
    if claim.kind == COST:  # the logarithm of how many times cheaper the better side is
        first, second, shift = -np.log(first), -np.log(second), -np.log(claim.times)
    names = better.cells[0].path, worse.cells[0].path
    same_runs = better.cells == worse.cells or share_runs(better.cells[0], worse.cells[0], config)
    unpaired = better.coordinates.subset != worse.coordinates.subset
    level = significance_level(config.bootstrap)
    compared = compare_runs(names, first, second, level, same_runs, unpaired)
    row |= compared.rounded()
    if shift:
        shifted = compare_runs(names, first + shift, second, level, same_runs, unpaired).rounded()
        row |= {name: shifted[name] for name in ("p_greater", "p_less")}
    if claim.kind == COST:
        ratios = {name: np.exp(row[name]) for name in ("difference", *_INTERVAL)}
        row |= {name: round(float(ratio), DECIMALS) for name, ratio in ratios.items()}
    if claim.kind != SCORE:
        row["detectable"] = None
    margin = claim.margin
    # A published difference is about the paper's data.
    printed = [paper.published_at(s.coordinates) for s in (better, worse) if config.comparable]
    known = [value for value in printed if value is not None]
    if len(set(known)) == 2:
        effect = round(known[0] - known[1], DECIMALS)
        margin = round(abs(effect) / 2, DECIMALS)
        needed = compared.items_needed(effect, first.shape[1])
        row["paper_effect"] = effect
        row["effect_ratio"] = round(row["difference"] / effect, DECIMALS)
        row["power"] = round(compared.power(effect), DECIMALS)
        row["items_needed"] = None if np.isinf(needed) else needed
    if margin and claim.kind == SCORE:
        row["margin"] = margin
        row["p_equivalent"] = round(compared.p_equivalent(margin), DECIMALS)
    return row


def _claim_verdict(claim: Claim, pairs: list[tuple[_Side, _Side]], comparisons: list[dict]) -> dict:
    """Return verdict, two-sided p-value before any correction, effect, evidence and reason."""
    # A claim fails if so many comparisons are reversed that too few are left.
    reversed_needed = len(comparisons) - claim.needed + 1
    holds = partial_conjunction([row["p_greater"] for row in comparisons], claim.needed)
    fails = partial_conjunction([row["p_less"] for row in comparisons], reversed_needed)
    deciding = sorted(comparisons, key=lambda row: -row["difference"])[claim.needed - 1]
    seen, count = ("p_greater", claim.needed) if holds < fails else ("p_less", reversed_needed)
    rests_on = [deciding, *sorted(comparisons, key=lambda row: row[seen])[:count]]
    verdict = HOLDS if holds < fails else FAILS
    # Only the difference of two scores has a margin.
    p_equivalent = deciding.get("p_equivalent", 1.0) if len(comparisons) == 1 else 1.0
    mean = "{:.3g}" if claim.kind == COST else "{:.3f}"
    return {
        "verdict": NOT_LEARNED if any(row["few_learned"] for row in rests_on) else verdict,
        "p_value": min(1.0, 2 * min(holds, fails)),
        "effect": deciding["difference"],
        **{name: deciding.get(name) for name in (*_INTERVAL, *_CAN_DECIDE, "margin")},
        "p_equivalent": p_equivalent,
        "evidence": "; ".join(
            f"{better.name} {mean.format(row['mean_better'])}, "
            f"{worse.name} {mean.format(row['mean_worse'])} "
            f"({effect_text(row['difference'], row, claim.kind)}, "
            f"p {p_text(row_p_value(row), '= ')})"
            for (better, worse), row in zip(pairs, comparisons, strict=True)
        ),
        "reason": "; ".join(dict.fromkeys(filter(None, (row["learned"] for row in comparisons)))),
    }


def effect_text(effect: float, row: dict, kind: str) -> str:
    """Return an effect with its interval: a ratio of costs, or else a difference."""
    form = "{:.3g} times [{:.3g}, {:.3g}]" if kind == COST else "{:+.3f} [{:+.3f}, {:+.3f}]"
    return form.format(effect, row["low"], row["high"])


def _decide(rows: list[dict], level: float) -> pd.DataFrame:
    """Adjust the p-values of each paper's primary claims, and of its others, and decide them."""
    claims = to_frame(rows, CLAIMS | {"p_equivalent": "float64"})
    has_run = claims["p_value"].notna()
    families = {PRIMARY: ["paper"], SECONDARY: ["paper", "hyperparameters", "ours"]}
    for role, keys in families.items():
        for _, family in claims[has_run & claims["role"].eq(role)].groupby(keys):
            for name in ("p_value", "p_equivalent"):
                claims.loc[family.index, name] = holm(family[name])
    claims["p_value"] = claims["p_value"].round(DECIMALS)
    is_judged = has_run & claims["verdict"].ne(NOT_LEARNED)
    is_equivalent = is_judged & (claims["p_equivalent"] < level)
    is_open = is_judged & (claims["p_value"] >= level)
    claims.loc[is_judged, "equivalent"] = "no"
    claims.loc[is_equivalent, "equivalent"] = "yes"
    claims.loc[is_open, "verdict"] = UNDECIDED
    claims.loc[is_open & is_equivalent, "verdict"] = EQUIVALENT
    return claims[list(CLAIMS)]


def question_norms(inside: pd.DataFrame) -> pd.DataFrame:
    """Return the norm of each question, and the mean norm of its correct answers.

    `inside` has the columns INSIDE. The result has the columns `question` and `answer`.
    """
    parts = {"question": inside["kind"] == "question", "answer": inside["label"] == 1}
    means = {
        name: inside[part].groupby("question_id")["norm"].mean() for name, part in parts.items()
    }
    return pd.DataFrame(means).dropna()


def with_norms_and_costs(values: Values, insides: Iterable[str | Path], costs: Costs) -> Values:
    """Return a function that looks up scores, norms and costs by cell and `Coordinates.measured`.

    `values` looks up the scores; `insides` are paths of inside.parquet, each in its run's folder.
    """
    others = {}
    for path in insides:
        norms = question_norms(read_table(path, INSIDE))
        for kind in norms:
            others[Cell.from_path(Path(path).parent), f"{NORM} of {kind}s"] = norms[[kind]].T
    for (dataset, subset, system), cost in costs.items():
        measured = "seconds_per_epoch"
        others[Cell(system, dataset, subset), measured] = pd.DataFrame([cost.values(measured)])

    return lambda cell, measured: others.get((cell, measured), values(cell, measured))
