"""The data of a cell: its tables, and its sentences, pairs and quadruples as row numbers."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analogyqa.analogies.prototypes import take_prototypes
from analogyqa.cells import Cell
from analogyqa.cells.cell import Settings
from analogyqa.corpora.questions import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, PROTOTYPES, QUADRUPLES, SPLITS, read_table
from analogyqa.settings.systems import System
from analogyqa.text import Sentences, as_one_word, tokenize
from analogyqa.vectors.frequencies import Frequencies, read_frequencies
from analogyqa.vectors.store import read_store

_TEXTS = ["question", "candidate"]
# The vectors of words [V, d], the row of each word in them, both None without a store, and the
# function that splits a sentence into words.
VocabularyParts = tuple[Any, dict[str, int] | None, Callable[[str], list[str]]]


class CellFiles(NamedTuple):
    """The tables for one seed of a cell; None or empty if the system needs none."""

    corpus: str  # of schema CORPUS
    vectors: str | None  # the store of word vectors
    prototypes: str | None  # of schema PROTOTYPES
    quadruples: dict[str, str]  # of schema QUADRUPLES, by split
    sentence_vectors: str | None = None  # the store of sentence vectors
    frequencies: str | None = None  # the file of the frequencies of words

    def without_prototypes(self) -> "CellFiles":
        """Return the tables for a system without prototypes."""
        return self._replace(prototypes=None, quadruples={})

    def by_role(self) -> dict[str, str]:
        """Return the files with a name for each, for the record of the run."""
        files = {name.replace("_", " "): path for name, path in self._asdict().items() if path}
        files |= {f"quadruples {split}": path for split, path in self.quadruples.items()}
        return {name: path for name, path in files.items() if name != "quadruples"}


class CellJob(NamedTuple):
    """The cell of a job, and what its results depend on."""

    cell: Cell
    settings: Settings  # what `Cell.settings` returns; its record keeps them
    hyperparameters: str  # the key of the system in `settings["systems"]`
    system: System  # with the overrides and hyperparameters of the cell
    files: dict[int, CellFiles]  # of each seed
    sources: dict[str, str]  # where the pairs of each split come from, for the record

    @property
    def types(self) -> Sequence[str] | None:
        """The question types of its subset; None for `all`."""
        return self.settings["question_types"]

    @property
    def lowercase(self) -> bool:
        return self.settings["lowercase"]

    def first_seed_only(self) -> "CellJob":
        """Return the job for its first seed alone."""
        return self._replace(files=dict([*self.files.items()][:1]))

    def load(self, seed: int) -> "CellData":
        """Read the tables of a seed, as `load_cell` does."""
        return load_cell(self.files[seed], self.types, self.system, self.lowercase)


class SplitData(NamedTuple):
    """The M pairs and n quadruples of a split of a cell."""

    pairs: pd.DataFrame  # the table
    questions: np.ndarray  # sentence numbers, [M]
    candidates: np.ndarray
    labels: np.ndarray  # [M]
    prototypes: np.ndarray  # the row of the prototype of each quadruple, [n]
    rows: np.ndarray  # and that of its pair

    @property
    def question_numbers(self) -> np.ndarray:
        """The number of the question of each pair, from 0: int [M]."""
        return pd.factorize(self.pairs["question_id"])[0]

    @property
    def groups(self) -> dict[str, str]:
        """The question type of each question_id, by which measures are grouped."""
        return dict(zip(self.pairs["question_id"], self.pairs["question_type"], strict=True))


class CellData(NamedTuple):
    """The data that one seed of a cell is trained and scored on, with P prototypes.

    `all_pairs` is the SplitData of all splits, answerable or not, for a system that is fitted.
    """

    sentences: Sentences
    word_vectors: Any  # float32 [V, d]; None for a system that reads none
    prototype_ranks: np.ndarray  # [P]
    prototype_questions: np.ndarray  # sentence numbers, [P]
    prototype_candidates: np.ndarray
    splits: dict[str, SplitData]
    all_pairs: Any = None
    frequencies: Frequencies | None = None  # of words in a larger text


def load_cell(
    files: CellFiles, types: Sequence[str] | None, system: System, lowercase: bool
) -> CellData:
    """Read the tables of one seed of a cell, for some question types (None for all).

    Only a system that is trained gets all training pairs and not only the prototypes; only one that
    is fitted gets the pairs of all splits. `lowercase` is that of the vocabulary.

    Raises AnalogyQAError when a file is damaged or does not fit the others.
    """
    corpus = read_table(files.corpus, CORPUS)
    prototypes = pd.DataFrame(columns=PROTOTYPES.names)
    if files.prototypes:
        table = read_table(files.prototypes, PROTOTYPES)
        prototypes = take_prototypes(table, types, system.p, files.prototypes)
    pairs = load_pairs(corpus, types, SPLITS, files.corpus)
    if not system.trained:
        is_prototype = pairs["train"]["candidate_id"].isin(prototypes["candidate_id"])
        pairs["train"] = pairs["train"][is_prototype].reset_index(drop=True)
    quadruples = {split: read_table(path, QUADRUPLES) for split, path in files.quadruples.items()}
    vocabulary = read_vocabulary(files, system, lowercase)
    all_pairs = fitted_pairs(corpus, types, system)
    try:
        data = cell_data(system, pairs, prototypes, quadruples, vocabulary, all_pairs)
    except AnalogyQAError as error:
        raise AnalogyQAError(
            f"{', '.join(files.by_role().values())}: {error}. These files do not fit each other: "
            "delete them, then run the same command again to rebuild them."
        ) from error
    _, word_ids, _ = vocabulary
    if files.frequencies and word_ids is not None:
        data = data._replace(frequencies=read_frequencies(files.frequencies, word_ids))
    return data


def load_pairs(
    corpus: pd.DataFrame, types: Sequence[str] | None, splits: Sequence[str], origin: str
) -> dict[str, pd.DataFrame]:
    """Return the pairs of the question types of a subset (None for `all`), by split.

    Raises AnalogyQAError, which names `origin`, the file of the corpus, if a split has no pairs.
    """
    pairs = {split: select_subset(corpus, split, types) for split in splits}
    for split, frame in pairs.items():
        if frame.empty:
            of_type = f" of type {' or '.join(types)}" if types else ""
            raise AnalogyQAError(
                f"{origin}: no question{of_type} in the {split} split has a correct candidate. "
                "Remove this subset (subsets), or add such questions to the data set."
            )
    return pairs


def fitted_pairs(
    corpus: pd.DataFrame, types: Sequence[str] | None, system: System
) -> pd.DataFrame | None:
    """Return the pairs that a system is fitted to, None for a system that is not."""
    if not system.fitted:
        return None
    return corpus if types is None else corpus[corpus["question_type"].isin(types)]


def read_vocabulary(files: CellFiles, system: System, lowercase: bool) -> VocabularyParts:
    """Return the vectors, the row of each word, and the function that splits a sentence."""
    store = files.sentence_vectors or files.vectors
    vectors, word_ids = read_store(store) if store else (None, None)
    if files.sentence_vectors:
        return vectors, word_ids, as_one_word
    if system.encoder_spec and system.encoder_spec.vocabulary:
        return vectors, *system.encoder_spec.vocabulary.load()()
    split = partial(tokenize, lowercase=lowercase, shortest=system.shortest_word)
    return vectors, word_ids, split


def cell_data(
    system: System,
    pairs: dict[str, pd.DataFrame],
    prototypes: pd.DataFrame,
    quadruples: dict[str, pd.DataFrame],
    vocabulary: VocabularyParts,
    all_pairs: pd.DataFrame | None = None,
) -> CellData:
    """Number the sentences of a cell, and turn its quadruples into row numbers.

    Args:
        system: The system, which may exchange the answers of prototypes.
        pairs: The pairs of the subset, by split.
        prototypes: The first p prototypes of each type; empty for a system that needs none.
        quadruples: The tables of quadruples of some splits.
        vocabulary: What `read_vocabulary` returns.
        all_pairs: The pairs that a system is fitted to, if it is.

    Raises AnalogyQAError when the tables do not fit each other.
    """
    word_vectors, word_ids, split_words = vocabulary
    frames = [*pairs.values(), *([] if all_pairs is None else [all_pairs])]
    sentences = Sentences(_unique_texts(*frames), word_ids, split_words)
    chosen = pairs["train"].set_index("candidate_id").reindex(prototypes["candidate_id"])
    if chosen["question"].isna().any():
        raise AnalogyQAError("the prototypes belong to another corpus")
    types = prototypes["question_type"].astype(str)
    by_rank = {key: row for row, key in enumerate(zip(types, prototypes["rank"], strict=True))}
    return CellData(
        sentences,
        word_vectors,
        prototypes["rank"].to_numpy(),
        sentences.numbers(chosen["question"]),
        sentences.numbers(chosen["candidate"])[answer_rows(prototypes, system)],
        {
            split: _split_data(frame, quadruples.get(split), sentences, by_rank)
            for split, frame in pairs.items()
        },
        None if all_pairs is None else _split_data(all_pairs, None, sentences, by_rank),
    )


def _split_data(
    pairs: pd.DataFrame,
    quadruples: pd.DataFrame | None,
    sentences: Sentences,
    by_rank: dict[tuple[str, int], int],
) -> SplitData:
    questions, candidates = (sentences.numbers(pairs[column]) for column in _TEXTS)
    prototypes = rows = np.zeros(0, dtype=np.int64)
    if quadruples is not None:
        pair_rows = pd.Series(np.arange(len(pairs)), index=pairs["candidate_id"])
        categories = quadruples["candidate_id"].cat
        category_rows = pair_rows.reindex(categories.categories)
        ranks = 1 + max(rank for _, rank in by_rank)
        if category_rows.isna().any() or quadruples["prototype"].max() >= ranks:
            raise AnalogyQAError("the quadruples belong to another corpus or to more prototypes")
        rows = category_rows.to_numpy(dtype=np.int64)[categories.codes]
        types = pairs["question_type"].astype(str).to_numpy()
        table = np.full((len(pairs), ranks), -1, dtype=np.int64)
        for (question_type, rank), row in by_rank.items():
            table[types == question_type, rank] = row
        prototypes = table[rows, quadruples["prototype"].to_numpy()]
    labels = pairs["label"].to_numpy()
    return SplitData(pairs, questions, candidates, labels, prototypes, rows)


def answer_rows(prototypes: pd.DataFrame, system: System) -> np.ndarray:
    """Return the row of prototypes whose answer each prototype has: int [P].

    It is its own, or with `prototype_answers: others` the previous one of its type.
    """
    rows = np.arange(len(prototypes))
    if system.prototype_answers == "others":
        for members in prototypes.groupby("question_type", observed=True).indices.values():
            rows[members] = np.roll(members, 1)
    return rows


def split_evenly(rows: np.ndarray, size: int) -> list[np.ndarray]:
    """Split rows [n] into parts of at most `size` rows, whose sizes differ by at most one."""
    return np.array_split(rows, math.ceil(len(rows) / size)) if len(rows) else []


def ranked_sentences(corpus: pd.DataFrame, typed_only: bool) -> list[str]:
    """Return the unique sentences that ranking needs.

    These are the questions and candidates of dev and test, and the correct training pairs, which
    may be prototypes. With `typed_only`, questions without a type are left out.
    """
    ranked = corpus[(corpus["split"] != "train") | (corpus["label"] == 1)]
    if typed_only:
        ranked = ranked[ranked["question_type"].notna()]
    return _unique_texts(ranked)


def training_sentences(corpus: pd.DataFrame) -> list[str]:
    """Return the unique questions and candidates of the training split."""
    return _unique_texts(corpus[corpus["split"] == "train"])


def sentence_parts(
    corpus: pd.DataFrame, typed_only: bool, with_wrong_training: bool
) -> list[list[str]]:
    """Return the sentences of which vectors are made: those of `ranked_sentences`, and others.

    The others are those of wrong training pairs, if asked for. They are a part of their own,
    because the last bits of a vector depend on the sentences in its batch.
    """
    ranked = ranked_sentences(corpus, typed_only)
    if not with_wrong_training:
        return [ranked]
    known, every = {*ranked}, ranked_sentences(corpus.assign(label=1), typed_only)
    return [ranked, [text for text in every if text not in known]]


def _unique_texts(*frames: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(pd.concat([frame[side] for frame in frames for side in _TEXTS])))
