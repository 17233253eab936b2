"""Run a cell that is trained."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from threadpoolctl import threadpool_limits

from analogyqa.encoders.specs import ENCODERS
from analogyqa.examples.data import CellData
from analogyqa.examples.files import CellFiles, load_cell
from analogyqa.examples.specs import EXAMPLES
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.plan import Cell
from analogyqa.plan.configured import Configured
from analogyqa.plugin import Plugin
from analogyqa.runs.depends_on import code_hash, content_hash, sha256
from analogyqa.runs.record import settings_record, write_run
from analogyqa.runs.side_by_side import side_by_side
from analogyqa.schemas import HISTORY, write_table
from analogyqa.settings.systems import System
from analogyqa.training.specs import OPTIMISERS

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from analogyqa.training.loop import TrainedSeed


def system_modules(system: System) -> list[str]:
    """Return the library modules that a system loads by name."""
    entries: list[Plugin] = [system.ranker_spec]
    if system.ranker_spec.needs_encoder:
        entries.append(ENCODERS[system.encoder or "mean"])
    if system.trained:
        objective = OBJECTIVES[system.training.loss]
        entries += [objective, EXAMPLES[objective.draws], OPTIMISERS[system.training.optimiser]]
    own = [entry.module for entry in entries]
    first = system_modules(system.starts_from) if system.starts_from else []
    return list(dict.fromkeys(own + first))


def table_hashes(files: CellFiles) -> dict[str, str]:
    """Return the sha256 of each table of a seed, by name."""
    return {name: sha256(path) for name, path in files.by_role().items()}


def checkpoint_path(
    checkpoints: str | Path,
    types: Sequence[str] | None,
    system: System,
    seed: int,
    hashes: dict[str, str],
    lowercase: bool,
) -> Path:
    """Return the checkpoint of a training run, named by the hash of everything it depends on.

    Args:
        checkpoints: The folder of all checkpoints.
        types, system, lowercase: As in `train_cell`.
        seed: The seed of the training run.
        hashes: The hashes of its tables, as `table_hashes` returns them.
    """
    import torch

    depends_on = {
        # Not the weights that score: a checkpoint has both the last weights and their averages.
        "system": {key: own for key, own in system.scientific().items() if key != "scores_with"},
        "training": system.training.model_dump(),
        "seed": seed,
        "types": types,
        "p": system.p,
        "inputs": hashes,
        "lowercase": lowercase,
        # Not the device: a training run may resume on another one. Its state lists its machines.
        "torch": torch.__version__.partition("+")[0],
        "code": code_hash("analogyqa.training.loop", *system_modules(system)),
    }
    return Path(checkpoints, f"{content_hash(depends_on)[:32]}.pt")


def train_cell(
    cell: Cell,
    types: Sequence[str] | None,
    system: System,
    hyperparameters: str,
    files: dict[int, CellFiles],
    sources: dict[str, str],
    lowercase: bool,
    device: str,
    checkpoints: str | Path,
    folder: str | Path,
    threads: int = 1,
    on_epoch: Callable[[list[list]], None] = lambda history: None,
    configured: Configured | None = None,
) -> None:
    """Train all seeds of a cell; write history.parquet, scores, metrics and run.json.

    Args:
        cell: The cell.
        types: The question types of its subset, None for `all`.
        system: The system, with the overrides and hyperparameters of the cell.
        hyperparameters: The name of the hyperparameters, for the record.
        files: The tables of each seed.
        sources: Where the pairs of each split come from, for the record.
        lowercase: Whether words are lower-cased.
        device: auto, cpu or cuda.
        checkpoints: The folder of checkpoints. A finished training run is not repeated, even if
            another cell made it.
        folder: The folder of the run.
        threads: The maximum number of seeds that train in parallel, each in one thread.
        on_epoch: Called with the history of a seed after each epoch; see `train_seed`.
        configured: The configuration that the scores depend on, for the record; see
            `plan.configured`.
    """
    from analogyqa.training.devices import device_for

    started = time.perf_counter()
    chosen_device = device_for(device)
    settings = settings_record(system, hyperparameters, sources, lowercase, files)
    inputs, calls = {}, []
    for seed, tables in files.items():
        hashes = table_hashes(tables)
        inputs.update({f"{name}, seed {seed}": value for name, value in hashes.items()})
        checkpoint = checkpoint_path(checkpoints, types, system, seed, hashes, lowercase)
        calls.append(
            (cell.label, types, system, seed, tables, lowercase, chosen_device, checkpoint)
        )
    trained = side_by_side(_train_seed, calls, threads, on_epoch)
    scores, histories, machines = zip(*trained, strict=True)
    history = pd.concat(histories, ignore_index=True)
    write_table(history, HISTORY, Path(folder, "history.parquet"))
    # The epochs of an interrupted earlier job count too.
    epoch_seconds = history.loc[history["measure"] == "seconds", "value"].sum()
    seconds = max(time.perf_counter() - started, epoch_seconds)
    machines_by_seed = dict(zip(map(str, files), machines, strict=True))
    write_run(
        *(cell, types, settings, files, inputs, scores, folder, str(chosen_device)),
        machines=machines_by_seed,
        seconds=seconds,
        configured=configured,
    )


def _train_seed(
    label: str,
    types: Sequence[str] | None,
    system: System,
    seed: int,
    files: CellFiles,
    lowercase: bool,
    device: "torch.device",
    checkpoint: Path,
    on_epoch: Callable[[list[list]], None],
) -> "TrainedSeed":
    import torch

    from analogyqa.training.devices import set_numerics
    from analogyqa.training.loop import train_seed

    set_numerics(device)
    torch.set_num_threads(1)
    with threadpool_limits(1):  # for NumPy: with more threads, the last bits differ
        start = None
        if system.starts_from and not checkpoint.exists():
            start = _first_weights(
                label, system.starts_from, seed, files, lowercase, device, checkpoint.parent
            )
        data = training_data(files, types, system, lowercase)
        name = f"{label} seed {seed}"
        return train_seed(data, system, seed, device, checkpoint, name, on_epoch, start)


def training_data(
    files: CellFiles, types: Sequence[str] | None, system: System, lowercase: bool
) -> CellData:
    """Read the tables of one seed of a trained cell; the arguments are those of `train_cell`."""
    return load_cell(
        *(files, types, system.p, lowercase),
        trains=True,
        answers=system.prototype_answers,
        encoder=system.encoder,
    )


def _first_weights(
    label: str,
    system: System,
    seed: int,
    files: CellFiles,
    lowercase: bool,
    device: "torch.device",
    checkpoints: Path,
) -> dict[str, "Tensor"]:
    """Train one seed of a system on all questions; return the weights of its encoder."""
    from analogyqa.training.checkpoints import encoder_weights, load_state
    from analogyqa.training.loop import train_seed

    tables = files.without_prototypes()
    path = checkpoint_path(checkpoints, None, system, seed, table_hashes(tables), lowercase)
    data = training_data(tables, None, system, lowercase)
    train_seed(data, system, seed, device, path, f"{label} seed {seed}, first on all questions")
    return encoder_weights(load_state(path, device), system.scoring_weights)
