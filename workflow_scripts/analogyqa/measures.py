"""The measures, which `ir_measures` computes as trec_eval does."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import AP, RR, P, Success

from analogyqa.analogies.specs import DISTRACTORS
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import METRICS


@dataclass(frozen=True)
class Measure:
    """A measure of an item, which is a question or a sentence pair.

    `values` says which these can be, if they are few: reciprocals of ranks, or zeros and ones.
    """

    title: str
    short: str
    values: Literal["", "reciprocal", "binary"] = field(default="", kw_only=True)
    smallest: float = field(default=0.0, kw_only=True)
    largest: float = field(default=1.0, kw_only=True)


@dataclass(frozen=True)
class RankedMeasure(Measure):
    """A measure of ranked candidates.

    Attributes:
        computed_by: The measure of `ir_measures`.
        is_official: Whether it follows the scorers of SemEval: questions without a correct
            candidate count as 0, and candidates with equal scores keep the order of the file.
    """

    computed_by: ir_measures.measures.Measure
    is_official: bool = False

    @property
    def computation(self) -> list:
        """How it is computed, as a JSON value."""
        return [str(self.computed_by), self.is_official]


ACCURACY = "accuracy"
_AS_ZERO = ", unanswerable questions as 0"
RANKED = {
    "map": RankedMeasure("Mean average precision", "MAP", AP),
    "mrr": RankedMeasure("Mean reciprocal rank", "MRR", RR, values="reciprocal"),
    # trec_eval leaves out questions without a correct candidate; the scorers of SemEval do not.
    "map_official": RankedMeasure(f"Mean average precision{_AS_ZERO}", "MAP", AP, True),
    "mrr_official": RankedMeasure(
        f"Mean reciprocal rank{_AS_ZERO}", "MRR", RR, True, values="reciprocal"
    ),
    "p_at_1": RankedMeasure("Precision at 1", "P@1", P @ 1, values="binary"),
    "p_at_1_official": RankedMeasure(
        f"Precision at 1{_AS_ZERO}", "P@1", P @ 1, True, values="binary"
    ),
    ACCURACY: RankedMeasure("Accuracy", "Accuracy", Success @ 1),
}
# The measures of solved analogies, besides accuracy: what it would be if candidates with equal
# scores shared a question, and how often C or a kind of wrong answer is chosen.
SHARED_TIES, CHOSE_C = "accuracy_with_shared_ties", "chose_c"
OF_ANALOGIES = {
    SHARED_TIES: Measure("Accuracy with shared ties", "Accuracy with shared ties"),
    CHOSE_C: Measure("Chosen: C itself", "C itself"),
}
OF_DISTRACTORS = {
    f"chose_{name}": Measure(f"Chosen: {name.replace('_', ' ')}", name.replace("_", " "))
    for name in DISTRACTORS
}
# The mean scores of correct and of wrong candidates, and their difference. By analogy with
# `aggregate: mean`, a score is the mean cosine between the shift of a pair and those of prototypes.
OF_SCORES = {
    name: Measure(title, short, smallest=-np.inf, largest=np.inf)
    for name, title, short in (
        ("score_of_correct", "Mean score of candidates", "correct"),
        ("score_of_wrong", "Mean score of candidates", "wrong"),
        ("score_gap", "Mean score of correct candidates minus that of wrong ones", "gap"),
    )
}
MEASURES: dict[str, Measure] = {**RANKED, **OF_ANALOGIES, **OF_DISTRACTORS, **OF_SCORES}
# The number of an item's candidates that share their score with another one. trec_eval orders them
# by descending id, official measures by the file.
TIED = "tied_candidates"
# 1 for an item whose candidates are all correct, so that no order is wrong; otherwise 0.
ALL_CORRECT = "all_correct"
ABOUT_ITEMS = (TIED, ALL_CORRECT)
# The number of analogies that ask for an item, a pair C : D. The accuracy over all analogies is the
# mean of the items' values, weighted by this number.
WEIGHT = "analogies"
NO_TYPE = ""  # the type of a question without a correct candidate


def measure_items(
    scores: pd.DataFrame, groups: Mapping[str, str], unanswerable: Iterable[str] = ()
) -> pd.DataFrame:
    """Measure every question of one split and one seed.

    Args:
        scores: The scored candidates, with columns question_id, candidate_id, label and score.
        groups: The question type of every question that must be there, by question_id.
        unanswerable: The question_ids without a correct candidate, which are not scored.

    Returns:
        A table with the columns item, group, measure and value: first the measures of `RANKED`,
        then those of unanswerable questions, then `ABOUT_ITEMS`, each sorted by question_id.

    Raises:
        AnalogyQAError: If a question is missing or unknown, or a score is not a number.
    """
    scored = set(scores["question_id"])
    if scored != set(groups):
        raise AnalogyQAError(
            f"the run lacks {sorted(set(groups) - scored)[:5]} and has unexpected "
            f"{sorted(scored - set(groups))[:5]} of {len(groups)} questions"
        )
    if not np.isfinite(scores["score"]).all():
        question = scores.loc[~np.isfinite(scores["score"]), "question_id"].iloc[0]
        raise AnalogyQAError(
            f"question {question}: a score is not a number; the training has diverged. "
            "Lower training.learning_rate."
        )
    tied = scores.duplicated(["question_id", "score"], keep=False)
    plain = scores.astype({"question_id": str, "candidate_id": str})
    values = {False: _calculate(plain)}
    values[True] = _calculate(_with_file_order_ids(plain)) if tied.any() else values[False]
    by_question = plain.assign(**{TIED: tied, ALL_CORRECT: scores["label"] == 1})
    by_question = by_question.groupby("question_id")
    zeros = dict.fromkeys(unanswerable, 0.0)
    by_measure = [(name, values[at.is_official][at.computed_by]) for name, at in RANKED.items()]
    by_measure += [(name, zeros) for name, at in RANKED.items() if at.is_official]
    by_measure += [(TIED, by_question[TIED].sum()), (ALL_CORRECT, by_question[ALL_CORRECT].all())]
    return _to_rows(by_measure, groups)


def measure_scores(scores: pd.DataFrame, groups: Mapping[str, str]) -> pd.DataFrame:
    """Return the measures `OF_SCORES` of every question with a correct and a wrong candidate.

    Args and the columns of the result are those of `measure_items`; rows are sorted by measure and
    question_id.
    """
    plain = scores.astype({"question_id": str, "score": float})
    means = plain.groupby(["question_id", "label"])["score"].mean().unstack()
    means = means.reindex(columns=[1, 0]).dropna()
    values = (means[1], means[0], means[1] - means[0])
    return _to_rows(zip(OF_SCORES, values, strict=True), groups)


def _to_rows(
    by_measure: Iterable[tuple[str, Mapping | pd.Series]], groups: Mapping[str, str]
) -> pd.DataFrame:
    """Return pairs of a measure and its values by item as rows, the items sorted."""
    rows = [
        (item, groups.get(item, NO_TYPE), name, float(value))
        for name, values in by_measure
        for item, value in sorted(values.items())
    ]
    return pd.DataFrame(rows, columns=["item", "group", "measure", "value"])


def _calculate(scores: pd.DataFrame) -> dict[ir_measures.measures.Measure, dict[str, float]]:
    """Return the values by measure and question, as trec_eval computes them."""
    columns = {"question_id": "query_id", "candidate_id": "doc_id", "label": "relevance"}
    renamed = scores.rename(columns=columns)
    values: dict = {measure.computed_by: {} for measure in RANKED.values()}
    metrics = ir_measures.iter_calc(
        {*values},
        renamed[["query_id", "doc_id", "relevance"]],
        renamed[["query_id", "doc_id", "score"]],
    )
    for metric in metrics:
        values[metric.measure][metric.query_id] = metric.value
    return values


def _with_file_order_ids(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores with candidate ids whose descending order is the order of the file.

    In the file, the candidates of a question are numbered, so longer ids come later.
    """
    ids = scores["candidate_id"]
    in_order = scores.assign(length=ids.str.len()).sort_values(["length", "candidate_id"])
    positions = in_order.groupby("question_id").cumcount(ascending=False)
    return scores.assign(candidate_id=positions.astype(str).str.zfill(9))


def mean_values(measured: pd.DataFrame) -> dict[str, float]:
    """Return the mean over items of each measure in a table of `measure_items`."""
    return {
        name: float(measured.loc[measured["measure"] == name, "value"].mean()) for name in RANKED
    }


def measure_run(
    scores: pd.DataFrame,
    groups: Mapping[str, Mapping[str, str]],
    unanswerable: Mapping[str, Iterable[str]],
) -> pd.DataFrame:
    """Measure every seed and split of a run; return a table of schema METRICS.

    Args and errors are those of `measure_items`: a table of schema SCORES, and by split what each
    split has. Every seed must have all splits of `groups`.
    """
    splits = scores["split"].astype(str)
    parts = []
    for seed, split in product(scores["seed"].unique(), groups):
        ranked = scores[(scores["seed"] == seed) & (splits == split)]
        by_rank = measure_items(ranked, groups[split], unanswerable.get(split, ()))
        by_score = measure_scores(ranked, groups[split])
        parts += [part.assign(seed=seed, split=split) for part in (by_rank, by_score)]
    return pd.concat(parts, ignore_index=True)[METRICS.names]


def values_by_seed(metrics: pd.DataFrame, split: str) -> dict[str, pd.DataFrame]:
    """Return each measure of one split of a table METRICS as a frame [seeds, sorted items].

    Values of items with a `WEIGHT` are scaled by it, so that their mean is a mean over analogies.
    The columns of these items have two levels, their group and the item; see `item_strata`.
    """
    rows = metrics[metrics["split"] == split].astype({"item": str, "group": str, "measure": str})
    item = ["group", "item"] if rows["measure"].eq(WEIGHT).any() else ["item"]
    wide = rows.pivot(index="seed", columns=["measure", *item], values="value")
    wide = wide.sort_index(axis="columns")
    values = {name: pd.DataFrame(wide[name]) for name in (*MEASURES, *ABOUT_ITEMS) if name in wide}
    if WEIGHT in wide:
        weights = pd.DataFrame(wide[WEIGHT])
        for name in MEASURES.keys() & values.keys():
            weight = weights[values[name].columns]  # not every item has every measure
            values[name] = values[name] * weight.div(weight.mean(axis=1), axis=0)
    return values


def item_strata(values: pd.DataFrame) -> np.ndarray | None:
    """Return the number of the group of each item in a frame of `values_by_seed`: int [items].

    The weights of groups are fixed, so a resample has as many items of each. None if the items have
    no weights.
    """
    if values.columns.nlevels == 1:
        return None
    return pd.factorize(values.columns.get_level_values(0))[0]


def reweight(metrics: pd.DataFrame, analogies: Mapping[str, int]) -> pd.DataFrame:
    """Return a table METRICS in which the items of each group have given sums of `WEIGHT`.

    `analogies` are the sums by group; without an entry, the weights stay as they are.
    """
    is_weight = (metrics["measure"] == WEIGHT) & metrics["group"].isin(list(analogies))
    weights = metrics[is_weight]
    if weights.empty:
        return metrics
    keys = [weights[name].astype(str) for name in ("seed", "split", "group")]
    factors = keys[-1].map(analogies) / weights.groupby(keys)["value"].transform("sum")
    changed = metrics["value"].copy()
    changed[is_weight] *= factors
    return metrics.assign(value=changed)


def titles(names: Iterable[str]) -> str:
    """Return the titles of measures as part of a sentence."""
    *first, last = [MEASURES[name].title.lower() for name in names]
    return f"{', '.join(first)} and {last}" if first else last
