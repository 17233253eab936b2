"""The record of a run: what was computed from what, where and by which code."""

import importlib.metadata
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analogyqa.analogies.quadruples import subset_of
from analogyqa.examples.files import CellFiles
from analogyqa.files import write_json
from analogyqa.measures import measure_run
from analogyqa.plan import Cell
from analogyqa.runs.depends_on import content_hash, sha256
from analogyqa.schemas import CORPUS, METRICS, SCORES, read_table, write_table
from analogyqa.settings.systems import Model, Training
from analogyqa.vectors.store import store_record

PACKAGES = ("torch", "numpy", "pandas", "pyarrow", "ir_measures", "fasttext", "snakemake")


def environment() -> dict:
    """Return the machine side of a record: versions, commit, Slurm job, peak memory in MB.

    The memory is that of this process; of a GPU None where it has not used one.
    """
    torch = sys.modules.get("torch")
    on_gpu = torch is not None and torch.cuda.is_initialized()
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "versions": versions,
        "platform": platform.platform(),
        "git_commit": git_commit(),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "peak_gpu_memory_mb": torch.cuda.max_memory_allocated() >> 20 if on_gpu else None,
    }


def git_commit() -> str | None:
    """Return the commit of the code, `-dirty` behind it when files differ, None outside git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def run_record(
    cell: dict, settings: dict, seeds: list[int], inputs: dict[str, str], scores: str | Path, **more
) -> dict:
    """Return the record of one cell.

    Args:
        cell: model, dataset, subset, p.
        settings: the resolved configuration that the scores depend on.
        seeds: as run.
        inputs: name of an input to its sha256.
        scores: the file of scores; its bytes are part of the content hash.
        more: further entries, such as device and wall_seconds, that are not part of it.
    """
    content = {
        "cell": cell,
        "settings": settings,
        "seeds": seeds,
        "inputs": inputs,
        "scores": sha256(scores),
    }
    return {**content, "content_hash": content_hash(content), **environment(), **more}


def settings_record(
    model: Model,
    training: Training | None,
    setting: str | None,
    sources: dict[str, str],
    lowercase: bool,
    files: dict[int, CellFiles],
) -> dict:
    first = next(iter(files.values()))
    stores = {"vectors": first.vectors, "sentence_vectors": first.sentence_vectors}
    return {
        "model": model.scientific(),
        "training": training.model_dump() if training else None,
        "setting": setting,
        "sources": sources,
        "lowercase": lowercase,
        **{kind: store_record(path) if path else None for kind, path in stores.items()},
    }


def write_run(
    cell: Cell,
    settings: dict,
    files: dict[int, CellFiles],
    inputs: dict[str, str],
    scores: Sequence[pd.DataFrame],
    folder: str | Path,
    device: str,
    machines: dict[str, list[dict]],
    seconds: float,
) -> None:
    path = Path(folder, "scores.parquet")
    all_scores = pd.concat(scores, ignore_index=True)
    write_table(all_scores, SCORES, path)
    corpus = read_table(next(iter(files.values())).corpus, CORPUS)
    metrics = measure_run(all_scores, _question_types(corpus, cell.subset))
    write_table(metrics, METRICS, Path(folder, "metrics.parquet"))
    record = run_record(
        cell._asdict(),
        settings,
        list(files),
        inputs,
        path,
        device=device,
        machines=machines,
        wall_seconds=round(seconds, 3),
    )
    write_json(Path(folder, "run.json"), record)


def _question_types(corpus: pd.DataFrame, subset: str) -> dict[str, dict[str, str]]:
    """Return split to question_id to type for all questions that must have been ranked."""
    pairs = {split: subset_of(corpus, split, subset) for split in ("dev", "test")}
    return {
        split: dict(zip(table["question_id"], table["question_type"], strict=True))
        for split, table in pairs.items()
    }
