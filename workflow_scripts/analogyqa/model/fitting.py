"""Fit a system to a corpus without a workflow, by the functions that the jobs call."""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import ValidationError
from tqdm import tqdm

from analogyqa.analogies.prototypes import choose_prototypes, take_prototypes
from analogyqa.analogies.quadruples import evaluation_blocks, training_blocks, write_quadruples
from analogyqa.arithmetic import reproducible_arithmetic
from analogyqa.cells.cell import Cell, system_settings
from analogyqa.corpora.frames import FRAME, corpus_from_frame, with_all_splits
from analogyqa.corpora.questions import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_text
from analogyqa.model.learned import (
    CORPUS_FILE,
    PROTOTYPES_FILE,
    SENTENCE_VECTORS,
    VECTORS,
    Learned,
    describe,
    require_new_texts,
)
from analogyqa.pretrained import Resources, encode_sentences, store_sentences
from analogyqa.runs.record import table_hashes
from analogyqa.schemas import CORPUS, HISTORY, PROTOTYPES, SPLITS, read_table, write_table
from analogyqa.settings.base import explain_error
from analogyqa.settings.data import ALL, PrototypeChoice
from analogyqa.settings.load import read_paper_config
from analogyqa.settings.run import Config
from analogyqa.settings.systems import System
from analogyqa.settings.vectors import SentenceVectors
from analogyqa.training.data import CellFiles, CellJob, load_pairs, sentence_parts
from analogyqa.training.scoring import EVALUATED
from analogyqa.vectors.fasttext_files import OutOfVocabulary
from analogyqa.vectors.files import build_vocabulary, select_vectors
from analogyqa.vectors.store import write_store

# Of progress bars: on a terminal or in a notebook, if they take longer than a second.
BAR: dict[str, Any] = {
    "disable": False if "ipykernel" in sys.modules else None,
    "delay": 1,
    "leave": False,
}
DATASET = "frame"  # in the name of the cell
MINILM, MINILM_MODEL = "minilm", "all-MiniLM-L6-v2"
FASTTEXT = {"dim": 100, "epochs": 20, "min_count": 1}  # few sentences need more epochs


def fit(
    system: str | System,
    frame: pd.DataFrame,
    folder: Path,
    *,
    prototypes: int | None,
    training: Mapping[str, object] | None,
    vectors: str | Path | None,
    question_types: Mapping[str, Sequence[str]] | None,
    types: Sequence[str] | None,
    seed: int,
    lowercase: bool,
    out_of_vocabulary: OutOfVocabulary,
    prototype_choice: PrototypeChoice,
    device: Literal["auto", "cpu", "cuda"],
) -> Learned:
    """Fit a system to a data frame, as the jobs of a workflow do; see `Model.fit`."""
    name = system if isinstance(system, str) else system.title
    config = read_paper_config(system=system if isinstance(system, str) else None)
    system = config.systems[system] if isinstance(system, str) else system
    system = _changed(system, prototypes, training)
    question_types = question_types or config.question_types
    cell = Cell(name, DATASET, "-".join(types) if types else ALL)
    pretrained = _pretrained_section(system, config, vectors)
    require_new_texts(system, name, pretrained.encoder if pretrained else None)
    corpus = with_all_splits(corpus_from_frame(frame, question_types))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CORPUS_FILE
    write_table(corpus, CORPUS, path)
    corpus = read_table(path, CORPUS)
    load_pairs(corpus, types, SPLITS, FRAME)  # before vectors, which take longer
    files = CellFiles(str(path), None, None, {})
    if system.vectors:
        path = folder / VECTORS
        _store_vectors(corpus, vectors, path, lowercase, out_of_vocabulary)
        files = files._replace(vectors=str(path))
    if pretrained:
        path = folder / SENTENCE_VECTORS
        parts = sentence_parts(corpus, types is not None, system.fitted)
        _store_sentence_vectors(parts, pretrained, path, lowercase)
        files = files._replace(sentence_vectors=str(path))
    if system.needs_prototypes:
        path = folder / PROTOTYPES_FILE
        choice = system.ranker_spec.prototype_choice or prototype_choice
        write_table(choose_prototypes(corpus, types, seed, choice), PROTOTYPES, path)
        prototypes = take_prototypes(read_table(path, PROTOTYPES), types, system.p, FRAME)
        quadruples = {}
        for split in ["train"] * system.learns_from_quadruples + [*EVALUATED] * system.compares:
            pairs = select_subset(corpus, split, types)
            blocks = evaluation_blocks(pairs, prototypes)
            if split == "train":
                blocks = training_blocks(pairs, prototypes, system.training.negatives, seed)
            quadruples[split] = str(folder / f"{split}.parquet")
            write_quadruples(blocks, pairs, quadruples[split])
        files = files._replace(prototypes=str(path), quadruples=quadruples)
    settings = {
        "systems": {"fitted": system_settings(system)},
        "question_types": types,
        "lowercase": lowercase,
    }
    job = CellJob(cell, settings, "fitted", system, {seed: files}, {})
    checkpoint = None
    if system.trained:
        from analogyqa.runs.train import checkpoint_path, train_one
        from analogyqa.training.devices import device_for

        checkpoint = checkpoint_path(job, seed, table_hashes(files), folder)
        epochs, column = system.training.max_epochs, HISTORY.names.index("epoch")
        with tqdm(total=epochs, desc=f"Train {name}", unit="epoch", **BAR) as bar:

            def show_epoch(history: list[list]) -> None:
                bar.update(history[-1][column] - bar.n)

            train_one(job, seed, device_for(device), checkpoint, show_epoch)
    learned = Learned(job, question_types, checkpoint)
    describe(learned, folder)
    return learned


def _changed(
    system: System, prototypes: int | None, training: Mapping[str, object] | None
) -> System:
    """Return a system with another number of prototypes, and changes of its section `training`."""
    if prototypes is not None and not system.needs_prototypes:
        raise AnalogyQAError(f"{system.title} has no prototypes. Leave out their number")
    given = {"p": prototypes, "training": training}
    changes = {name: value for name, value in given.items() if value is not None}
    try:
        return system.changed(changes) if changes else system
    except ValidationError as error:
        raise AnalogyQAError(explain_error(System, error.errors()[0])) from None


def _pretrained_section(
    system: System, config: Config, weights: str | Path | None
) -> SentenceVectors | None:
    """Return the section of the sentence vectors that a system reads, perhaps of another model."""
    if not system.sentence_vectors:
        return None
    section = config.sentence_vectors.get(system.sentence_vectors[0])
    if weights is None and section is None:
        raise AnalogyQAError(f"{system.title} reads sentence vectors: name their model as vectors")
    if weights is None:
        return section
    names = [MINILM_MODEL if weights == MINILM else str(weights)]
    if section is None:
        return SentenceVectors(encoder="sentence_transformers", weights=names)
    return section.model_copy(update={"weights": names})


def _store_sentence_vectors(
    parts: Iterable[Sequence[str]], section: SentenceVectors, path: Path, lowercase: bool
) -> None:
    """Write the vectors of sentences, for a section of the configuration."""
    import torch  # noqa: F401

    name, options = next(iter(section.weights or []), ""), section.options
    settings = section.model_dump(mode="json") | {"options": options, "lowercase": lowercase}
    resources = Resources(name, "", (), lowercase, options)
    with reproducible_arithmetic():
        store_sentences(parts, settings, resources, f"{section.encoder} {name}", path)


def _store_vectors(
    corpus: pd.DataFrame,
    origin: str | Path | None,
    path: Path,
    lowercase: bool,
    out_of_vocabulary: OutOfVocabulary,
) -> None:
    """Write the vectors of the words of a corpus; see `vectors` of `Model.fit`."""
    sentences = pd.concat([corpus["question"], corpus["candidate"]]).unique()
    vocabulary = build_vocabulary(sentences, lowercase)
    if origin == MINILM:
        resources = Resources(MINILM_MODEL, "", (), lowercase)
        selected = encode_sentences("sentence_transformers", vocabulary, resources)
        is_found = np.ones(len(vocabulary), dtype=bool)
    else:
        if origin is None:
            origin = path.with_name("fasttext.bin")
            _train_fasttext(sentences, origin, lowercase)
        selected, is_found = select_vectors(origin, vocabulary, out_of_vocabulary)
    write_store(selected, is_found, vocabulary, Path(origin).name, path)


def _train_fasttext(sentences: Sequence[str], path: Path, lowercase: bool) -> None:
    """Train fastText on sentences."""
    warnings.warn(
        f"no word vectors are given, so fastText learns them from {len(sentences)} sentences of "
        "the data frame alone. Vectors from more text rank better: name their file (vectors=PATH), "
        f'or take those of a sentence encoder (vectors="{MINILM}")',
        stacklevel=5,
    )
    text = path.with_suffix(".txt")
    write_text(text, "".join(" ".join(sentence.split()) + "\n" for sentence in sentences))
    # In a fresh process: with one thread fastText 0.9.3 initialises only a part of its input matrix
    # (its issue 1061), so the rest depends on what this process had in memory before.
    call = f"train_vectors([{str(text)!r}], {str(path)!r}, lowercase={lowercase}, **{FASTTEXT})"
    code = f"from analogyqa.vectors.train import train_vectors; {call}"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-P", "-c", code], env=environment, check=True)
