"""Run a cell, all its seeds, and record what was computed from what, where and by which code."""

import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from threadpoolctl import threadpool_limits

from analogyqa.cells import CellFiles, load_cell, require_questions
from analogyqa.checkpoints import write_json
from analogyqa.config import Cell, Model, Training
from analogyqa.errors import AnalogyQAError
from analogyqa.metrics import measure_run
from analogyqa.quadruples import subset_of
from analogyqa.schemas import CORPUS, HISTORY, METRICS, SCORES, read_table, write_table
from analogyqa.side_by_side import side_by_side
from analogyqa.vectors import store_record

if TYPE_CHECKING:
    import torch

    from analogyqa.training import Trained

_TRAINING_CODE = (
    "adam",
    "cells",
    "devices",
    "losses",
    "metrics",
    "quadruples",
    "ranking",
    "scoring",
    "text",
    "training",
)
PACKAGES = ("torch", "numpy", "pandas", "pyarrow", "ir_measures", "fasttext", "snakemake")


def sha256(path: str | Path) -> str:
    """Return the sha256 of a file as hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(value: object) -> str:
    """Return the sha256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def training_code_hash() -> str:
    """Return the hash of the code that a trained encoder and its scores depend on."""
    library = Path(__file__).parent
    files = [library / f"{name}.py" for name in _TRAINING_CODE]
    files += sorted((library / "encoders").glob("*.py"))
    return content_hash([sha256(file) for file in files])


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


def train_cell(
    cell: Cell,
    model: Model,
    training: Training,
    setting: str,
    files: dict[int, CellFiles],
    sources: dict[str, str],
    lowercase: bool,
    device: str,
    checkpoints: str | Path,
    folder: str | Path,
    threads: int = 1,
    on_epoch: Callable[[list[list]], None] = lambda history: None,
) -> None:
    """Train all seeds of a cell; write its history.parquet, scores, metrics and run.json.

    Args:
        cell: what is run.
        model, training, setting: how; `setting` is the name of `training`.
        files: seed to its tables.
        sources: split to the name of the file that its pairs come from, for the record.
        lowercase: as the vocabulary was made.
        device: auto, cpu or cuda.
        checkpoints: a folder in which each training has a file named by the hash of all that it
            depends on. A training that was done before, under whatever name, is not done again.
        folder: of the run.
        threads: the most seeds that are trained at a time, each in one thread.
        on_epoch: called with the history of a seed as its training goes on; see `train_seed`.
    """
    import torch

    from analogyqa.devices import device_for

    started = time.perf_counter()
    chosen_device = device_for(device)
    settings = _settings(model, training, setting, sources, lowercase, files)
    inputs, calls = {}, []
    for seed, tables in files.items():
        hashes = {name: sha256(path) for name, path in tables.named().items()}
        inputs.update({f"{name}, seed {seed}": value for name, value in hashes.items()})
        depends_on = {
            "model": model.scientific(),
            "training": training.model_dump(),
            "seed": seed,
            "subset": cell.subset,
            "p": cell.p,
            "inputs": hashes,
            "lowercase": lowercase,
            # Not the device: a training may go on on another. What it ran on is in its state.
            "torch": torch.__version__.partition("+")[0],
            "code": training_code_hash(),
        }
        checkpoint = Path(checkpoints, f"{content_hash(depends_on)[:32]}.pt")
        calls.append((cell, model, training, seed, tables, lowercase, chosen_device, checkpoint))
    trained = side_by_side(_train_seed, calls, threads, on_epoch)
    scores, histories, machines = zip(*trained, strict=True)
    history = pd.concat(histories, ignore_index=True)
    write_table(history, HISTORY, Path(folder, "history.parquet"))
    # Epochs that an earlier job did count as well.
    seconds = max(time.perf_counter() - started, history["seconds"].sum())
    ran_on = {str(seed): own for seed, own in zip(files, machines, strict=True)}
    _write_run(cell, settings, files, inputs, scores, folder, str(chosen_device), ran_on, seconds)


def _train_seed(
    cell: Cell,
    model: Model,
    training: Training,
    seed: int,
    files: CellFiles,
    lowercase: bool,
    device: "torch.device",
    checkpoint: Path,
    on_epoch: Callable[[list[list]], None],
) -> "Trained":
    import torch

    from analogyqa.devices import set_numerics
    from analogyqa.training import train_seed

    set_numerics(device)
    data = load_cell(files, cell.subset, cell.p, lowercase)
    name = f"{cell.model} {cell.dataset} {cell.subset} p{cell.p} seed {seed}"
    torch.set_num_threads(1)
    with threadpool_limits(1):  # of NumPy; with more the last bits differ
        return train_seed(data, model, training, seed, device, checkpoint, name, on_epoch)


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
    from analogyqa.scoring import EVALUATED, score_bm25, score_untrained

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
    settings = _settings(model, None, None, sources, lowercase, files)
    seconds = time.perf_counter() - started
    _write_run(cell, settings, files, inputs, scores, folder, "cpu", {}, seconds)


def _settings(
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


def _write_run(
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


def choose_setting(histories: dict[str, str], subset: str, path: str | Path) -> None:
    """Choose the setting with the highest mean over seeds of the best dev MRR and record it.

    Args:
        histories: setting to its history.parquet; of equal settings the first wins.
        subset: on which the settings were tried, for the record.
        path: the JSON file to write: chosen, metric, subset, dev (setting to mean).
    """
    dev = {
        setting: float(read_table(file, HISTORY).groupby("seed")["dev_mrr"].max().mean())
        for setting, file in histories.items()
    }
    chosen = max(dev, key=dev.__getitem__)
    write_json(path, {"chosen": chosen, "metric": "mrr", "subset": subset, "dev": dev})


def chosen_setting(path: str | Path) -> str:
    """Return the setting that `choose_setting` recorded.

    Raises AnalogyQAError for a file that is not such a record.
    """
    try:
        return str(json.loads(Path(path).read_text(encoding="utf-8"))["chosen"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise AnalogyQAError(
            f"{path}: no record of a chosen setting ({error!r}). "
            "Delete it, then run the same command again to make it anew."
        ) from error
