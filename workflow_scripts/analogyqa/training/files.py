"""Load the data of a cell from its tables."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from analogyqa.analogies.prototypes import take_prototypes
from analogyqa.cells import Cell
from analogyqa.cells.cell import Settings
from analogyqa.corpora.questions import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, PROTOTYPES, QUADRUPLES, SPLITS, read_table
from analogyqa.settings.systems import System
from analogyqa.text import as_one_word, tokenize
from analogyqa.training.data import CellData, cell_data
from analogyqa.vectors.frequencies import read_frequencies
from analogyqa.vectors.store import read_store


class CellFiles(NamedTuple):
    """The tables for one seed of a cell; None or empty if the system needs none.

    Attributes:
        corpus: The table of schema CORPUS.
        vectors: The store of word vectors.
        prototypes: The table of schema PROTOTYPES.
        quadruples: The table of schema QUADRUPLES, by split.
        sentence_vectors: The store of sentence vectors.
        frequencies: The file of the frequencies of words.
    """

    corpus: str
    vectors: str | None
    prototypes: str | None
    quadruples: dict[str, str]
    sentence_vectors: str | None = None
    frequencies: str | None = None

    def without_prototypes(self) -> "CellFiles":
        """Return the tables for a system without prototypes."""
        return self._replace(prototypes=None, quadruples={})

    def by_role(self) -> dict[str, str]:
        """Return the files with a name for each, for the record of the run."""
        quadruples = {f"quadruples {split}": path for split, path in self.quadruples.items()}
        single = {
            "corpus": self.corpus,
            "vectors": self.vectors,
            "sentence vectors": self.sentence_vectors,
            "prototypes": self.prototypes,
            "frequencies": self.frequencies,
        }
        return quadruples | {name: path for name, path in single.items() if path}


class CellJob(NamedTuple):
    """The cell of a job, and what its results depend on.

    Attributes:
        cell: The cell.
        settings: What `Cell.settings` returns; its record keeps them.
        hyperparameters: The key of the system in `settings["systems"]`.
        system: The system, with the overrides and hyperparameters of the cell.
        files: The tables of each seed.
        sources: Where the pairs of each split come from, for the record.
    """

    cell: Cell
    settings: Settings
    hyperparameters: str
    system: System
    files: dict[int, CellFiles]
    sources: dict[str, str]

    @property
    def types(self) -> Sequence[str] | None:
        """The question types of its subset; None for `all`."""
        return self.settings["question_types"]

    @property
    def lowercase(self) -> bool:
        """Whether words are lower-cased."""
        return self.settings["lowercase"]

    def first_seed_only(self) -> "CellJob":
        """Return the job for its first seed alone."""
        return self._replace(files=dict([*self.files.items()][:1]))

    def load(self, seed: int) -> CellData:
        """Read the tables of a seed, as `load_cell` does."""
        return load_cell(self.files[seed], self.types, self.system, self.lowercase)


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


def read_vocabulary(
    files: CellFiles, system: System, lowercase: bool
) -> tuple[np.ndarray | None, dict[str, int] | None, Callable[[str], list[str]]]:
    """Return the vectors, the row of each word, and the function that splits a sentence."""
    store = files.sentence_vectors or files.vectors
    vectors, word_ids = read_store(store) if store else (None, None)
    if files.sentence_vectors:
        return vectors, word_ids, as_one_word
    if system.encoder_spec and system.encoder_spec.vocabulary:
        return vectors, *system.encoder_spec.vocabulary.load()()
    split = partial(tokenize, lowercase=lowercase, shortest=system.shortest_word)
    return vectors, word_ids, split


def load_cell(
    files: CellFiles, types: Sequence[str] | None, system: System, lowercase: bool
) -> CellData:
    """Read the tables of one seed of a cell.

    Args:
        files: The tables of the seed.
        types: The question types of the cell's subset; None for `all`.
        system: The system that is trained or scored. Only one that is trained gets all training
            pairs and not only the prototypes; only one that is fitted gets the pairs of all splits.
        lowercase: Whether the vocabulary is lower-cased.

    Raises:
        AnalogyQAError: If a file is damaged or does not fit the others.
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
    everything = fitted_pairs(corpus, types, system)
    vectors, word_ids, split = read_vocabulary(files, system, lowercase)
    try:
        data = cell_data(pairs, prototypes, quadruples, vectors, word_ids, split, everything)
    except AnalogyQAError as error:
        raise AnalogyQAError(
            f"{', '.join(files.by_role().values())}: {error}. These files do not fit each other: "
            "delete them, then run the same command again to rebuild them."
        ) from error
    if files.frequencies and word_ids is not None:
        data = data._replace(frequencies=read_frequencies(files.frequencies, word_ids))
    return with_prototype_answers(data, prototypes, system)


def fitted_pairs(
    corpus: pd.DataFrame, types: Sequence[str] | None, system: System
) -> pd.DataFrame | None:
    """Return the pairs that a system is fitted to, None for a system that is not."""
    if not system.fitted:
        return None
    return corpus if types is None else corpus[corpus["question_type"].isin(types)]


def with_prototype_answers(data: CellData, prototypes: pd.DataFrame, system: System) -> CellData:
    """Give each prototype its answer: that of the row that `answer_rows` returns."""
    rows = answer_rows(prototypes, system)
    return data._replace(prototype_candidates=data.prototype_candidates[rows])


def answer_rows(prototypes: pd.DataFrame, system: System) -> np.ndarray:
    """Return the row of prototypes whose answer each prototype has: int [P].

    It is its own, or with `prototype_answers: others` the previous one of its type.
    """
    rows = np.arange(len(prototypes))
    if system.prototype_answers == "others":
        for members in prototypes.groupby("question_type", observed=True).indices.values():
            rows[members] = np.roll(members, 1)
    return rows
