"""What is read from a finished run: weights, vectors and norms, and what decided its rankings."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from analogyqa.arithmetic import prepare_kernels, reproducible_arithmetic
from analogyqa.encoders import build_encoder
from analogyqa.errors import AnalogyQAError, explain_damage
from analogyqa.runs.record import table_hashes
from analogyqa.runs.train import checkpoint_path, train_one
from analogyqa.schemas import DECISIONS, INSIDE, write_table
from analogyqa.settings.systems import System
from analogyqa.training.data import CellJob, read_vocabulary
from analogyqa.training.scoring import Encode, array_encoder


def finished_checkpoint(
    job: CellJob, seed: int, results: str | Path, hashes: dict[str, str] | None = None
) -> Path:
    """Return the checkpoint of one seed of a cell, in the output folder `results`.

    `hashes` are those of its tables; None to compute them.

    Raises AnalogyQAError when the checkpoint is missing.
    """
    hashes = hashes or table_hashes(job.files[seed])
    checkpoint = checkpoint_path(job, seed, hashes, Path(results, "checkpoints"))
    if not checkpoint.exists():
        record = Path(results, "runs", job.cell.path, "run.json")
        raise AnalogyQAError(
            f"{checkpoint}: the checkpoint of {job.cell.label} seed {seed} is missing. It was "
            "deleted, the code has changed since, or the run comes from an archive, which has no "
            f"weights. Delete {record}, then run the same command again to train the cell again."
        )
    return checkpoint


def trained_checkpoint(job: CellJob, seed: int, results: str | Path) -> Path:
    """Return the checkpoint of one seed of a cell; train it again if it is missing.

    It is missing if the run comes from an archive.
    """
    from analogyqa.training.devices import device_for

    hashes = table_hashes(job.files[seed])
    checkpoint = checkpoint_path(job, seed, hashes, Path(results, "checkpoints"))
    if not checkpoint.exists():
        train_one(job, seed, device_for("auto"), checkpoint)
    return checkpoint


def write_weights(job: CellJob, results: str | Path, path: str | Path) -> None:
    """Write the encoder's weights of every seed of a trained cell, after the epoch that dev chose.

    Raises AnalogyQAError when a checkpoint is damaged.
    """
    import torch

    from analogyqa.training.learner import encoder_weights, load_state, save_state

    weights = {}
    for seed in job.files:
        state = load_state(trained_checkpoint(job, seed, results), torch.device("cpu"))
        weights[str(seed)] = encoder_weights(state, job.system.scoring_weights)
    save_state(weights, path)


def trained_encoder(
    system: System, word_vectors: np.ndarray | None, seed: int, path: str | Path
) -> Encode:
    """Return the trained encoder of a seed, from the file that `write_weights` wrote at `path`.

    `word_vectors` [V, d] have the source that they had in training, but may be for other words.

    Raises AnalogyQAError when the file is damaged, or belongs to another encoder or other seeds.
    """
    import torch

    from analogyqa.training.learner import load_state

    prepare_kernels()
    encoder = build_encoder(system.encoder_name, word_vectors, system.training, seed)
    state = load_state(path, torch.device("cpu"))
    with explain_damage(path, f"not the weights of the encoder {system.encoder} for seed {seed}"):
        encoder.load_state_dict(state[str(seed)])
    return array_encoder(encoder.eval(), torch.device("cpu"))


def write_inside(job: CellJob, results: str | Path, path: str | Path) -> None:
    """Write the vectors and norms of a trained encoder on test: schema INSIDE.

    `job` has the tables of one seed.

    Raises AnalogyQAError when the checkpoint is damaged.
    """
    from analogyqa.training.inside import look_inside

    ((seed, files),) = job.files.items()
    checkpoint = trained_checkpoint(job, seed, results)
    data = job.load(seed)
    _, word_ids, _ = read_vocabulary(files, job.system, job.lowercase)
    with reproducible_arithmetic():
        inside = look_inside(data, job.system, seed, checkpoint, word_ids or {})
    write_table(inside, INSIDE, path)


_QUESTION = ["seed", "question_id"]
_PAIR = ["question_id", "candidate_id"]


def find_decisions(
    scores: pd.DataFrame, corpus: pd.DataFrame, prototypes: Mapping[int, pd.DataFrame]
) -> pd.DataFrame:
    """Return what decided each test question in each seed: schema DECISIONS.

    Candidates with equal scores are ranked as in the measures, by descending id. The tables have
    the schemas SCORES, CORPUS and, for each seed, PROTOTYPES.
    """
    ids = dict.fromkeys(("split", *_PAIR), str)
    ranked = scores.astype(ids | {"score": float})
    ranked = ranked[ranked["split"] == "test"].sort_values(
        [*_QUESTION, "score", "candidate_id"], ascending=[True, True, False, False]
    )
    texts = corpus.astype(ids | {"question_type": object}).set_index("split").drop(columns="label")
    ranked = ranked.merge(texts.loc[["test"]], on=_PAIR)
    correct, wrong = (
        ranked[ranked["label"] == label].drop_duplicates(_QUESTION).set_index(_QUESTION)
        for label in (1, 0)
    )
    margin = correct["score"] - wrong["score"]
    about = pd.DataFrame({"correct": correct["candidate"], "margin": margin})
    train = texts.loc[["train"]].drop(columns="question_type")
    used = pd.concat([table.assign(seed=seed) for seed, table in prototypes.items()])
    used = used.astype({"question_type": object}).merge(train, on=_PAIR)
    columns = {name: f"prototype_{name}" for name in train} | {"rank": "best_prototype"}
    decisions = (
        ranked.drop_duplicates(_QUESTION)
        .merge(about, left_on=_QUESTION, right_index=True)
        .merge(used.rename(columns=columns), on=["seed", "question_type", "best_prototype"])
    )
    return decisions[DECISIONS.names]
