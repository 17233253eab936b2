"""A toy corpus, the tables of a cell on it, and systems and jobs that read them."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from analogyqa.analogies.prototypes import choose_prototypes, take_prototypes
from analogyqa.analogies.quadruples import evaluation_blocks, training_blocks, write_quadruples
from analogyqa.cells.cell import Cell, system_settings
from analogyqa.corpora.questions import classify_question, select_subset
from analogyqa.schemas import CORPUS, PROTOTYPES, QUADRUPLES, SPLITS, read_table, write_table
from analogyqa.settings.data import PrototypeChoice
from analogyqa.settings.systems import Negatives, System
from analogyqa.training.data import CellFiles, CellJob
from analogyqa.vectors.files import build_vocabulary
from analogyqa.vectors.store import write_store

COMB = ["who", "when", "where"]  # the question types of the corpus
Question = tuple[str, str, list[tuple[str, int]]]  # split, text, candidates and their labels

QUESTION_TYPES = {name: [name] for name in COMB}
ANSWERS = {
    "who": ("anna", "bruno", "clara"),
    "when": ("1901", "1950", "1999"),
    "where": ("rome", "oslo", "lima"),
}
DIM = 8


CELL = Cell("analogy", "toy", "comb")
SOURCES = {"train": "toy-train", "dev": "toy-dev", "test": "toy-test"}


def corpus_table(questions: Iterable[Question]) -> pd.DataFrame:
    """Return questions as a corpus table; the ids are q0, q1, .. and q0-0, q0-1, .."""
    rows = []
    for number, (split, text, candidates) in enumerate(questions):
        answerable = any(label for _, label in candidates)
        question_type = classify_question(text, QUESTION_TYPES) if answerable else None
        rows += [
            (split, f"q{number}", text, f"q{number}-{position}", candidate, label, question_type)
            for position, (candidate, label) in enumerate(candidates)
        ]
    return pd.DataFrame(rows, columns=CORPUS.names)


def toy_questions() -> Iterator[Question]:
    """Yield questions whose correct candidates have a word of the question's type."""
    for split, count in (("train", 6), ("dev", 4), ("test", 4)):
        for number in range(count):
            for question_type, answers in ANSWERS.items():
                others = [words for other, words in ANSWERS.items() if other != question_type]
                candidates = [(f"thing {number} likes {words[number % 3]}", 0) for words in others]
                candidates.insert(number % 3, (f"thing {number} likes {answers[number % 3]}", 1))
                if number == 0:
                    candidates.append((f"here is {answers[1]}", 1))
                yield split, f"{question_type} is thing {number} ?", candidates
        for question_type, answers in ANSWERS.items():
            yield split, f"{question_type} is all correct ?", [(f"all like {answers[2]}", 1)]
        yield split, "what is thing 0 ?", [("of no type", 1)]
        yield split, "who is never found ?", [("no correct candidate", 0)]


def write_tables(
    corpus: pd.DataFrame,
    folder: Path,
    seed: int = 0,
    types: list[str] | None = COMB,
    p: int = 3,
    negatives: Negatives | None = None,
    dim: int = DIM,
    choice: PrototypeChoice = "pair",
) -> CellFiles:
    """Write the tables of one seed of a cell to a folder."""
    write_table(corpus, CORPUS, folder / "corpus.parquet")
    vocabulary = build_vocabulary(pd.concat([corpus["question"], corpus["candidate"]]), True)
    vectors = np.random.default_rng(1).normal(size=(len(vocabulary), dim)).astype(np.float32)
    has_vector = np.ones(len(vocabulary), dtype=bool)
    write_store(vectors, has_vector, vocabulary, "toy", folder / "vectors.npy")
    prototypes = choose_prototypes(corpus, types, seed, choice)
    write_table(prototypes, PROTOTYPES, folder / f"prototypes{seed}.parquet")
    chosen = take_prototypes(prototypes, types, p, "prototypes")
    quadruples = {}
    for split in SPLITS:
        pairs = select_subset(corpus, split, types)
        quadruples[split] = str(folder / f"{split}{seed}.parquet")
        if split == "train":
            blocks = training_blocks(pairs, chosen, negatives or Negatives(), seed)
        else:
            blocks = evaluation_blocks(pairs, chosen)
        write_quadruples(blocks, pairs, quadruples[split])
    return CellFiles(
        str(folder / "corpus.parquet"),
        str(folder / "vectors.npy"),
        str(folder / f"prototypes{seed}.parquet"),
        quadruples,
    )


def trained_system(ranker="analogy", encoder="bigru", p: int = 3, **training) -> System:
    """Return a system that trains in a second."""
    small = {"sentence_dim": 4, "batch_size": 4, "max_epochs": 3, "patience": 3}
    vectors = None if encoder == "minilm" else "some"
    values = {"encoder": encoder, "vectors": vectors, "ranker": ranker, "p": p}
    return System(title="T", **values, training=small | training)


def untrained_system(ranker="analogy", encoder="mean", p: int = 3, **values) -> System:
    vectors = None if encoder == "random" else "some"
    return System(title="U", encoder=encoder, vectors=vectors, ranker=ranker, p=p, **values)


def toy_job(
    system: System,
    files: dict[int, CellFiles],
    types: list[str] | None = COMB,
    cell: Cell = CELL,
    *,
    hyperparameters: str = "paper",
    sources: dict[str, str] = SOURCES,
) -> CellJob:
    """Return the job of a cell on the tables of each seed."""
    settings = {
        "seeds": list(files),
        "question_types": types,
        "systems": {hyperparameters: system_settings(system)},
        "lowercase": True,
        "parts": {},
    }
    return CellJob(cell, settings, hyperparameters, system, files, sources)


def stop_after(epochs: int) -> Callable[[list[list]], None]:
    """Return a hook that interrupts a training run once it has saved some epochs."""

    def stop(history: list[list]) -> None:
        if history[-1][1] == epochs:
            raise KeyboardInterrupt

    return stop


def quadruple_texts(data, batch):
    """Return the quadruples of a batch as texts and labels."""
    texts = np.array(list(data.sentences.index))[batch.sentences]
    corners = (texts[corner] for corner in (batch.a, batch.b, batch.c, batch.d))
    return list(zip(*corners, batch.labels.tolist(), strict=True))


def written_quadruples(files):
    """Return the training quadruples as texts and labels, read from the tables themselves."""
    corpus = read_table(files.corpus, CORPUS).set_index("candidate_id")
    prototypes = read_table(files.prototypes, PROTOTYPES)
    prototypes = prototypes.set_index(["question_type", "rank"])["candidate_id"]
    quadruples = read_table(files.quadruples["train"], QUADRUPLES)
    pairs = corpus.loc[quadruples["candidate_id"]]
    keys = list(zip(pairs["question_type"], quadruples["prototype"], strict=True))
    prototype_pairs = corpus.loc[prototypes.loc[keys]]
    columns = [
        table[name] for table in (prototype_pairs, pairs) for name in ("question", "candidate")
    ]
    return list(zip(*columns, pairs["label"], strict=True))
