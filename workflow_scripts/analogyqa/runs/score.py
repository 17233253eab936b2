"""Run a cell that trains nothing: score it, or fuse the scores of other systems."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analogyqa.cells.cell import shifted_name
from analogyqa.encoders.specs import ENCODERS
from analogyqa.errors import AnalogyQAError
from analogyqa.rankers import PartScores, Ranker, Texts, build_ranker
from analogyqa.rankers.fused import FusedRanker
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import named_by_seed, table_hashes, write_run
from analogyqa.schemas import CORPUS, SCORES, read_table
from analogyqa.training.data import CellJob, load_pairs
from analogyqa.training.scoring import EVALUATED, score_untrained


def score_cell(job: CellJob, folder: str | Path, code: str = "") -> None:
    """Score all seeds of a cell that is not trained; write scores, metrics and run.json.

    `code` is the hash of the code, for the record.
    """
    started = time.perf_counter()
    system = job.system
    is_seeded = system.needs_prototypes or bool(system.encoder and ENCODERS[system.encoder].drawn)
    first = next(iter(job.files.values()))
    hashes: dict[int, dict[str, str]] = {}
    scores: list[pd.DataFrame] = []
    for seed, tables in job.files.items():
        hashes[seed] = table_hashes(tables)
        if scores and tables == first and not is_seeded:
            scores.append(scores[0].assign(seed=seed))
        elif system.ranker_spec.reads == "text":
            scored = score_text(tables.corpus, job.types, build_ranker(system), job.lowercase)
            scores.append(scored.assign(seed=seed))
        else:
            scores.append(score_untrained(job.load(seed), system, seed))
    write_run(job, named_by_seed(hashes), scores, folder, started, code=code)


def score_text(
    corpus_path: str, types: Sequence[str] | None, ranker: Ranker, lowercase: bool
) -> pd.DataFrame:
    """Score dev and test as `score_texts` does, by the words of all candidates of the corpus."""
    corpus = read_table(corpus_path, CORPUS)
    pairs = pd.concat(load_pairs(corpus, types, EVALUATED, corpus_path).values())
    return score_texts(pairs, corpus["candidate"].unique().tolist(), ranker, lowercase)


def score_texts(
    pairs: pd.DataFrame, collection: Sequence[str], ranker: Ranker, lowercase: bool
) -> pd.DataFrame:
    """Score pairs by their words, as counted in a collection; return SCORES without the seed."""
    questions, candidates = pairs["question"].tolist(), pairs["candidate"].tolist()
    scores, best_prototype = ranker.scores(Texts(questions, candidates, collection, lowercase))
    frame = pairs.assign(score=scores, best_prototype=best_prototype)
    return frame[[name for name in SCORES.names if name != "seed"]]


_PAIR = ["split", "question_id", "candidate_id", "label"]


def fuse_cell(job: CellJob, parts: dict[str, Path], folder: str | Path, code: str = "") -> None:
    """Fuse the scores of a cell's parts for all seeds; write scores, metrics and run.json.

    `parts` has the folder of the run of each part, by the name that `Cell.parts` has for it. The
    only table of the cell is the corpus. `code` is the hash of the code, for the record.

    Raises AnalogyQAError when the parts rank different pairs or lack a seed.
    """
    started = time.perf_counter()
    files = {name: path / "scores.parquet" for name, path in parts.items()}
    records = {name: json.loads((path / "run.json").read_text()) for name, path in parts.items()}
    tables = {name: read_table(path, SCORES) for name, path in files.items()}
    fused, weights, seeds = [], {}, list(job.files)
    shifted = [(name, shift) for name, shifts in job.system.parts.items() for shift in shifts]
    for index, seed in enumerate(seeds):
        runs = []
        for name, shift in shifted:
            part = shifted_name(name, shift)
            if shift and part in tables:  # a cell of its own, whose seeds have other partitions
                runs.append((part, records[part]["seeds"][index]))
            else:
                runs.append((name, seeds[(index + shift) % len(seeds)]))
        pairs = _side_by_side(runs, tables, files)
        ranker: FusedRanker = job.system.ranker_spec.load()(job.system.ranker)
        ranker.fit(_part_scores(pairs.loc["dev"]))
        weights[str(seed)] = [[*run, w] for run, w in zip(runs, ranker.weights, strict=True)]
        for split in EVALUATED:
            split_pairs = pairs.loc[[split]]
            scores, best_prototype = ranker.scores(_part_scores(split_pairs))
            frame = split_pairs.index.to_frame(index=False)
            frame = frame.assign(seed=seed, score=scores, best_prototype=best_prototype)
            fused.append(frame[SCORES.names])
    job = job._replace(sources=next(iter(records.values()))["sources"])  # those of all parts
    corpora = {seed: {"corpus": sha256(at.corpus)} for seed, at in job.files.items()}
    has_partitions = len({at.corpus for at in job.files.values()}) > 1
    inputs = named_by_seed(corpora) if has_partitions else corpora[seeds[0]]
    inputs |= {f"scores of {name}": sha256(path) for name, path in files.items()}
    stores = {
        f"{kind} of {name}": store
        for name, record in records.items()
        for kind, store in record["stores"].items()
    }
    used = {"stores": stores, "weights": weights, "code": code}
    write_run(job, inputs, fused, folder, started, **used)


def _side_by_side(
    runs: Sequence[tuple[str, int]], tables: dict[str, pd.DataFrame], files: dict[str, Path]
) -> pd.DataFrame:
    """Return the scores of runs (system, seed): a row for each pair, a column for each run."""
    columns = []
    for name, seed in runs:
        scores = tables[name][tables[name]["seed"] == seed]
        columns.append(scores.astype(dict.fromkeys(_PAIR[:-1], str)).set_index(_PAIR)["score"])
    pairs = pd.concat(columns, axis=1, keys=range(len(runs)))
    if missing := [run for run, lacks in zip(runs, pairs.isna().any(), strict=True) if lacks]:
        name, seed = missing[0]
        raise AnalogyQAError(
            f"{files[name]}: some pairs that other parts score are missing for seed {seed}. "
            "Delete its folder, then run the same command again to rebuild it."
        )
    return pairs


def _part_scores(pairs: pd.DataFrame) -> PartScores:
    question_numbers, _ = pd.factorize(pairs.index.get_level_values("question_id"))
    labels = pairs.index.get_level_values("label").to_numpy()
    return PartScores(pairs.to_numpy(), question_numbers, labels)
