"""Explain the questions of a run that a report shows."""

from collections.abc import Iterable
from pathlib import Path

from analogyqa.files import write_text
from analogyqa.model import Model
from analogyqa.model.folder import Learned
from analogyqa.runs.record import table_hashes
from analogyqa.runs.weights import finished_checkpoint
from analogyqa.schemas import EXPLANATIONS
from analogyqa.training.files import CellJob


def write_explanations(
    job: CellJob, checkpoints: str | Path, question_ids: Iterable[str], path: str | Path
) -> None:
    """Write the explanations of questions by one seed of a trained cell as JSON.

    Args:
        job: The cell, with the tables of one seed; nothing is trained.
        checkpoints: The folder of checkpoints.
        question_ids: The questions.
        path: The file to write, in the folder of the run.

    Raises AnalogyQAError when the checkpoint is missing, or when a file is damaged.
    """
    ((seed, files),) = job.files.items()
    record = Path(path).with_name("run.json")
    checkpoint = finished_checkpoint(job, seed, table_hashes(files), checkpoints, record)
    model = Model(Learned(job, {}, seed, checkpoint))  # the types of new questions are not needed
    explanations = [model.explain_question(question_id) for question_id in question_ids]
    write_text(path, EXPLANATIONS.dump_json(explanations).decode() + "\n")
