"""Run a cell that is trained, and choose hyperparameters by what such cells reached on dev."""

import json
import logging
import time
from collections.abc import Callable, Sequence
from logging.handlers import QueueHandler
from multiprocessing import get_context
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

import pandas as pd

from analogyqa.arithmetic import PORTABLE, PORTABLE_VARIABLES, reproducible_arithmetic
from analogyqa.encoders.specs import ENCODERS
from analogyqa.errors import explain_damage
from analogyqa.files import write_json
from analogyqa.measures import RANKED
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.plugin import Plugin
from analogyqa.runs.depends_on import STORAGE, code_hash, content_hash
from analogyqa.runs.record import named_by_seed, table_hashes, write_run
from analogyqa.schemas import HISTORY, read_table, write_table
from analogyqa.settings.systems import System
from analogyqa.training.data import CellJob
from analogyqa.training.specs import OPTIMISERS

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from analogyqa.training.loop import TrainedSeed

# What reads the batches of a training run and trains, besides the plug-ins of its system.
_WEIGHTS = (
    "analogyqa.training.loop",
    "analogyqa.training.devices.set_numerics",
    "analogyqa.training.data.CellJob",
)

KERNELS = "analogyqa.arithmetic.replace_kernels"


def plugin_code(system: System) -> list[str]:
    """Return the dotted names of the plug-ins that a system loads."""
    entries: list[Plugin] = [system.ranker_spec]
    if system.ranker_spec.needs_encoder:
        encoder = ENCODERS[system.encoder_name]
        entries += [encoder, encoder.vocabulary] if encoder.vocabulary else [encoder]
    if system.trained:
        objective = OBJECTIVES[system.training.loss]
        entries += [objective, objective.draws, OPTIMISERS[system.training.optimiser]]
    first = plugin_code(system.starts_from) if system.starts_from else []
    return list(dict.fromkeys([*(entry.definition for entry in entries), *first]))


def selecting_measures(system: System) -> list[list]:
    """Return how the measures are computed that select the epochs of a system on dev."""
    systems = [system, system.starts_from] if system.starts_from else [system]
    return [RANKED[at.training.select_by].computation for at in systems]


def weights_code(system: System) -> str:
    """Return the hash of the code that reads the batches of a system and trains it."""
    code = code_hash(*_WEIGHTS, *plugin_code(system), without=STORAGE)
    return content_hash([code, selecting_measures(system)])


def checkpoint_path(
    job: CellJob, seed: int, hashes: dict[str, str], checkpoints: str | Path
) -> Path:
    """Return the checkpoint of a training run, named by the hash of everything it depends on.

    `hashes` are those of the tables of the seed, as `table_hashes` returns them.
    """
    import torch

    system = job.system
    depends_on: dict[str, Any] = {
        # Not the weights that score: a checkpoint has both the last weights and their averages.
        "system": {
            key: value for key, value in system.scientific().items() if key != "scores_with"
        },
        "training": system.training.model_dump(),
        "seed": seed,
        "types": job.types,
        "p": system.p if system.needs_prototypes else None,  # as in the record
        "inputs": hashes,
        "lowercase": job.lowercase,
        # Not the device: a training run may resume on another one. Its state lists its machines.
        "torch": torch.__version__.partition("+")[0],
        "code": weights_code(system),
    }
    if job.settings.get("arithmetic") == PORTABLE:  # settings of older runs lack it
        depends_on["arithmetic"] = [PORTABLE_VARIABLES, code_hash(KERNELS)]
    return Path(checkpoints, f"{content_hash(depends_on)[:32]}.pt")


def train_cell(
    job: CellJob,
    device: str,
    checkpoints: str | Path,
    folder: str | Path,
    threads: int = 1,
    on_epoch: Callable[[list[list]], None] = lambda history: None,
    code: str = "",
) -> None:
    """Train all seeds of a cell; write history.parquet, scores, metrics and run.json.

    A finished training run in the folder `checkpoints` is not repeated. At most `threads` seeds
    train in parallel, on a `device`: auto, cpu or cuda. `on_epoch` gets the history of a seed after
    each epoch; see `train_seed`. `code` is the hash of the code, for the record.
    """
    from analogyqa.training.devices import device_for

    started = time.perf_counter()
    chosen_device = device_for(device)
    hashes = {seed: table_hashes(tables) for seed, tables in job.files.items()}
    paths = [checkpoint_path(job, seed, files, checkpoints) for seed, files in hashes.items()]
    calls = [(job, seed, chosen_device, path) for seed, path in zip(hashes, paths, strict=True)]
    trained = side_by_side(train_one, calls, threads, on_epoch)
    scores, histories, machines = zip(*trained, strict=True)
    history = pd.concat(histories, ignore_index=True)
    write_table(history, HISTORY, Path(folder, "history.parquet"))
    # The epochs of an interrupted earlier job count too.
    epoch_seconds = history.loc[history["measure"] == "seconds", "value"].sum()
    started = min(started, time.perf_counter() - epoch_seconds)
    used = {
        "device": str(chosen_device),
        "machines": dict(zip(map(str, hashes), machines, strict=True)),
        "code": code,
    }
    write_run(job, named_by_seed(hashes), scores, folder, started, **used)


def train_one(
    job: CellJob,
    seed: int,
    device: "torch.device",
    checkpoint: Path,
    on_epoch: Callable[[list[list]], None] = lambda history: None,
) -> "TrainedSeed":
    """Train one seed of a cell in one thread, as `train_seed` does."""
    from analogyqa.training.devices import set_numerics
    from analogyqa.training.learner import Learner
    from analogyqa.training.loop import train_seed

    set_numerics(device)
    with reproducible_arithmetic():
        start = None
        if job.system.starts_from and not checkpoint.exists():
            start = _first_weights(job, job.system.starts_from, seed, device, checkpoint.parent)
        name = f"{job.cell.label} seed {seed}"
        learner = Learner(job.system, job.load(seed), seed, device)
        return train_seed(learner, checkpoint, name, on_epoch, start)


def _first_weights(
    job: CellJob, system: System, seed: int, device: "torch.device", checkpoints: Path
) -> dict[str, "Tensor"]:
    """Train one seed of a system on all questions; return the weights of its encoder."""
    from analogyqa.training.learner import Learner, encoder_weights, load_state
    from analogyqa.training.loop import train_seed

    tables = job.files[seed].without_prototypes()
    settings = job.settings | {"question_types": None}
    first = job._replace(settings=settings, system=system, files={seed: tables})
    path = checkpoint_path(first, seed, table_hashes(tables), checkpoints)
    name = f"{job.cell.label} seed {seed}, first on all questions"
    train_seed(Learner(system, first.load(seed), seed, device), path, name)
    return encoder_weights(load_state(path, device), system.scoring_weights)


def side_by_side(
    function: Callable[..., Any],
    calls: Sequence[tuple],
    workers: int,
    on_report: Callable[[Any], None],
) -> list:
    """Return the results of function(*call, report) for all calls, in their order.

    At most `workers` calls run at a time, each in a process with one thread, so the function, its
    arguments and its results must be picklable. Reports reach `on_report`, and log messages the log
    of this process, at once. A single worker or call runs in this process.

    Raises the exception of the first call that fails; the other calls are then ended.
    """
    if min(workers, len(calls)) <= 1:
        return [function(*call, on_report) for call in calls]
    from joblib import Parallel, delayed  # not at the top: it takes 0.1 s in many short jobs

    # A spawned manager would run the script of the job again.
    with get_context("fork").Manager() as manager:
        queue = manager.Queue()
        reader = Thread(target=_read, args=(queue, on_report))
        reader.start()
        try:
            pool = Parallel(n_jobs=workers, backend="loky", inner_max_num_threads=1, batch_size=1)
            return pool(delayed(_call)(function, call, queue) for call in calls)
        finally:
            queue.put(None)
            reader.join()


def _call(function: Callable[..., Any], call: tuple, queue: Queue) -> Any:
    handlers = [QueueHandler(queue)]
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=handlers, force=True)
    return function(*call, queue.put)


def _read(queue: Queue, on_report: Callable[[Any], None]) -> None:
    for item in iter(queue.get, None):
        if isinstance(item, logging.LogRecord):
            logging.getLogger(item.name).handle(item)
        else:
            on_report(item)


def choose_hyperparameters(
    histories: dict[str, str], measure: str, subset: str, path: str | Path
) -> None:
    """Choose the hyperparameters with the best dev value, averaged over the seeds that all have.

    Args:
        histories: The history.parquet of each choice, by name. The first of equal ones wins.
        measure: A key of `MEASURES`.
        subset: The subset on which the choices were trained, for the record.
        path: The JSON file to write: tuned (a name), measure, subset, and dev (the means).
    """
    best = {}
    for name, file in histories.items():
        history = read_table(file, HISTORY)
        best[name] = history[history["measure"] == f"dev_{measure}"].groupby("seed")["value"].max()
    dev = {name: float(values.mean()) for name, values in pd.DataFrame(best).dropna().items()}
    tuned = max(dev, key=dev.__getitem__)
    write_json(path, {"tuned": tuned, "measure": measure, "subset": subset, "dev": dev})


def read_tuned(path: str | Path) -> str:
    """Return the name of the hyperparameters that `choose_hyperparameters` recorded.

    Raises AnalogyQAError when the file is not such a record.
    """
    with explain_damage(path, "not a record of tuned hyperparameters"):
        return str(json.loads(Path(path).read_text(encoding="utf-8"))["tuned"])
