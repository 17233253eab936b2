"""Find the prototype that decided each test question of a cell that ranks by analogy."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from analogyqa.schemas import CORPUS, DECISIONS, PROTOTYPES, SCORES, read_table, write_table

_QUESTION = ["seed", "question_id"]
_PAIR = ["question_id", "candidate_id"]


def write_decisions(
    scores: str | Path, corpus: str | Path, prototypes: Mapping[int, str], path: str | Path
) -> None:
    """Write a table of schema DECISIONS, from the files of a cell; `prototypes` are by seed."""
    decisions = find_decisions(
        read_table(scores, SCORES),
        read_table(corpus, CORPUS),
        {seed: read_table(file, PROTOTYPES) for seed, file in prototypes.items()},
    )
    write_table(decisions, DECISIONS, path)


def find_decisions(
    scores: pd.DataFrame, corpus: pd.DataFrame, prototypes: Mapping[int, pd.DataFrame]
) -> pd.DataFrame:
    """Return what decided each test question in each seed: schema DECISIONS.

    Candidates with equal scores are ranked as in the measures, by descending id. The tables have
    the schemas SCORES, CORPUS and, for each seed, PROTOTYPES.
    """
    ids = dict.fromkeys(("split", *_PAIR), str)
    ranked = scores.astype(ids | {"score": float})
    ranked = ranked[ranked["split"] == "test"].sort_values(
        [*_QUESTION, "score", "candidate_id"], ascending=[True, True, False, False]
    )
    plain = corpus.astype(ids | {"question_type": object})
    texts = plain[["split", *_PAIR, "question", "candidate", "question_type"]]
    ranked = ranked.merge(texts[texts["split"] == "test"].drop(columns="split"), on=_PAIR)
    first = ranked.drop_duplicates(_QUESTION)
    correct, wrong = (
        ranked[ranked["label"] == label].drop_duplicates(_QUESTION).set_index(_QUESTION)
        for label in (1, 0)
    )
    about = pd.DataFrame(
        {"correct": correct["candidate"], "margin": correct["score"] - wrong["score"]}
    )
    train = texts.loc[texts["split"] == "train", [*_PAIR, "question", "candidate"]]
    used = pd.concat([table.assign(seed=seed) for seed, table in prototypes.items()])
    used = used.astype({"question_type": object}).merge(train, on=_PAIR)
    used = used.rename(columns={name: f"prototype_{name}" for name in train})
    used = used.rename(columns={"rank": "best_prototype"})
    decisions = first.merge(about, left_on=_QUESTION, right_index=True).merge(
        used, on=["seed", "question_type", "best_prototype"]
    )
    return decisions[DECISIONS.names]
