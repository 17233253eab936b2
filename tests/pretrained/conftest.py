"""Files of word vectors."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def write_vectors(tmp_path: Path) -> Callable[[Sequence[str], np.ndarray], str]:
    """Write words and their vectors [words, dim] to words.vec, and return its path."""

    def write(words: Sequence[str], vectors: np.ndarray) -> str:
        pairs = zip(words, vectors, strict=True)
        lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in pairs]
        path = tmp_path / "words.vec"
        path.write_text(f"{len(words)} {vectors.shape[1]}\n{''.join(lines)}", encoding="utf-8")
        return str(path)

    return write
