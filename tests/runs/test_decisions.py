"""Decisions: the prototype of the candidate that is ranked first."""

import pandas as pd
import pytest

from analogyqa.runs.finished import find_decisions
from analogyqa.schemas import CORPUS, DECISIONS, PROTOTYPES, SCORES, write_table

PAIRS = [
    ("train", "t0", "who was it ?", "t0-0", "it was Anna", 1, "who"),
    ("train", "t1", "who sang ?", "t1-0", "Ben did", 1, "who"),
    ("train", "t2", "where is it ?", "t2-0", "in Oslo", 1, "where"),
    ("test", "q0", "who wrote ?", "q0-0", "Carl wrote", 1, "who"),
    ("test", "q0", "who wrote ?", "q0-1", "nobody", 0, "who"),
    ("test", "q0", "who wrote ?", "q0-2", "someone", 0, "who"),
    ("test", "q1", "where was he ?", "q1-0", "at home", 1, "where"),
]
CORPUS_TABLE = pd.DataFrame(
    PAIRS,
    columns=[
        *("split", "question_id", "question", "candidate_id", "candidate", "label"),
        "question_type",
    ],
)[CORPUS.names]


def prototypes(*rows):
    """Return a table of prototypes: rank within the type, type and question id."""
    return pd.DataFrame(
        [(rank, name, question_id, f"{question_id}-0") for rank, name, question_id in rows],
        columns=PROTOTYPES.names,
    )


def scores(seed, *rows):
    """Return scores of test candidates: id, label, score and best prototype."""
    return pd.DataFrame(
        [(seed, "test", name[:2], name, label, score, best) for name, label, score, best in rows],
        columns=SCORES.names,
    )


def test_the_prototype_of_the_first_candidate_decides(tmp_path):
    table = pd.concat([
        scores(0, ("q0-0", 1, 0.5, 1), ("q0-1", 0, 0.25, 0), ("q0-2", 0, -0.5, 0),
               ("q1-0", 1, 0.9, 0)),
        # Equal scores are ranked by descending id.
        scores(1, ("q0-0", 1, 0.125, 0), ("q0-1", 0, 0.5, 0), ("q0-2", 0, 0.5, 1),
               ("q1-0", 1, 0.1, 0)),
    ])  # fmt: skip
    first = prototypes((0, "who", "t0"), (1, "who", "t1"), (0, "where", "t2"))
    second = prototypes((0, "who", "t1"), (1, "who", "t0"), (0, "where", "t2"))
    decisions = find_decisions(table, CORPUS_TABLE, {0: first, 1: second})
    write_table(decisions, DECISIONS, tmp_path / "decisions.parquet")
    rows = decisions.set_index(["seed", "question_id"])
    assert rows["candidate_id"].to_dict() == {
        (0, "q0"): "q0-0", (0, "q1"): "q1-0", (1, "q0"): "q0-2", (1, "q1"): "q1-0",
    }  # fmt: skip
    assert rows["label"].tolist() == [1, 1, 0, 1]
    assert rows["prototype_question_id"].tolist() == ["t1", "t2", "t0", "t2"]
    assert rows["margin"].tolist() == pytest.approx(
        [0.25, float("nan"), -0.375, float("nan")], nan_ok=True
    )
    wrong_decision = rows.loc[1, "q0"]
    assert (wrong_decision["candidate"], wrong_decision["correct"]) == ("someone", "Carl wrote")
    assert wrong_decision["prototype_candidate"] == "it was Anna"
