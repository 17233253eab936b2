"""Run a cell that is not trained."""

import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analogyqa.encoders.specs import ENCODERS
from analogyqa.examples.files import CellFiles, load_cell, load_pairs
from analogyqa.plan import Cell
from analogyqa.plan.configured import Configured
from analogyqa.rankers import Ranker, Texts, build_ranker
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import settings_record, write_run
from analogyqa.schemas import CORPUS, SCORES, read_table
from analogyqa.settings.systems import System
from analogyqa.training.scoring import EVALUATED, score_untrained


def score_cell(
    cell: Cell,
    types: Sequence[str] | None,
    system: System,
    files: dict[int, CellFiles],
    sources: dict[str, str],
    lowercase: bool,
    folder: str | Path,
    configured: Configured | None = None,
) -> None:
    """Score all seeds of a cell that is not trained; write scores, metrics and run.json.

    Args:
        cell: The cell.
        types: The question types of its subset, None for `all`.
        system: The system, with the overrides of the cell.
        files: The tables of each seed.
        sources: Where the pairs of each split come from, for the record.
        lowercase: Whether words are lower-cased.
        folder: The folder of the run.
        configured: The configuration that the scores depend on, for the record; see
            `plan.configured`.
    """
    started = time.perf_counter()
    inputs: dict[str, str] = {}
    first = next(iter(files.values()))
    scores: list[pd.DataFrame] = []
    for seed, tables in files.items():
        for name, path in tables.by_role().items():
            inputs[f"{name}, seed {seed}"] = sha256(path)
        if scores and tables == first and not _depends_on_seed(system):
            scores.append(scores[0].assign(seed=seed))
        elif system.ranker_spec.reads == "text":
            scored = score_text(tables.corpus, types, build_ranker(system), lowercase)
            scores.append(scored.assign(seed=seed))
        else:
            data = load_cell(
                tables,
                types,
                system.p,
                lowercase,
                shortest_word=system.shortest_word,
                fits=system.fitted,
                answers=system.prototype_answers,
            )
            scores.append(score_untrained(data, system, seed))
    settings = settings_record(system, None, sources, lowercase, files)
    seconds = time.perf_counter() - started
    write_run(
        *(cell, types, settings, files, inputs, scores, folder, "cpu", {}, seconds),
        configured=configured,
    )


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
    texts = Texts(
        pairs["question"].tolist(),
        pairs["candidate"].tolist(),
        corpus["candidate"].unique().tolist(),
        lowercase,
    )
    scores, best_prototype = ranker.scores(texts)
    frame = pairs.assign(score=scores, best_prototype=best_prototype)
    return frame[[name for name in SCORES.names if name != "seed"]]
