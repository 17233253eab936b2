"""Run a cell that is not trained."""

import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analogyqa.encoders.specs import ENCODERS
from analogyqa.rankers import Ranker, Texts, build_ranker
from analogyqa.runs.record import named_by_seed, table_hashes, write_run
from analogyqa.schemas import CORPUS, SCORES, read_table
from analogyqa.settings.systems import System
from analogyqa.training.files import CellJob, load_pairs
from analogyqa.training.scoring import EVALUATED, score_untrained


def score_cell(job: CellJob, folder: str | Path) -> None:
    """Score all seeds of a cell that is not trained; write scores, metrics and run.json."""
    started = time.perf_counter()
    system = job.system
    first = next(iter(job.files.values()))
    hashes: dict[int, dict[str, str]] = {}
    scores: list[pd.DataFrame] = []
    for seed, tables in job.files.items():
        hashes[seed] = table_hashes(tables)
        if scores and tables == first and not _depends_on_seed(system):
            scores.append(scores[0].assign(seed=seed))
        elif system.ranker_spec.reads == "text":
            scored = score_text(tables.corpus, job.types, build_ranker(system), job.lowercase)
            scores.append(scored.assign(seed=seed))
        else:
            scores.append(score_untrained(job.load(seed), system, seed))
    seconds = time.perf_counter() - started
    write_run(job, named_by_seed(hashes), scores, folder, seconds)


def _depends_on_seed(system: System) -> bool:
    drawn = system.encoder is not None and ENCODERS[system.encoder].drawn
    return drawn or system.needs_prototypes


def score_text(
    corpus_path: str, types: Sequence[str] | None, ranker: Ranker, lowercase: bool
) -> pd.DataFrame:
    """Score dev and test by their words, which are counted in all candidates of the corpus.

    Returns a table of schema SCORES without the seed.
    """
    corpus = read_table(corpus_path, CORPUS)
    pairs = pd.concat(load_pairs(corpus, types, EVALUATED, corpus_path).values())
    return score_texts(pairs, corpus["candidate"].unique().tolist(), ranker, lowercase)


def score_texts(
    pairs: pd.DataFrame, collection: Sequence[str], ranker: Ranker, lowercase: bool
) -> pd.DataFrame:
    """Score pairs by their words, which are counted in a collection of sentences.

    Returns a table of schema SCORES without the seed.
    """
    questions, candidates = pairs["question"].tolist(), pairs["candidate"].tolist()
    scores, best_prototype = ranker.scores(Texts(questions, candidates, collection, lowercase))
    frame = pairs.assign(score=scores, best_prototype=best_prototype)
    return frame[[name for name in SCORES.names if name != "seed"]]
