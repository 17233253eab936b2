"""The measures, a line each: `ir_measures` computes them as trec_eval does. And their spread."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import AP, RR, P, Success

from analogyqa.analogies.specs import DISTRACTORS
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import METRICS


class Measure(NamedTuple):
    """A measure of an item (a question): its title, its short title, and what computes it.

    `largest` is the scale: values lie between 0 and it. An `official` one is that of the scorers of
    SemEval: it is also of questions without a correct candidate, as 0, and candidates with the same
    score keep the order of the file. What is not of ranked candidates has nothing to compute it.
    """

    title: str
    short: str
    computed_by: ir_measures.measures.Measure | None = None
    largest: float = 1.0
    official: bool = False


ACCURACY = "accuracy"
# Of ranked candidates.
RANKED = {
    "map": Measure("Mean average precision", "MAP", AP),
    "mrr": Measure("Mean reciprocal rank", "MRR", RR),
    # trec_eval leaves questions without a correct candidate out, the scorers of tasks do not.
    "map_official": Measure(
        "Mean average precision, unanswerable questions as 0", "MAP", AP, official=True
    ),
    "mrr_official": Measure(
        "Mean reciprocal rank, unanswerable questions as 0", "MRR", RR, official=True
    ),
    "p_at_1": Measure("Precision at 1", "P@1", P @ 1),
    ACCURACY: Measure("Accuracy", "Accuracy", Success @ 1),
}
# Of solved analogies: the accuracy, and how often each wrong answer was chosen.
OF_DISTRACTORS = {
    f"chose_{name}": Measure(f"Chosen: {name.replace('_', ' ')}", name.replace("_", " "))
    for name in DISTRACTORS
}
MEASURES = RANKED | OF_DISTRACTORS
# Of an item, how many candidates have a score that another one has, too. trec_eval orders these by
# descending id, an official measure as the file does.
TIED = "tied_candidates"
# Of an item, 1 where every candidate is correct, so that no order is wrong; else 0.
ALL_CORRECT = "all_correct"
ABOUT_ITEMS = (TIED, ALL_CORRECT)
# Of an item of analogies, which is a pair C : D, how many have it. Values are means over these, so
# that a mean over items weighs them by it.
WEIGHT = "analogies"
NO_TYPE = ""  # the group of a question that has no correct candidate, and therefore no type


def measure_items(
    scores: pd.DataFrame, groups: Mapping[str, str], unanswerable: Iterable[str] = ()
) -> pd.DataFrame:
    """Measure every question of the scored candidates of one split and one seed.

    Args:
        scores: columns question_id, candidate_id, label, score.
        groups: question_id to question type, for every question that must be there.
        unanswerable: question_ids without a correct candidate, which are not scored.

    Returns:
        A row for each measure (those of `RANKED`, then the unanswerable, then `ABOUT_ITEMS`) and
        question, by question_id: item, group, measure, value.

    Raises:
        AnalogyQAError: when a question is missing, unknown or has a score that is not a number.
    """
    found = set(scores["question_id"])
    if found != set(groups):
        raise AnalogyQAError(
            f"the run lacks {sorted(set(groups) - found)[:5]} and has unexpected "
            f"{sorted(found - set(groups))[:5]} of {len(groups)} questions"
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
    values[True] = _calculate(_in_order_of_file(plain)) if tied.any() else values[False]
    question_ids = scores["question_id"].astype(str)
    about = {
        TIED: tied.groupby(question_ids).sum(),
        ALL_CORRECT: scores["label"].eq(1).groupby(question_ids).all(),
    }
    items = sorted(groups)
    rows = [
        (item, groups[item], name, values[measure.official][item, measure.computed_by])
        for name, measure in RANKED.items()
        for item in items
    ]
    rows += [
        (item, NO_TYPE, name, 0.0)
        for name, measure in RANKED.items()
        if measure.official
        for item in sorted(unanswerable)
    ]
    rows += [
        (item, groups[item], name, float(about[name][item])) for name in about for item in items
    ]
    return pd.DataFrame(rows, columns=["item", "group", "measure", "value"])


def _calculate(scores: pd.DataFrame) -> dict[tuple[str, ir_measures.measures.Measure], float]:
    """Return the value of each question and measure, as trec_eval computes it."""
    columns = {"question_id": "query_id", "candidate_id": "doc_id", "label": "relevance"}
    plain = scores.rename(columns=columns)
    found = ir_measures.iter_calc(
        {measure.computed_by for measure in RANKED.values()},
        plain[["query_id", "doc_id", "relevance"]],
        plain[["query_id", "doc_id", "score"]],
    )
    return {(value.query_id, value.measure): value.value for value in found}


def _in_order_of_file(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores with ids whose descending order is that of the file.

    There a question's candidates are numbered: those of a longer id come later.
    """
    ids = scores["candidate_id"]
    in_order = scores.assign(length=ids.str.len()).sort_values(["length", "candidate_id"])
    places = in_order.groupby("question_id").cumcount(ascending=False)
    return scores.assign(candidate_id=places.astype(str).str.zfill(9))


def means_of(measured: pd.DataFrame) -> dict[str, float]:
    """Return the mean over items of each measure in what `measure_items` returned."""
    return {
        name: float(measured.loc[measured["measure"] == name, "value"].mean()) for name in RANKED
    }


def measure_run(
    scores: pd.DataFrame,
    groups: Mapping[str, Mapping[str, str]],
    unanswerable: Mapping[str, Iterable[str]],
) -> pd.DataFrame:
    """Measure a whole run, every seed and split of it, into a table of schema METRICS.

    Args:
        scores: a table of schema SCORES.
        groups: split to question_id to question type; every seed must have all these splits.
        unanswerable: split to the question_ids that `measure_items` counts as 0.

    Raises:
        AnalogyQAError: as `measure_items`, and for a split that a seed lacks.
    """
    splits = scores["split"].astype(str)
    for seed in scores["seed"].unique():
        if missing := set(groups) - set(splits[scores["seed"] == seed]):
            raise AnalogyQAError(f"the run lacks the split {', '.join(missing)} for seed {seed}")
    parts = [
        measure_items(
            scores[(scores["seed"] == seed) & (splits == split)],
            groups[split],
            unanswerable.get(split, ()),
        ).assign(seed=seed, split=split)
        for seed in scores["seed"].unique()
        for split in groups
    ]
    return pd.concat(parts, ignore_index=True)[METRICS.names]


def values_by_seed(metrics: pd.DataFrame, split: str) -> dict[str, pd.DataFrame]:
    """Return the measures of one split of a metrics table, each as a frame [seeds, items].

    The columns are sorted by item. Where items have a `WEIGHT`, values are scaled by it, so that
    their mean is that over analogies.
    """
    own = metrics[metrics["split"] == split].astype({"item": str, "measure": str})
    wide = own.pivot(index="seed", columns=["measure", "item"], values="value")
    wide = wide.sort_index(axis="columns")
    there = set(wide.columns.get_level_values("measure"))
    names = (*MEASURES, *ABOUT_ITEMS, WEIGHT)
    values = {name: wide[name] for name in names if name in there}
    weights = values.pop(WEIGHT, None)
    for name in MEASURES if weights is not None else ():
        if name in values:
            own = weights[values[name].columns]  # not every item has every measure
            values[name] = values[name] * own.div(own.mean(axis=1), axis=0)
    return values


def titles(names: Iterable[str]) -> str:
    """Return the titles of measures within a sentence."""
    *first, last = [MEASURES[name].title.lower() for name in names]
    return f"{', '.join(first)} and {last}" if first else last
