"""The folder of a model: what it needs to rank, as files that another machine can read."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.cells.cell import Cell, system_from
from analogyqa.errors import AnalogyQAError, explain_damage
from analogyqa.files import write_json
from analogyqa.schemas import CORPUS, write_table
from analogyqa.settings.systems import System
from analogyqa.training.data import CellFiles, CellJob

MODEL = "model.json"
CORPUS_FILE, VECTORS, PROTOTYPES_FILE = "corpus.parquet", "vectors.npy", "prototypes.parquet"
CHECKPOINT = "checkpoint.pt"
_SETTINGS = ("systems", "question_types", "lowercase")  # of a cell, those that ranking needs


class Learned(NamedTuple):
    """The files of a fitted system, for one seed.

    Attributes:
        job: The cell, with the tables of the seed.
        question_types: The first words of each question type.
        seed: The seed.
        checkpoint: The checkpoint of a trained system; None for any other.
    """

    job: CellJob
    question_types: Mapping[str, Sequence[str]]
    seed: int
    checkpoint: Path | None


def describe(learned: Learned, folder: Path) -> None:
    """Write model.json; the files are in its folder."""
    job, files = learned.job, learned.job.files[learned.seed]
    named = {"corpus": files.corpus, "vectors": files.vectors, "prototypes": files.prototypes}
    description = {
        "cell": job.cell.record(),
        "settings": {key: job.settings[key] for key in _SETTINGS},
        "hyperparameters": job.hyperparameters,
        "question_types": learned.question_types,
        "seed": learned.seed,
        "files": {name: path and Path(path).name for name, path in named.items()},
        "checkpoint": learned.checkpoint and learned.checkpoint.name,
    }
    write_json(folder / MODEL, description)


def write_folder(learned: Learned, used_pairs: pd.DataFrame, folder: str | Path) -> None:
    """Write what a model needs to rank, and no other data.

    Args:
        learned: The model.
        used_pairs: The pairs that it ranks by, a table of schema CORPUS.
        folder: The folder, which is made if there is none. Vectors and prototypes are linked to
            those of the run if both are on one disk.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    job, files = learned.job, learned.job.files[learned.seed]
    kept = CellFiles(str(folder / CORPUS_FILE), None, None, {})
    write_table(used_pairs, CORPUS, kept.corpus)
    if files.vectors:
        kept = kept._replace(vectors=str(folder / VECTORS))
        for suffix in (".npy", ".words.txt", ".json"):
            _link(Path(files.vectors).with_suffix(suffix), (folder / VECTORS).with_suffix(suffix))
    if files.prototypes and job.system.compares:
        kept = kept._replace(prototypes=str(folder / PROTOTYPES_FILE))
        _link(Path(files.prototypes), folder / PROTOTYPES_FILE)
    if learned.checkpoint:
        _write_weights(learned.checkpoint, job.system.scoring_weights, folder / CHECKPOINT)
        learned = learned._replace(checkpoint=folder / CHECKPOINT)
    describe(learned._replace(job=job._replace(files={learned.seed: kept})), folder)


def read_folder(folder: str | Path) -> Learned:
    """Return the model in a folder; raises AnalogyQAError when there is none."""
    path = Path(folder, MODEL)
    with explain_damage(path, remedy="Name a folder that Model.save has written"):
        stored = json.loads(path.read_text(encoding="utf-8"))
        files = {
            name: file_name and str(path.with_name(file_name))
            for name, file_name in stored["files"].items()
        }
        seed, checkpoint = stored["seed"], stored["checkpoint"]
        tables = CellFiles(files["corpus"], files["vectors"], files["prototypes"], {})
        settings, hyperparameters = stored["settings"], stored["hyperparameters"]
        job = CellJob(
            Cell.from_record(stored["cell"]),
            settings,
            hyperparameters,
            system_from(settings["systems"][hyperparameters]),
            {seed: tables},
            {},
        )
        return Learned(
            job, stored["question_types"], seed, checkpoint and path.with_name(checkpoint)
        )


def require_new_texts(system: System, run: str) -> None:
    """Raise AnalogyQAError when a system reads what only a run makes."""
    obstacles = {
        "it reads sentence vectors that were made before": system.sentence_vectors,
        "it reads rewritten questions": system.rewriting,
        "it fuses the scores of other runs": system.parts,
        "it weights words by their frequencies in a larger text": system.weighting != "uniform",
    }
    for reason, applies in obstacles.items():
        if applies:
            raise AnalogyQAError(
                f"{run} can neither rank new answers nor be explained: {reason}. Choose another run"
            )


def _write_weights(checkpoint: Path, version: str, path: Path) -> None:
    """Write a checkpoint with only the weights that score."""
    import torch

    from analogyqa.training.checkpoints import load_state, save_state

    best = load_state(checkpoint, torch.device("cpu"))["best"][version]
    save_state({"best": {version: {"weights": best["weights"]}}}, path)


def _link(source: Path, target: Path) -> None:
    """Hard-link a file, or copy it if it is on another disk."""
    if target.exists() and target.samefile(source):
        return
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
