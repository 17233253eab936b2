"""Read the binary models of fastText and of its fork Sent2Vec."""

import mmap
import struct
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np

from analogyqa.errors import AnalogyQAError, explain_damage

OutOfVocabulary = Literal["random", "zero", "subword"]
MAGIC = 793712314  # the first four bytes of every file
WORD = 0  # entry type of words, as opposed to labels

_SUPERVISED = 3  # fastText's model type with labels
# In the order of the files. `order` is the longest word n-gram; `shortest` and `longest` bound the
# character n-grams.
Header = namedtuple(
    "Header",
    "magic version dim window epochs min_count negatives order loss model buckets shortest longest "
    "update_rate threshold entries words labels tokens pruned",
)
_HEADER = struct.Struct("<2i12id3i2q")
_ENTRY_END = struct.Struct("<qb")  # count and type, after a word and its zero byte
_MATRIX = struct.Struct("<?2q")  # is quantised, rows, columns; the float32 values follow


class Reader:
    """Reads a memory-mapped file from start to end: call `entries`, then `matrices`."""

    def __init__(self, path: str | Path, data: mmap.mmap) -> None:
        self._path, self._data, self._position = path, data, _HEADER.size
        self.header = Header(*_HEADER.unpack_from(data))

    def entries(self) -> Iterator[tuple[bytes, int, int]]:
        """Yield the word, count and type of each entry of the dictionary."""
        for number in range(1, self.header.entries + 1):
            end = self._data.find(b"\0", self._position)
            if end < 0:
                raise ValueError(f"it ends at word {number} of {self.header.entries}")
            word, self._position = self._data[self._position : end], end + 1 + _ENTRY_END.size
            yield word, *_ENTRY_END.unpack_from(self._data, end + 1)

    def matrices(self) -> list[tuple[int, int, int]]:
        """Return the offset, rows and columns of the input and output matrix.

        Raises ValueError for a truncated file, and AnalogyQAError for a quantised model.
        """
        matrices = []
        for _ in range(2):
            is_quantised, rows, columns = _MATRIX.unpack_from(self._data, self._position)
            if is_quantised or self.header.pruned != -1:
                raise AnalogyQAError(
                    f"{self._path}: a quantised model. Use the .bin file before quantisation."
                )
            matrices.append((self._position + _MATRIX.size, rows, columns))
            self._position += _MATRIX.size + 4 * rows * columns
        if self._position > len(self._data):
            raise ValueError(f"{self._position - len(self._data):,} bytes are missing at its end")
        return matrices


@contextmanager
def open_mapped(path: str | Path) -> Iterator[Reader]:
    """Map a file into memory. Reading a damaged file raises ValueError or struct.error."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield Reader(path, data)


def is_fasttext(path: str | Path) -> bool:
    if Path(path).suffix != ".bin":
        return False
    with open(path, "rb") as file:
        return file.read(4) == struct.pack("<i", MAGIC)


def read_fasttext(path: str | Path, vocabulary: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of a vocabulary, float32 [V, d], and which words are known, bool [V].

    Unknown words get vectors from their character n-grams.
    """
    import fasttext

    with explain_damage(path, "damaged fastText model", "Delete it, then fetch or train it again."):
        require_complete_fasttext(path)
        model = fasttext.load_model(str(path))
    is_known = np.array([model.get_word_id(word) >= 0 for word in vocabulary])
    return np.stack([model.get_word_vector(word) for word in vocabulary]), is_known


def require_complete_fasttext(path: str | Path) -> None:
    """Raise ValueError or struct.error for a damaged model, which would crash fastText."""
    with open_mapped(path) as reader:
        header = reader.header
        if (
            min(header.dim, header.words) < 1
            or min(header.labels, header.buckets, header.shortest) < 0
            or header.entries != header.words + header.labels
            or not header.shortest <= header.longest <= 100
            or not (1 <= header.loss <= 4 and 1 <= header.model <= 3)
        ):
            raise ValueError("its arguments contradict each other")
        for _, count, entry_type in reader.entries():
            if not 0 < count < 10**15 or entry_type not in (0, 1):
                raise ValueError(f"an entry with type {entry_type} and count {count}")
        outputs = header.labels if header.model == _SUPERVISED else header.words
        shapes = [shape for _, *shape in reader.matrices()]
        expected = [[header.words + header.buckets, header.dim], [outputs, header.dim]]
        if shapes != expected:
            raise ValueError(f"matrices of {shapes} instead of {expected}")
