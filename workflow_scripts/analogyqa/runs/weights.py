"""The weights that the training of a cell left, for what asks its encoder for vectors later."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.encoders import build_encoder
from analogyqa.errors import AnalogyQAError, one_line
from analogyqa.examples.files import CellFiles
from analogyqa.plan import Cell
from analogyqa.runs.train import checkpoint_path, table_hashes
from analogyqa.settings.systems import System

if TYPE_CHECKING:
    from analogyqa.training.scoring import Encode


def finished_checkpoint(
    cell: Cell,
    types: Sequence[str] | None,
    system: System,
    seed: int,
    files: CellFiles,
    lowercase: bool,
    checkpoints: str | Path,
    record: str | Path,
) -> Path:
    """Return the checkpoint of a seed of a cell, whose record is there: so it is trained.

    Args:
        cell, types, system, lowercase, checkpoints: as in `train_cell`.
        seed, files: one of its seeds, and its tables.
        record: run.json of the cell.

    Raises AnalogyQAError when the checkpoint is not there.
    """
    checkpoint = checkpoint_path(checkpoints, types, system, seed, table_hashes(files), lowercase)
    if not checkpoint.exists():
        raise AnalogyQAError(
            f"{checkpoint}: no such checkpoint, of {cell.label} seed {seed}; it was deleted, or "
            f"trained by other code. Delete {record}, then run the same command again to train it "
            "anew."
        )
    return checkpoint


def write_weights(
    cell: Cell,
    types: Sequence[str] | None,
    system: System,
    files: dict[int, CellFiles],
    lowercase: bool,
    checkpoints: str | Path,
    path: str | Path,
) -> None:
    """Write the weights of the encoder of each seed, of the epoch that dev chose.

    Args:
        cell, types, system, lowercase, checkpoints: as in `train_cell`. Nothing is trained.
        files: seed to its tables.
        path: of the weights, in the folder of the run.

    Raises AnalogyQAError when a checkpoint is not there or damaged.
    """
    import torch

    from analogyqa.training.checkpoints import encoder_weights, load_state, save_state

    weights, record = {}, Path(path).with_name("run.json")
    for seed, own in files.items():
        checkpoint = finished_checkpoint(
            cell, types, system, seed, own, lowercase, checkpoints, record
        )
        state = load_state(checkpoint, torch.device("cpu"))
        weights[str(seed)] = encoder_weights(state, system.scoring_weights)
    save_state(weights, path)


def trained_encoder(
    system: System, word_vectors: np.ndarray, seed: int, path: str | Path
) -> "Encode":
    """Return the encoder of a seed, over the vectors of other words than it was trained with.

    Args:
        system: whose encoder was trained.
        word_vectors: float32 [V, d], of the same source.
        seed: of the training.
        path: what `write_weights` wrote.

    Raises AnalogyQAError when the file is damaged, or of another encoder or other seeds.
    """
    import torch

    from analogyqa.training.checkpoints import load_state

    encoder = build_encoder(system.encoder, word_vectors, system.training, seed)
    state = load_state(path, torch.device("cpu"))
    try:
        encoder.load_state_dict(state[str(seed)])
    except (KeyError, RuntimeError, TypeError) as error:
        raise AnalogyQAError(
            f"{path}: not the weights of the encoder {system.encoder} for seed {seed} "
            f"({one_line(error)}). Delete it, then run the same command again."
        ) from error
    encoder.eval()

    @torch.no_grad()
    def on_arrays(words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        return encoder(torch.from_numpy(words), torch.from_numpy(lengths)).numpy()

    return on_arrays
