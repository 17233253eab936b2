"""What is read from a trained cell: its weights, and vectors and norms of the test split."""

from pathlib import Path

import numpy as np

from analogyqa.encoders import build_encoder
from analogyqa.errors import AnalogyQAError, explain_damage
from analogyqa.runs.record import table_hashes
from analogyqa.runs.train import checkpoint_path
from analogyqa.schemas import INSIDE, write_table
from analogyqa.settings.systems import System
from analogyqa.surroundings import one_thread
from analogyqa.training.data import CellJob, read_vocabulary
from analogyqa.training.scoring import Encode, array_encoder


def finished_checkpoint(
    job: CellJob, seed: int, hashes: dict[str, str], checkpoints: str | Path, record: str | Path
) -> Path:
    """Return the checkpoint of one seed of a cell that is trained.

    Args:
        job: The cell.
        seed: One of its seeds.
        hashes: The hashes of its tables, as `table_hashes` returns them.
        checkpoints: The folder of checkpoints.
        record: The run.json of the cell, for the message.

    Raises AnalogyQAError when the checkpoint is missing.
    """
    checkpoint = checkpoint_path(job, seed, hashes, checkpoints)
    if not checkpoint.exists():
        raise AnalogyQAError(
            f"{checkpoint}: the checkpoint of {job.cell.label} seed {seed} is missing. It was "
            f"deleted, or the code has changed since. Delete {record}, then run the same command "
            "again to train the cell again."
        )
    return checkpoint


def write_weights(job: CellJob, checkpoints: str | Path, path: str | Path) -> None:
    """Write the encoder's weights of every seed, after the epoch that dev chose.

    Args:
        job: The cell; nothing is trained.
        checkpoints: The folder of checkpoints.
        path: The file to write, in the folder of the run.

    Raises AnalogyQAError when a checkpoint is missing or damaged.
    """
    import torch

    from analogyqa.training.checkpoints import encoder_weights, load_state, save_state

    weights, record = {}, Path(path).with_name("run.json")
    for seed, files in job.files.items():
        path_of_seed = finished_checkpoint(job, seed, table_hashes(files), checkpoints, record)
        state = load_state(path_of_seed, torch.device("cpu"))
        weights[str(seed)] = encoder_weights(state, job.system.scoring_weights)
    save_state(weights, path)


def trained_encoder(
    system: System, word_vectors: np.ndarray | None, seed: int, path: str | Path
) -> Encode:
    """Return the trained encoder of a seed, for a vocabulary that may differ from the trained one.

    Args:
        system: The system whose encoder was trained.
        word_vectors: Word vectors of the same source as in training: float32 [V, d].
        seed: The seed of the training run.
        path: The weights, as `write_weights` wrote them.

    Raises AnalogyQAError when the file is damaged, or belongs to another encoder or other seeds.
    """
    import torch

    from analogyqa.training.checkpoints import load_state

    encoder = build_encoder(system.encoder_name, word_vectors, system.training, seed)
    state = load_state(path, torch.device("cpu"))
    with explain_damage(path, f"not the weights of the encoder {system.encoder} for seed {seed}"):
        encoder.load_state_dict(state[str(seed)])
    return array_encoder(encoder.eval(), torch.device("cpu"))


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
