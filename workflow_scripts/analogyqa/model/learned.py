"""What a system has learned: found in a finished run, or in a folder for another machine."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.cells import Cell, why_left_out
from analogyqa.cells.cell import system_from
from analogyqa.errors import AnalogyQAError, explain_damage
from analogyqa.evaluation.summary import find_records, read_record
from analogyqa.files import write_json
from analogyqa.model.text_vectors import TextVectors, unique_texts
from analogyqa.pretrained.specs import PRETRAINED
from analogyqa.report.stored import read_configuration
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.finished import finished_checkpoint
from analogyqa.runs.record import run_system
from analogyqa.schemas import CORPUS, write_table
from analogyqa.settings.base import nearest_hint
from analogyqa.settings.overrides import DEFAULT
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System
from analogyqa.training.data import CellFiles, CellJob

MODEL = "model.json"
CORPUS_FILE, VECTORS, PROTOTYPES_FILE = "corpus.parquet", "vectors.npy", "prototypes.parquet"
SENTENCE_VECTORS = "sentence_vectors.npy"
CHECKPOINT = "checkpoint.pt"
_SETTINGS = ("systems", "question_types", "lowercase")  # of a cell, those that ranking needs
# The patterns of the paths of a run's inputs, by their name in its record.
_INPUT_PATTERNS = {
    "corpus": "corpora/*.parquet",
    "vectors": "vectors/**/*.npy",
    "prototypes": "prototypes/**/*.parquet",
    "sentence vectors": "sentence_vectors/**/*.npy",
}


class Learned(NamedTuple):
    """The files of a fitted system, for one seed."""

    job: CellJob  # with the tables of the seed
    question_types: Mapping[str, Sequence[str]]  # the first words of each question type
    checkpoint: Path | None  # None for a system that is not trained

    @property
    def seed(self) -> int:
        return next(iter(self.job.files))

    @property
    def files(self) -> CellFiles:
        return self.job.files[self.seed]


# In a finished run


def find_run(results: str | Path, run: str, seed: int | None = None) -> Learned:
    """Return what a run has learned; see `Model.load`."""
    results = Path(results)
    config, _, _ = read_configuration(results)
    runs = find_records(results)
    if run.count("/") == 2:
        run = f"{run}/{DEFAULT}"
    if run not in runs:
        system, dataset = [*run.split("/"), ""][:2]
        if reason := why_left_out(system, dataset, config) or config.left_out.get(dataset):
            raise AnalogyQAError(f"{results}: no run {run}, because it was left out: {reason}")
        raise AnalogyQAError(f"{results}: no run {run}{nearest_hint(run, sorted(runs))}")
    return learned_by(results, run, config, seed)


def learned_by(results: Path, run: str, config: Config, seed: int | None = None) -> Learned:
    """Return what a run, named by its folder below runs/, has learned in a seed, or in its first.

    Raises AnalogyQAError when there is no such seed, when a file is missing or has changed, when
    the system cannot read new texts, or when the run solves analogies.
    """
    record = read_record(results / "runs" / run / "run.json")
    job = _recorded_job(record)
    require_new_texts(job.system, run, _pretrained_encoder(record))
    seed = record["seeds"][0] if seed is None else seed
    if seed not in record["seeds"]:
        seeds = ", ".join(map(str, record["seeds"]))
        raise AnalogyQAError(f"{run}: no seed {seed}; the run has {seeds}")
    hashes = {
        name.removesuffix(f", seed {seed}"): value
        for name, value in record["inputs"].items()
        if name.endswith(f", seed {seed}")
    }
    if "corpus" not in hashes:
        raise AnalogyQAError(f"{run}: it solves analogies between sentences, and ranks no answers")
    files = {name: _find(results, name, hashes[name]) for name in _INPUT_PATTERNS if name in hashes}
    job = job._replace(files={seed: _tables(files)})
    checkpoint = None
    if job.system.trained:
        checkpoint = finished_checkpoint(job, seed, results, hashes)
    return Learned(job, config.question_types, checkpoint)


def _recorded_job(record: dict) -> CellJob:
    cell, system = Cell.from_record(record["cell"]), system_from(run_system(record))
    known = record["settings"], record["hyperparameters"]
    return CellJob(cell, *known, system, {}, record.get("sources", {}))


def _tables(files: Mapping[str, str | None]) -> CellFiles:
    """Return the tables of a model from its files, by their names in a record."""
    vectors, prototypes = files.get("vectors"), files.get("prototypes")
    return CellFiles(str(files["corpus"]), vectors, prototypes, {}, files.get("sentence vectors"))


def _pretrained_encoder(record: dict) -> str | None:
    """Return the encoder of the sentence vectors that a run has read, if any."""
    store = record["stores"].get("sentence_vectors")
    return store and record["settings"]["sentence_vectors"][store["name"]]["encoder"]


def require_new_texts(system: System, run: str, encoder: str | None = None) -> None:
    """Raise AnalogyQAError when a system reads what only a run makes.

    `encoder` is that of its sentence vectors.
    """
    local = [name for name, spec in PRETRAINED.items() if spec.model]
    obstacles = {
        f"it reads sentence vectors of {encoder}, and only those of {' and '.join(local)} can be "
        "made for new texts": system.sentence_vectors and encoder not in local,
        "it reads rewritten questions": system.rewriting,
        "it fuses the scores of other runs": system.parts,
        "it weights words by their frequencies in a larger text": system.weighting != "uniform",
    }
    for reason, applies in obstacles.items():
        if applies:
            raise AnalogyQAError(
                f"{run} can neither rank new answers nor be explained: {reason}. Choose another run"
            )


def _find(results: Path, name: str, value: str) -> str:
    """Return the input of a run with some sha256."""
    for path in results.glob(_INPUT_PATTERNS[name]):
        if path.is_file() and _hash(path, path.stat().st_mtime_ns) == value:
            return str(path)
    raise AnalogyQAError(
        f"{results}: the {name} of this run are not there, or have changed since ({value[:12]})"
    )


@cache  # the runs of a folder share their inputs
def _hash(path: Path, modified: int) -> str:
    return sha256(path)


# In a folder


def describe(learned: Learned, folder: Path) -> None:
    """Write model.json; the files are in its folder."""
    job, files = learned.job, learned.files
    named = {name: path for name, path in files.by_role().items() if "quadruples" not in name}
    description = {
        "cell": job.cell.record(),
        "settings": {key: job.settings[key] for key in _SETTINGS},
        "hyperparameters": job.hyperparameters,
        "question_types": learned.question_types,
        "seed": learned.seed,
        "files": {name: Path(path).name for name, path in named.items()},
        "checkpoint": learned.checkpoint and learned.checkpoint.name,
    }
    write_json(folder / MODEL, description)


def write_folder(learned: Learned, used_pairs: pd.DataFrame, folder: str | Path) -> None:
    """Write what a model needs to rank, and no other data, into a folder, which is made.

    `used_pairs` are the pairs that it ranks by, a table of schema CORPUS. Vectors and prototypes
    are linked to those of the run if both are on one disk.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    job, files = learned.job, learned.files
    kept = CellFiles(str(folder / CORPUS_FILE), None, None, {})
    write_table(used_pairs, CORPUS, kept.corpus)
    if files.vectors:
        kept = kept._replace(vectors=str(folder / VECTORS))
        for suffix in (".npy", ".words.txt", ".json"):
            _link(Path(files.vectors).with_suffix(suffix), (folder / VECTORS).with_suffix(suffix))
    if files.sentence_vectors:
        path = str(folder / SENTENCE_VECTORS)
        TextVectors(files.sentence_vectors).write(unique_texts(used_pairs), path)
        kept = kept._replace(sentence_vectors=path)
    if files.prototypes and job.system.compares:
        kept = kept._replace(prototypes=str(folder / PROTOTYPES_FILE))
        _link(Path(files.prototypes), folder / PROTOTYPES_FILE)
    checkpoint = learned.checkpoint and folder / CHECKPOINT
    if learned.checkpoint and checkpoint:
        _write_weights(learned.checkpoint, job.system.scoring_weights, checkpoint)
    kept_job = job._replace(files={learned.seed: kept})
    describe(Learned(kept_job, learned.question_types, checkpoint), folder)


def _write_weights(checkpoint: Path, version: str, path: Path) -> None:
    """Write a checkpoint with only the weights that score."""
    import torch

    from analogyqa.training.learner import load_state, save_state

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


def read_folder(folder: str | Path) -> Learned:
    """Return the model in a folder; raises AnalogyQAError when there is none."""
    path = Path(folder, MODEL)
    with explain_damage(path, remedy="Name a folder that Model.save has written"):
        stored = json.loads(path.read_text(encoding="utf-8"))
        files = {
            name: file_name and str(path.with_name(file_name))
            for name, file_name in stored["files"].items()
        }
        job = _recorded_job(stored)._replace(files={stored["seed"]: _tables(files)})
        checkpoint = stored["checkpoint"] and path.with_name(stored["checkpoint"])
        return Learned(job, stored["question_types"], checkpoint)
