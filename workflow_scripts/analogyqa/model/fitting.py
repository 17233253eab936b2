"""Fit a system to a corpus without a workflow, by the functions that the jobs call."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from analogyqa.analogies.prototypes import choose_prototypes, take_prototypes
from analogyqa.analogies.quadruples import evaluation_blocks, training_blocks, write_quadruples
from analogyqa.cells.cell import Cell, system_settings
from analogyqa.corpora.questions import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.model.learned import (
    CORPUS_FILE,
    PROTOTYPES_FILE,
    VECTORS,
    Learned,
    describe,
    require_new_texts,
)
from analogyqa.runs.record import table_hashes
from analogyqa.schemas import CORPUS, PROTOTYPES, read_table, write_table
from analogyqa.settings.data import ALL, PrototypeChoice
from analogyqa.settings.systems import System
from analogyqa.training.data import CellFiles, CellJob
from analogyqa.training.scoring import EVALUATED
from analogyqa.vectors.fasttext_files import OutOfVocabulary
from analogyqa.vectors.files import build_vocabulary, select_vectors
from analogyqa.vectors.store import write_store


def fit(
    system: System,
    corpus: pd.DataFrame,
    folder: str | Path,
    *,
    question_types: Mapping[str, Sequence[str]],
    types: Sequence[str] | None = None,
    vectors: str | Path | None = None,
    seed: int = 0,
    lowercase: bool = True,
    out_of_vocabulary: OutOfVocabulary = "random",
    prototype_choice: PrototypeChoice = "pair",
    device: Literal["auto", "cpu", "cuda"] = "auto",
) -> Learned:
    """Fit a system to a corpus, as the jobs of a workflow do.

    Args:
        system: The system, such as `read_config("config.yaml").systems["analogy"]`.
        corpus: A table of schema CORPUS, as `corpora.table.build_corpus` reads it.
        folder: The folder for its tables and its checkpoint. An interrupted training run resumes
            from there, and a finished one is not repeated.
        question_types: The first words of each question type.
        types: The question types to learn from and to rank; None for all questions.
        vectors: The file of word vectors, in any format of `vectors.select`; None for a system
            that reads none.
        seed: The seed of prototypes, initial weights and batches.
        lowercase, out_of_vocabulary, prototype_choice, device: As in the configuration.

    Raises AnalogyQAError when the system cannot read new texts, when `vectors` has no word of the
    corpus, or when a type has too few questions.
    """
    cell = Cell(system.title, "corpus", "-".join(types) if types else ALL)
    folder = Path(folder)
    require_new_texts(system, system.title)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CORPUS_FILE
    write_table(corpus, CORPUS, path)
    corpus = read_table(path, CORPUS)
    files = CellFiles(str(path), None, None, {})
    if system.vectors:
        if vectors is None:
            raise AnalogyQAError(f"{system.title} reads word vectors: give their file as vectors")
        sentences = pd.concat([corpus["question"], corpus["candidate"]])
        vocabulary = build_vocabulary(sentences, lowercase)
        selected, is_found = select_vectors(vectors, vocabulary, out_of_vocabulary)
        write_store(selected, is_found, vocabulary, Path(vectors).name, folder / VECTORS)
        files = files._replace(vectors=str(folder / VECTORS))
    if system.needs_prototypes:
        path = folder / PROTOTYPES_FILE
        choice = system.ranker_spec.prototype_choice or prototype_choice
        write_table(choose_prototypes(corpus, types, seed, choice), PROTOTYPES, path)
        prototypes = take_prototypes(read_table(path, PROTOTYPES), types, system.p, str(path))
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
        train_one(job, seed, device_for(device), checkpoint)
    learned = Learned(job, question_types, checkpoint)
    describe(learned, folder)
    return learned
