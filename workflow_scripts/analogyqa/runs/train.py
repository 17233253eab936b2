"""Train and score a cell, all its seeds."""

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
from analogyqa.runs.depends_on import code_hash, content_hash, sha256
from analogyqa.runs.record import settings_record, write_run
from analogyqa.runs.side_by_side import side_by_side
from analogyqa.schemas import HISTORY, write_table
from analogyqa.settings.systems import System
from analogyqa.training.specs import OPTIMISERS

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from analogyqa.training.loop import Trained


def system_modules(system: System) -> list[str]:
    """Return the modules of the library that a system loads by name."""
    entries = [system.ranker_spec]
    entries += [ENCODERS[system.encoder or "mean"]] if entries[0].needs_encoder else []
    if system.trained:
        objective = OBJECTIVES[system.training.loss]
        entries += [objective, EXAMPLES[objective.draws], OPTIMISERS[system.training.optimiser]]
    own = [entry.module for entry in entries]
    first = system_modules(system.starts_from) if system.starts_from else []
    return list(dict.fromkeys(own + first))


def table_hashes(files: CellFiles) -> dict[str, str]:
    """Return the sha256 of the tables of a seed by what they are."""
    return {name: sha256(path) for name, path in files.by_role().items()}


def checkpoint_path(
    checkpoints: str | Path,
    types: Sequence[str] | None,
    system: System,
    seed: int,
    hashes: dict[str, str],
    lowercase: bool,
) -> Path:
    """Return the file of a training, named by the hash of all that it depends on.

    Args:
        checkpoints: the folder of all of them.
        types, system, seed, lowercase: as in `train_cell`.
        hashes: of its tables, as `table_hashes` returns them.
    """
    import torch

    depends_on = {
        # Nor the weights that score: a training has those of the last step and their averages.
        "system": {key: own for key, own in system.scientific().items() if key != "scores_with"},
        "training": system.training.model_dump(),
        "seed": seed,
        "types": types,
        "p": system.p,
        "inputs": hashes,
        "lowercase": lowercase,
        # Not the device: a training may go on on another. What it ran on is in its state.
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
    """Train all seeds of a cell; write its history.parquet, scores, metrics and run.json.

    Args:
        cell: what is run.
        types: the question types of its subset, None for `all`.
        system, setting: how; `setting` is the name of the system's training.
        files: seed to its tables.
        sources: split to the name of the file that its pairs come from, for the record.
        lowercase: as the vocabulary was made.
        device: auto, cpu or cuda.
        checkpoints: the folder of `checkpoint_path`. A training that was done before, under
            whatever name, is not done again.
        folder: of the run.
        threads: the most seeds that are trained at a time, each in one thread.
        on_epoch: called with the history of a seed as its training goes on; see `train_seed`.
        configured: what of the configuration the scores depend on, for the record; see
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
    # Epochs that an earlier job did count as well.
    of_epochs = history.loc[history["measure"] == "seconds", "value"].sum()
    seconds = max(time.perf_counter() - started, of_epochs)
    ran_on = {str(seed): own for seed, own in zip(files, machines, strict=True)}
    device_name = str(chosen_device)
    write_run(
        *(cell, types, settings, files, inputs, scores, folder, device_name, ran_on, seconds),
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
) -> "Trained":
    import torch

    from analogyqa.training.devices import set_numerics
    from analogyqa.training.loop import train_seed

    set_numerics(device)
    torch.set_num_threads(1)
    with threadpool_limits(1):  # of NumPy; with more the last bits differ
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
    """Read the tables of a seed of a trained cell; arguments are as in `train_cell`."""
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
    """Train a seed of a system on all questions; return what it leaves of the encoder."""
    from analogyqa.training.checkpoints import encoder_weights, load_state
    from analogyqa.training.loop import train_seed

    own = files.without_prototypes()
    path = checkpoint_path(checkpoints, None, system, seed, table_hashes(own), lowercase)
    data = training_data(own, None, system, lowercase)
    train_seed(data, system, seed, device, path, f"{label} seed {seed}, all questions before")
    return encoder_weights(load_state(path, device), system.scoring_weights)
