"""The data that benchmarks run on: WikiQA from the mirror, or the bundled sample without one."""

import os
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from measure import ROOT

from analogyqa.analogies.prototypes import choose_prototypes, take_prototypes
from analogyqa.analogies.quadruples import evaluation_blocks, training_blocks, write_quadruples
from analogyqa.corpora.questions import select_subset
from analogyqa.corpora.table import build_corpus
from analogyqa.schemas import QUADRUPLES, SPLITS, read_table
from analogyqa.settings.systems import Training
from analogyqa.text import tokenize
from analogyqa.training.data import CellData, cell_data
from analogyqa.vectors.files import build_vocabulary, select_vectors

QUESTION_TYPES = {"who": ["who"], "when": ["when"], "where": ["where"]}
TYPES = list(QUESTION_TYPES)  # of the subset `comb`
P, SEED, DIM = 30, 1, 300
SPLIT = partial(tokenize, lowercase=True)


def mirror() -> Path | None:
    """Return the folder of the real data, None without one."""
    folder = os.environ.get("ANALOGYQA_MIRROR")
    return Path(folder) if folder and Path(folder, "wikiqa").is_dir() else None


def corpus_name() -> str:
    """Return what `read_corpus` reads, for results.csv."""
    return "WikiQA" if mirror() else "the sample"


def data_name() -> str:
    """Return the name of the cell that `build_cell` builds, for results.csv."""
    return f"{corpus_name()} comb, p = {P}"


def split_files() -> dict[str, str]:
    """Return the files of the splits, in the format of WikiQA."""
    folder = (mirror() or ROOT / "sample") / "wikiqa"
    return {split: str(folder / f"WikiQA-{split}.tsv") for split in SPLITS}


def read_corpus() -> pd.DataFrame:
    """Return the corpus table of the data."""
    return build_corpus("wikiqa", "wikiqa", split_files(), QUESTION_TYPES, {})


def vectors_file() -> Path | None:
    """Return the word vectors of the mirror, None without one."""
    folder = mirror()
    return folder and folder / "vectors" / "enwiki-105m-300d.fasttext.vec.gz"


def word_vectors(corpus: pd.DataFrame, path: Path | None = None) -> tuple[np.ndarray, list[str]]:
    """Return the vectors of a corpus' words from a file, or random ones if only times matter."""
    sentences = pd.concat([corpus["question"], corpus["candidate"]])
    words = build_vocabulary(sentences, lowercase=True)
    if path is None:
        shape = (len(words), DIM)
        return np.random.default_rng(SEED).normal(size=shape).astype(np.float32), words
    return select_vectors(path, words, "random")[0], words


def drawn_cell() -> CellData:
    """Return the cell of the data, with random word vectors."""
    corpus = read_corpus()
    with tempfile.TemporaryDirectory() as folder:
        return build_cell(corpus, Path(folder), *word_vectors(corpus))


def write_all_quadruples(
    pairs: dict[str, pd.DataFrame], prototypes: pd.DataFrame, folder: Path
) -> None:
    """Write the quadruples of the pairs of each split to {split}.parquet in a folder."""
    for split, frame in pairs.items():
        if split == "train":
            blocks = training_blocks(frame, prototypes, Training().negatives, SEED)
        else:
            blocks = evaluation_blocks(frame, prototypes)
        write_quadruples(blocks, frame, folder / f"{split}.parquet")


def build_cell(
    corpus: pd.DataFrame, folder: Path, vectors: np.ndarray, words: list[str], p: int = P
) -> CellData:
    """Write the quadruples of a corpus as the pipeline does, and load them as a cell."""
    prototypes = take_prototypes(choose_prototypes(corpus, TYPES, SEED), TYPES, p, "the corpus")
    pairs = {split: select_subset(corpus, split, TYPES) for split in SPLITS}
    write_all_quadruples(pairs, prototypes, folder)
    quadruples = {split: read_table(folder / f"{split}.parquet", QUADRUPLES) for split in SPLITS}
    word_ids = {word: number for number, word in enumerate(words)}
    return cell_data(pairs, prototypes, quadruples, vectors, word_ids, SPLIT)
