"""From the tables of a cell to its data."""

from functools import partial
from typing import NamedTuple

import pandas as pd

from analogyqa.analogies.prototypes import take
from analogyqa.analogies.quadruples import subset_of
from analogyqa.errors import AnalogyQAError
from analogyqa.examples.data import CellData, cell_data
from analogyqa.schemas import CORPUS, PROTOTYPES, QUADRUPLES, SPLITS, read_table
from analogyqa.text import tokenize, whole
from analogyqa.vectors.store import read_store


class CellFiles(NamedTuple):
    """The tables that one seed of a cell is made of; None or empty where the model needs none.

    `vectors` are of words or, in a store of `sentence_vectors`, of whole sentences. `quadruples`
    maps a split to its file.
    """

    corpus: str
    vectors: str | None
    prototypes: str | None
    quadruples: dict[str, str]
    sentence_vectors: str | None = None

    def named(self) -> dict[str, str]:
        """Return the files by what they are, for the record of the run."""
        named = {f"quadruples {split}": path for split, path in self.quadruples.items()}
        single = {
            "corpus": self.corpus,
            "vectors": self.vectors,
            "sentence vectors": self.sentence_vectors,
            "prototypes": self.prototypes,
        }
        return named | {name: path for name, path in single.items() if path}


def require_questions(pairs: dict[str, pd.DataFrame], subset: str, origin: str) -> None:
    """Raise AnalogyQAError when a split has no pairs of a subset; `origin` is their corpus."""
    for split, frame in pairs.items():
        if frame.empty:
            raise AnalogyQAError(
                f"{origin}: no question of {subset} in the {split} split has a correct candidate. "
                "Leave this subset out (subsets) or give the data set such questions."
            )


def load_cell(files: CellFiles, subset: str, p: int, lowercase: bool) -> CellData:
    """Read the tables of one seed of a cell.

    Raises AnalogyQAError when a file is damaged or does not fit the others.
    """
    corpus = read_table(files.corpus, CORPUS)
    store = files.sentence_vectors or files.vectors
    vectors, word_ids = read_store(store) if store else (None, None)
    if files.prototypes:
        prototypes = take(read_table(files.prototypes, PROTOTYPES), subset, p, files.prototypes)
    else:
        prototypes = pd.DataFrame(columns=PROTOTYPES.names)
    pairs = {split: subset_of(corpus, split, subset) for split in SPLITS}
    require_questions(pairs, subset, files.corpus)
    if "train" not in files.quadruples:
        is_prototype = pairs["train"]["candidate_id"].isin(prototypes["candidate_id"])
        pairs["train"] = pairs["train"][is_prototype].reset_index(drop=True)
    quadruples = {split: read_table(path, QUADRUPLES) for split, path in files.quadruples.items()}
    split = whole if files.sentence_vectors else partial(tokenize, lowercase=lowercase)
    try:
        return cell_data(pairs, prototypes, quadruples, vectors, word_ids, split)
    except AnalogyQAError as error:
        raise AnalogyQAError(
            f"{', '.join(files.named().values())}: {error}. These files do not fit each other: "
            "delete them, then run the same command again to rebuild them."
        ) from error
