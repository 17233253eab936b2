"""The binary files of fastText, and of Sent2Vec, which is a fork of it."""

import mmap
import struct
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np

from analogyqa.errors import AnalogyQAError

OutOfVocabulary = Literal["random", "zero", "subword"]
MAGIC = 793712314  # the first four bytes of every such file
WORD = 0  # the kind of an entry that is no label
DAMAGE = (struct.error, ValueError, OverflowError, OSError)  # what reading a damaged one raises

_SUPERVISED = 3  # fastText's number of the kind of model that has labels
# As in the files; `order` is of the longest word n-gram, `shortest` and `longest` are of subwords.
Header = namedtuple(
    "Header",
    "magic version dim window epochs min_count negatives order loss model buckets shortest longest "
    "update_rate threshold entries words labels tokens pruned",
)
_HEADER = struct.Struct("<2i12id3i2q")
_ENTRY_END = struct.Struct("<qb")  # count and kind, behind a word and its zero byte
_MATRIX = struct.Struct("<?2q")  # quantised, rows, columns; then the float32 values


class Reader:
    """A file that is mapped into memory, read from its start to its end."""

    def __init__(self, path: str | Path, data: mmap.mmap) -> None:
        self._path, self._data, self._place = path, data, _HEADER.size
        self.header = Header(*_HEADER.unpack_from(data))

    def entries(self) -> Iterator[tuple[bytes, int, int]]:
        """Yield the word, count and kind of each entry of the dictionary."""
        for number in range(1, self.header.entries + 1):
            end = self._data.find(b"\0", self._place)
            if end < 0:
                raise ValueError(f"it ends at word {number} of {self.header.entries}")
            word, self._place = self._data[self._place : end], end + 1 + _ENTRY_END.size
            yield word, *_ENTRY_END.unpack_from(self._data, end + 1)

    def matrices(self) -> list[tuple[int, int, int]]:
        """Return where the input and output matrix, behind the entries, start, and their shapes.

        Raises ValueError for a file that is cut off, AnalogyQAError for a quantised model.
        """
        matrices = []
        for _ in range(2):
            quantised, rows, columns = _MATRIX.unpack_from(self._data, self._place)
            if quantised or self.header.pruned != -1:
                raise AnalogyQAError(
                    f"{self._path}: a quantised model. Name the .bin as it was trained."
                )
            matrices.append((self._place + _MATRIX.size, rows, columns))
            self._place += _MATRIX.size + 4 * rows * columns
        if self._place > len(self._data):
            raise ValueError(f"{self._place - len(self._data):,} bytes are missing at its end")
        return matrices


@contextmanager
def open_mapped(path: str | Path) -> Iterator[Reader]:
    """Open a file for reading; damage raises one of DAMAGE."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield Reader(path, data)


def is_fasttext(path: str | Path) -> bool:
    if Path(path).suffix != ".bin":
        return False
    with open(path, "rb") as file:
        return file.read(4) == struct.pack("<i", MAGIC)


def read_fasttext(path: str | Path, vocabulary: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of a vocabulary, float32 [V, d], and which of its words the model has.

    A word that it lacks has the vector of its subwords.
    """
    import fasttext

    try:
        require_whole_fasttext(path)
        model = fasttext.load_model(str(path))
    except (*DAMAGE, MemoryError) as error:
        raise AnalogyQAError(
            f"{path}: damaged fastText model ({error}). Delete it and fetch or train it again."
        ) from error
    found = np.array([model.get_word_id(word) >= 0 for word in vocabulary])
    return np.stack([model.get_word_vector(word) for word in vocabulary]), found


def require_whole_fasttext(path: str | Path) -> None:
    """Raise an error for a model that is cut off or contradicts itself: fastText crashes on it."""
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
        for _, count, kind in reader.entries():
            if not 0 < count < 10**15 or kind not in (0, 1):
                raise ValueError(f"a word of kind {kind} that comes {count} times")
        outputs = header.labels if header.model == _SUPERVISED else header.words
        found = [shape for _, *shape in reader.matrices()]
        expected = [[header.words + header.buckets, header.dim], [outputs, header.dim]]
        if found != expected:
            raise ValueError(f"matrices of {found} instead of {expected}")
