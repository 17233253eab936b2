"""Average precision and reciprocal rank as trec_eval computes them, and their spread."""

from typing import NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import AP, RR

from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import METRICS

MEASURES = {"map": "ap", "mrr": "rr"}


class Summary(NamedTuple):
    """A mean over questions and seeds with its spread.

    `sd` is over the seeds' means (0 for one seed). The interval joins both spreads: seeds and
    questions are resampled together.
    """

    mean: float
    sd: float
    ci_low: float
    ci_high: float


def measure_questions(scores: pd.DataFrame, question_types: dict[str, str]) -> pd.DataFrame:
    """Measure every question of the scored candidates of one split and one seed.

    Args:
        scores: columns question_id, candidate_id, label, score.
        question_types: question_id to type for every question that must be there.

    Returns:
        One row per question, by question_id: question_type, ap, rr and tied_candidates, the number
        of candidates whose score another candidate of the question has too. trec_eval orders tied
        candidates by descending id.

    Raises:
        AnalogyQAError: when a question is missing, unknown or has a score that is not a number.
    """
    found = set(scores["question_id"])
    if found != set(question_types):
        raise AnalogyQAError(
            f"the run lacks {sorted(set(question_types) - found)[:5]} and has unexpected "
            f"{sorted(found - set(question_types))[:5]} of {len(question_types)} questions"
        )
    if not np.isfinite(scores["score"]).all():
        question = scores.loc[~np.isfinite(scores["score"]), "question_id"].iloc[0]
        raise AnalogyQAError(
            f"question {question}: a score is not a number; the training has diverged. "
            "Lower training.learning_rate."
        )
    columns = {"question_id": "query_id", "candidate_id": "doc_id"}
    plain = scores.astype({"question_id": str, "candidate_id": str}).rename(columns=columns)
    values = {
        (value.query_id, value.measure): value.value
        for value in ir_measures.iter_calc(
            [AP, RR],
            plain[["query_id", "doc_id", "label"]].rename(columns={"label": "relevance"}),
            plain[["query_id", "doc_id", "score"]],
        )
    }
    tied = scores.duplicated(["question_id", "score"], keep=False)
    tied_candidates = tied.groupby(scores["question_id"].astype(str)).sum()
    questions = sorted(question_types)
    return pd.DataFrame(
        {
            "question_id": questions,
            "question_type": [question_types[question] for question in questions],
            "ap": [values[question, AP] for question in questions],
            "rr": [values[question, RR] for question in questions],
            "tied_candidates": [int(tied_candidates[question]) for question in questions],
        }
    )


def measure_run(scores: pd.DataFrame, question_types: dict[str, dict[str, str]]) -> pd.DataFrame:
    """Measure a whole run, every seed and split of it, into the metrics table.

    Args:
        scores: a table of schema SCORES.
        question_types: split to question_id to type; every seed must have all these splits.

    Raises:
        AnalogyQAError: as `measure_questions`.
    """
    splits = scores["split"].astype(str)
    for seed in scores["seed"].unique():
        if missing := set(question_types) - set(splits[scores["seed"] == seed]):
            raise AnalogyQAError(f"the run lacks the split {', '.join(missing)} for seed {seed}")
    parts = [
        measure_questions(
            scores[(scores["seed"] == seed) & (splits == split)], question_types[split]
        ).assign(seed=seed, split=split)
        for seed in scores["seed"].unique()
        for split in question_types
    ]
    return pd.concat(parts, ignore_index=True)[METRICS.names]


def summarise(metrics: pd.DataFrame, samples: int, confidence: float) -> dict[str, Summary]:
    """Summarise the metrics table of one split: `map` and `mrr` to their Summary."""
    return {
        name: summarise_matrix(
            metrics.pivot(index="seed", columns="question_id", values=column).to_numpy(),
            samples,
            confidence,
        )
        for name, column in MEASURES.items()
    }


def summarise_matrix(values: np.ndarray, samples: int, confidence: float) -> Summary:
    """Summarise values [seeds, questions] by a bootstrap over both axes.

    The draws come from a fixed seed, so the same values give the same interval.
    """
    seeds, questions = values.shape
    generator = np.random.default_rng(0)
    seed_weights = generator.multinomial(seeds, np.full(seeds, 1 / seeds), samples) / seeds
    question_weights = (
        generator.multinomial(questions, np.full(questions, 1 / questions), samples) / questions
    )
    means = np.einsum("bs,sq,bq->b", seed_weights, values, question_weights, optimize=True)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    by_seed = values.mean(axis=1)
    sd = float(by_seed.std(ddof=1)) if seeds > 1 else 0.0
    return Summary(float(by_seed.mean()), sd, float(low), float(high))
