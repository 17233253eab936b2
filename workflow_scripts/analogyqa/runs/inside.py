"""Look into the trained encoder of a cell."""

from collections.abc import Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from analogyqa.encoders.specs import ENCODERS
from analogyqa.examples.files import CellFiles
from analogyqa.plan import Cell
from analogyqa.runs.train import training_data
from analogyqa.runs.weights import finished_checkpoint
from analogyqa.schemas import write_table
from analogyqa.schemas.inside import INSIDE
from analogyqa.settings.systems import System
from analogyqa.vectors.store import read_store


def write_inside(
    cell: Cell,
    types: Sequence[str] | None,
    system: System,
    seed: int,
    files: CellFiles,
    lowercase: bool,
    checkpoints: str | Path,
    path: str | Path,
) -> None:
    """Write the vectors and norms of a trained encoder on the test split: a table of schema INSIDE.

    Args:
        cell, types, system, lowercase, checkpoints: As in `train_cell`; nothing is trained.
        seed, files: One of the seeds of the cell, and its tables.
        path: The file to write, in the folder of the run.

    Raises AnalogyQAError when the checkpoint is missing or damaged.
    """
    import torch

    from analogyqa.training.inside import look_inside

    record = Path(path).with_name("run.json")
    checkpoint = finished_checkpoint(
        cell, types, system, seed, files, lowercase, checkpoints, record
    )
    data = training_data(files, types, system, lowercase)
    vocabulary = ENCODERS[system.encoder or "mean"].own_words()
    words = vocabulary[0] if vocabulary else read_store(files.vectors or "")[1]
    torch.set_num_threads(1)
    with threadpool_limits(1):  # with more threads, the last bits differ
        inside = look_inside(data, system, seed, checkpoint, words)
    write_table(inside, INSIDE, path)
