"""Train and score a cell, all its seeds."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from threadpoolctl import threadpool_limits

from analogyqa.examples.files import CellFiles, load_cell
from analogyqa.plan import Cell
from analogyqa.registry import ENCODERS
from analogyqa.runs.depends_on import code_hash, content_hash, sha256
from analogyqa.runs.record import settings_record, write_run
from analogyqa.runs.side_by_side import side_by_side
from analogyqa.schemas import HISTORY, write_table
from analogyqa.settings.systems import Model, Training

if TYPE_CHECKING:
    import torch

    from analogyqa.training.loop import Trained


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

    from analogyqa.training.devices import device_for

    started = time.perf_counter()
    chosen_device = device_for(device)
    settings = settings_record(model, training, setting, sources, lowercase, files)
    code = code_hash("analogyqa.training.loop", ENCODERS[model.encoder].module)
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
            "code": code,
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
    write_run(cell, settings, files, inputs, scores, folder, str(chosen_device), ran_on, seconds)


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

    from analogyqa.training.devices import set_numerics
    from analogyqa.training.loop import train_seed

    set_numerics(device)
    data = load_cell(files, cell.subset, cell.p, lowercase)
    name = f"{cell.model} {cell.dataset} {cell.subset} p{cell.p} seed {seed}"
    torch.set_num_threads(1)
    with threadpool_limits(1):  # of NumPy; with more the last bits differ
        return train_seed(data, model, training, seed, device, checkpoint, name, on_epoch)
