"""Score a cell that is not trained, all its seeds."""

import time
from pathlib import Path

import pandas as pd

from analogyqa.analogies.quadruples import subset_of
from analogyqa.examples.files import CellFiles, load_cell, require_questions
from analogyqa.plan import Cell
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import settings_record, write_run
from analogyqa.schemas import CORPUS, SCORES, read_table
from analogyqa.settings.systems import Model, Training
from analogyqa.training.scoring import EVALUATED, score_untrained


def score_cell(
    cell: Cell,
    model: Model,
    training: Training,
    files: dict[int, CellFiles],
    sources: dict[str, str],
    lowercase: bool,
    folder: str | Path,
) -> None:
    """Score all seeds of a cell that is not trained; write its scores, metrics and run.json."""
    started = time.perf_counter()
    inputs, scores = {}, []
    for seed, tables in files.items():
        for name, path in tables.named().items():
            inputs[f"{name}, seed {seed}"] = sha256(path)
        if model.ranker == "bm25":
            corpus = read_table(tables.corpus, CORPUS)
            pairs = {split: subset_of(corpus, split, cell.subset) for split in EVALUATED}
            require_questions(pairs, cell.subset, tables.corpus)
            scores.append(score_bm25(corpus, cell.subset, lowercase).assign(seed=seed))
        else:
            data = load_cell(tables, cell.subset, cell.p, lowercase)
            scores.append(score_untrained(data, model, training, seed))
    settings = settings_record(model, None, None, sources, lowercase, files)
    seconds = time.perf_counter() - started
    write_run(cell, settings, files, inputs, scores, folder, "cpu", {}, seconds)


def score_bm25(corpus: pd.DataFrame, subset: str, lowercase: bool) -> pd.DataFrame:
    """Score dev and test by BM25 over all candidates of a corpus: schema SCORES, less the seed."""
    from analogyqa.rankers.bm25 import bm25_scores

    pairs = pd.concat([subset_of(corpus, split, subset) for split in EVALUATED])
    scores = bm25_scores(
        pairs["question"].tolist(),
        pairs["candidate"].tolist(),
        corpus["candidate"].unique().tolist(),
        lowercase,
    )
    frame = pairs.assign(score=scores, best_prototype=-1)
    return frame[[name for name in SCORES.names if name != "seed"]]
