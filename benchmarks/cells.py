"""The cell that benchmarks train: WikiQA from the mirror, or the bundled sample without one."""

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
from analogyqa.settings.systems import System
from analogyqa.text import tokenize
from analogyqa.training.data import CellData, cell_data
from analogyqa.vectors.files import build_vocabulary

QUESTION_TYPES = {"who": ["who"], "when": ["when"], "where": ["where"]}
TYPES = list(QUESTION_TYPES)  # of the subset `comb`
P, SEED, DIM = 30, 1, 300
SYSTEM = System(title="Analogy", encoder="bigru", vectors="random", ranker="analogy", p=P)


def data_folder() -> tuple[str, Path]:
    """Return the name and the folder of the data."""
    mirror = os.environ.get("ANALOGYQA_MIRROR")
    if mirror and Path(mirror, "wikiqa").is_dir():
        return "WikiQA", Path(mirror, "wikiqa")
    return "the sample", ROOT / "sample" / "wikiqa"


def data_name() -> str:
    """Return the name of the cell that `drawn_cell` builds, for results.csv."""
    return f"{data_folder()[0]} comb, p = {P}"


def drawn_cell() -> CellData:
    """Write the quadruples of the data as the pipeline does, and load them as a cell.

    Its word vectors are random, because only times matter.
    """
    files = {split: str(data_folder()[1] / f"WikiQA-{split}.tsv") for split in SPLITS}
    corpus = build_corpus("wikiqa", "wikiqa", files, QUESTION_TYPES, {})
    prototypes = take_prototypes(choose_prototypes(corpus, TYPES, SEED), TYPES, P, "the corpus")
    pairs = {split: select_subset(corpus, split, TYPES) for split in SPLITS}
    quadruples = {}
    with tempfile.TemporaryDirectory() as folder:
        for split, frame in pairs.items():
            blocks = (
                training_blocks(frame, prototypes, SYSTEM.training.negatives, SEED)
                if split == "train"
                else evaluation_blocks(frame, prototypes)
            )
            path = Path(folder, f"{split}.parquet")
            write_quadruples(blocks, frame, path)
            quadruples[split] = read_table(path, QUADRUPLES)
    words = build_vocabulary(pd.concat([corpus["question"], corpus["candidate"]]), lowercase=True)
    vectors = np.random.default_rng(SEED).normal(size=(len(words), DIM)).astype(np.float32)
    word_ids = {word: number for number, word in enumerate(words)}
    vocabulary = (vectors, word_ids, partial(tokenize, lowercase=True))
    return cell_data(SYSTEM, pairs, prototypes, quadruples, vocabulary)
