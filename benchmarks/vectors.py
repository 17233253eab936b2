"""Read the vectors of the corpus' words from a large text file, against gensim.

    python benchmarks/vectors.py 2000000    # the size of the published files: a quarter of an hour

Both read the file from its first to its last line. `make bench` takes a tenth of the size.
"""

import sys
import tempfile
from pathlib import Path

import cells
import numpy as np
from measure import record, run_in_new_process

from analogyqa.vectors.files import select_vectors

WORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
DIM, BLOCK = 300, 1000


def write_file(path: Path, wanted: list[str]) -> None:
    """Write a word2vec text file in which the wanted words lie evenly among others."""
    numbers = np.random.default_rng(0).normal(size=(BLOCK, DIM)).round(4)
    tails = [" ".join(map(str, row)) for row in numbers.tolist()]
    places = dict(
        zip(np.linspace(0, WORDS - 1, len(wanted), dtype=int).tolist(), wanted, strict=True)
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{WORDS} {DIM}\n")
        for number in range(WORDS):
            word = places.get(number, f"word-{number}")
            file.write(f"{word} {tails[number % BLOCK]}\n")


def select(path: Path, words: list[str]) -> None:
    vectors, found = select_vectors(path, words, "random")
    assert found.all() and vectors.shape == (len(words), DIM)


def load_with_gensim(path: Path, words: list[str]) -> None:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(path)[words]
    assert vectors.shape == (len(words), DIM)


def main() -> None:
    _, words = cells.word_vectors(cells.read_corpus())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vectors.vec")
        write_file(path, words)
        data = f"{len(words):,} of {WORDS:,} words, {path.stat().st_size / 1e9:.1f} GB"
        ours = run_in_new_process(select, path, words)
        other = run_in_new_process(load_with_gensim, path, words)
    packages = ["numpy", "gensim"]
    record("vectors: time", data, "s", ours.seconds, other.seconds, packages=packages)
    record("vectors: memory", data, "MB", ours.memory_mb, other.memory_mb, packages=packages)


if __name__ == "__main__":
    main()
