"""Time and memory of each stage as the corpus grows."""

import csv
import tempfile
from collections.abc import Callable
from pathlib import Path

import cells
import numpy as np
import pandas as pd
from measure import FOLDER, Cost, record, run_in_new_process

from analogyqa.analogies.prototypes import choose_prototypes, take_prototypes
from analogyqa.corpora.questions import select_subset
from analogyqa.corpora.table import build_corpus
from analogyqa.runs.record import metrics_of
from analogyqa.schemas import CORPUS, PROTOTYPES, SCORES, SPLITS, read_table, write_table
from analogyqa.settings.systems import System, Training
from analogyqa.training.data import CellData
from analogyqa.training.files import CellFiles, load_cell
from analogyqa.training.loop import train_seed
from analogyqa.vectors.store import write_store

COPIES = (1, 4, 16, 64)
# Stages of fewer seconds are measured three times, because noise would change their slope.
SHORT = 2.0
# Small, so that the largest corpus takes minutes; what grows is the number of sentences.
TRAINING = Training(sentence_dim=50, max_epochs=1)
SYSTEM = System(
    title="", encoder="bigru", vectors="drawn", ranker="analogy", p=cells.P, training=TRAINING
)


def write_splits(copies: int, folder: Path) -> None:
    """Write the files of a corpus with `copies` times the questions, with new ids and sentences."""
    for split, source in cells.split_files().items():
        table = pd.read_csv(source, sep="\t", quoting=csv.QUOTE_NONE, dtype=str, na_filter=False)
        parts = []
        for number in range(copies):
            part = table[["QuestionID", "Question", "Sentence", "Label"]].copy()
            part["QuestionID"] += f"-{number}"
            part[["Question", "Sentence"]] += f" {number}"
            parts.append(part)
        path = folder / f"{split}.tsv"
        pd.concat(parts).to_csv(path, sep="\t", index=False, quoting=csv.QUOTE_NONE)


def make_corpus(folder: Path) -> None:
    files = {split: str(folder / f"{split}.tsv") for split in SPLITS}
    write_table(
        build_corpus("wikiqa", "wikiqa", files, cells.QUESTION_TYPES, {}),
        CORPUS,
        folder / "corpus.parquet",
    )


def make_vocabulary(folder: Path) -> None:
    corpus = read_table(folder / "corpus.parquet", CORPUS)
    vectors, words = cells.word_vectors(corpus)
    write_store(vectors, np.ones(len(words), dtype=bool), words, "drawn", folder / "vectors.npy")


def choose(folder: Path) -> None:
    corpus = read_table(folder / "corpus.parquet", CORPUS)
    chosen = choose_prototypes(corpus, cells.TYPES, cells.SEED)
    write_table(chosen, PROTOTYPES, folder / "prototypes.parquet")


def make_quadruples(folder: Path) -> None:
    corpus = read_table(folder / "corpus.parquet", CORPUS)
    chosen = read_table(folder / "prototypes.parquet", PROTOTYPES)
    prototypes = take_prototypes(chosen, cells.TYPES, cells.P, "the corpus")
    pairs = {split: select_subset(corpus, split, cells.TYPES) for split in SPLITS}
    cells.write_all_quadruples(pairs, prototypes, folder)


def load(folder: Path) -> CellData:
    quadruples = {split: str(folder / f"{split}.parquet") for split in SPLITS}
    names = (str(folder / f"{name}") for name in ("corpus.parquet", "vectors.npy"))
    files = CellFiles(*names, str(folder / "prototypes.parquet"), quadruples)
    return load_cell(files, cells.TYPES, SYSTEM, lowercase=True)


def train(folder: Path) -> None:
    import torch

    torch.set_num_threads(1)
    (folder / "state.pt").unlink(missing_ok=True)  # training would resume there
    data, device = load(folder), torch.device("cpu")
    trained = train_seed(data, SYSTEM, cells.SEED, device, folder / "state.pt", "growth")
    write_table(trained.scores, SCORES, folder / "scores.parquet")


def measure(folder: Path) -> None:
    scores = read_table(folder / "scores.parquet", SCORES)
    corpus = read_table(folder / "corpus.parquet", CORPUS)
    metrics_of(scores, corpus, cells.TYPES)


STAGES = {
    "corpus": make_corpus,
    "vocabulary": make_vocabulary,
    "prototypes": choose,
    "quadruples": make_quadruples,
    "load a cell": load,
    "train an epoch, score dev and test": train,
    "measure": measure,
}


def quickest(stage: Callable[[Path], object], folder: Path) -> Cost:
    """Return the cost of a stage: of a short one, the lowest of three."""
    costs = [run_in_new_process(stage, folder)]
    if costs[0].cpu_seconds <= SHORT:
        costs += [run_in_new_process(stage, folder) for _ in range(2)]
    return min(costs, key=lambda cost: cost.cpu_seconds)


def main() -> None:
    rows = []
    for copies in COPIES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_splits(copies, folder)
            for stage, function in STAGES.items():
                cost = quickest(function, folder)
                rows.append((stage, copies, cost.cpu_seconds, cost.memory_mb))
                print(
                    f"{stage}, {copies} x: {cost.cpu_seconds:.2f} s, {cost.memory_mb:.0f} MB",
                    flush=True,
                )
    table = pd.DataFrame(rows, columns=["stage", "copies", "cpu_seconds", "memory_mb"])
    table.round(3).to_csv(FOLDER / "growth.csv", index=False)
    for column, goal in (("cpu_seconds", "growth: time"), ("memory_mb", "growth: memory")):
        slopes = {
            stage: np.polyfit(np.log(part["copies"]), np.log(part[column]), 1)[0]
            for stage, part in table.groupby("stage", sort=False)
        }
        steepest = max(slopes, key=slopes.__getitem__)
        data = f"{cells.corpus_name()}, 1 to {COPIES[-1]} times, the steepest stage"
        record(goal, data, "slope", slopes[steepest], packages=["pandas", "torch"])


if __name__ == "__main__":
    main()
