"""The record of a run: what was computed, from which inputs, where, and by which code."""

import importlib.metadata
import os
import platform
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analogyqa.corpora.question_types import select_subset
from analogyqa.examples.files import CellFiles
from analogyqa.files import write_json
from analogyqa.measures import measure_run
from analogyqa.plan import Cell
from analogyqa.runs.commit import code_commit
from analogyqa.runs.depends_on import content_hash, sha256
from analogyqa.schemas import CORPUS, METRICS, SCORES, read_table, write_table
from analogyqa.settings.systems import System
from analogyqa.training.scoring import EVALUATED
from analogyqa.vectors.store import store_record

PACKAGES = ("torch", "numpy", "pandas", "pyarrow", "ir_measures", "fasttext", "gensim", "snakemake")


def environment() -> dict:
    """Return what a record says about the machine: versions, commit, Slurm job, and peak memory.

    Memory is in MB and that of this process; None for a GPU that was not used.
    """
    torch = sys.modules.get("torch")
    gpu_memory = None
    if torch and torch.cuda.is_initialized():
        gpu_memory = torch.cuda.max_memory_allocated() >> 20
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "versions": versions,
        "platform": platform.platform(),
        "git_commit": code_commit(),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "peak_gpu_memory_mb": gpu_memory,
    }


def run_record(
    cell: dict,
    settings: dict,
    seeds: list[int],
    inputs: dict[str, str],
    scores: str | Path,
    **unhashed,
) -> dict:
    """Return the record of a cell.

    Args:
        cell: The cell, as `Cell.record` returns it.
        settings: The resolved configuration that the scores depend on.
        seeds: The seeds that were run.
        inputs: The sha256 of each input, by name.
        scores: The file of scores, whose bytes are part of the content hash.
        unhashed: Further entries, such as device and wall_seconds, that are not part of it.
    """
    content = {
        "cell": cell,
        "settings": settings,
        "seeds": seeds,
        "inputs": inputs,
        "scores": sha256(scores),
    }
    return {**content, "content_hash": content_hash(content), **environment(), **unhashed}


def settings_record(
    system: System,
    hyperparameters: str | None,
    sources: dict[str, str],
    lowercase: bool,
    files: dict[int, CellFiles],
) -> dict:
    """Return the settings that the scores of a cell depend on.

    Args:
        system: The system, with the overrides of the cell.
        hyperparameters: The name of its hyperparameters, None if it is not trained.
        sources: Where the pairs of each split come from.
        lowercase: Whether words are lower-cased.
        files: The tables of each seed.
    """
    first = next(iter(files.values()))
    stores = {"vectors": first.vectors, "sentence_vectors": first.sentence_vectors}
    return {
        "system": system.scientific(),
        "p": system.p if system.needs_prototypes else None,
        "training": system.training.model_dump() if hyperparameters else None,
        "hyperparameters": hyperparameters,
        "sources": sources,
        "lowercase": lowercase,
        **{kind: store_record(path) if path else None for kind, path in stores.items()},
    }


def write_run(
    cell: Cell,
    types: Sequence[str] | None,
    settings: dict,
    files: dict[int, CellFiles],
    inputs: dict[str, str],
    scores: Sequence[pd.DataFrame],
    folder: str | Path,
    device: str,
    machines: dict[str, list[dict]],
    seconds: float,
    **unhashed,
) -> None:
    """Write the scores, metrics and record of a run.

    Args:
        cell: The cell.
        types: The question types of its subset, None for `all`.
        settings, inputs, unhashed: As in `run_record`.
        files: The tables of each seed.
        scores: The scores of each seed, tables of schema SCORES.
        folder: The folder of the run.
        device: The device that was used.
        machines: The machines that trained each seed.
        seconds: The seconds that the run took.
    """
    path = Path(folder, "scores.parquet")
    all_scores = pd.concat(scores, ignore_index=True)
    write_table(all_scores, SCORES, path)
    corpus = read_table(next(iter(files.values())).corpus, CORPUS)
    metrics = measure_run(all_scores, _groups(corpus, types), _unanswerable(corpus, types))
    write_table(metrics, METRICS, Path(folder, "metrics.parquet"))
    record = run_record(
        cell.record(),
        settings,
        list(files),
        inputs,
        path,
        device=device,
        machines=machines,
        wall_seconds=round(seconds, 3),
        **unhashed,
    )
    write_json(Path(folder, "run.json"), record)


def _groups(corpus: pd.DataFrame, types: Sequence[str] | None) -> dict[str, dict[str, str]]:
    """Return the type of every question that must have been ranked: by split, then question_id."""
    pairs = {split: select_subset(corpus, split, types) for split in EVALUATED}
    return {
        split: dict(zip(table["question_id"], table["question_type"], strict=True))
        for split, table in pairs.items()
    }


def _unanswerable(corpus: pd.DataFrame, types: Sequence[str] | None) -> dict[str, list[str]]:
    """Return the questions without a correct candidate, by split. Only the subset `all` has any."""
    if types is not None:
        return {}
    answerable = corpus.groupby(["split", "question_id"], observed=True)["label"].any()
    return {
        split: answerable[split][~answerable[split]].index.astype(str).tolist()
        for split in EVALUATED
    }
