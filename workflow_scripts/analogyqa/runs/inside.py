"""Look into the trained encoder of a cell."""

from pathlib import Path

from analogyqa.runs.record import table_hashes
from analogyqa.runs.weights import finished_checkpoint
from analogyqa.schemas import INSIDE, write_table
from analogyqa.surroundings import one_thread
from analogyqa.training.files import CellJob, read_vocabulary


def write_inside(job: CellJob, checkpoints: str | Path, path: str | Path) -> None:
    """Write the vectors and norms of a trained encoder on the test split: a table of schema INSIDE.

    Args:
        job: The cell, with the tables of one seed; nothing is trained.
        checkpoints: The folder of checkpoints.
        path: The file to write, in the folder of the run.

    Raises AnalogyQAError when the checkpoint is missing or damaged.
    """
    from analogyqa.training.inside import look_inside

    ((seed, files),) = job.files.items()
    record = Path(path).with_name("run.json")
    checkpoint = finished_checkpoint(job, seed, table_hashes(files), checkpoints, record)
    data = job.load(seed)
    _, word_ids, _ = read_vocabulary(files, job.system, job.lowercase)
    with one_thread():
        inside = look_inside(data, job.system, seed, checkpoint, word_ids or {})
    write_table(inside, INSIDE, path)
