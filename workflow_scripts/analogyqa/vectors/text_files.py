"""Word vectors as text and in word2vec's binary format, streamed from files of any size."""

import codecs
import gzip
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.files import DAMAGED_ARCHIVE
from analogyqa.text import nfc

_COUNTS = re.compile(rb"(\d{1,18}) (\d{1,18})")
_MOST_NUMBERS = 100_000  # in a vector
# Longer ones are not read into memory: a small archive can unpack to gigabytes without an end.
_LONGEST_LINE, _LONGEST_WORD = 1 << 22, 1 << 16
_AGAIN = "Delete it and fetch it again."
_NUMBER = re.compile(rb"[-+]?\d*\.?\d+([eE][-+]?\d+)?")
_CONTROL = re.compile(rb"[\x00-\x1f]")
# A number of a vector is 0 or of this size; text that is read as numbers hardly ever is.
_SMALLEST, _LARGEST = 1e-30, 1e6

_WITH_SPACES = (
    "It is damaged, or has words with spaces, which this format cannot hold: write an underscore "
    "instead of each space, or fetch the file again."
)

Vectors = Iterator[tuple[bytes, np.ndarray, str]]


@contextmanager
def open_packed(path: str | Path, ending: str = "") -> Iterator[tuple[str, BinaryIO]]:
    """Open a plain or gzipped file, or the one member of a zip archive whose name ends so.

    Gives its name for messages and its bytes. Raises AnalogyQAError for a missing or damaged file,
    also where damage shows only while it is read, and for an archive of none or several.
    """
    name = str(path)
    try:
        with ExitStack() as opened:
            if Path(path).suffix == ".zip":
                archive = opened.enter_context(zipfile.ZipFile(path))
                # macOS puts what it keeps about each file, under its name, into archives as well.
                inside = [each for each in archive.namelist() if not each.startswith("__MACOSX/")]
                members = [each for each in inside if each.endswith(ending)]
                if len(members) != 1:
                    what = f"one file inside that ends in {ending}" if ending else "one file inside"
                    raise AnalogyQAError(f"{path}: expected {what}, found {inside[:5]}")
                name = f"{path}, {members[0]}"
                file = io.BufferedReader(opened.enter_context(archive.open(members[0])))
            else:
                opener = gzip.open if Path(path).suffix == ".gz" else open
                file = opened.enter_context(opener(path, "rb"))
            yield name, file
    except FileNotFoundError as error:
        raise AnalogyQAError(f"{path}: no such file. Correct the path.") from error
    except (OSError, *DAMAGED_ARCHIVE) as error:
        raise AnalogyQAError(f"{path}: damaged or cut off ({error}). {_AGAIN}") from error


def stream_vectors(path: str | Path, wanted: dict[bytes, int]) -> Vectors:
    """Yield (word, float32 vector, place in the file) of the wanted words, which are in NFC.

    Raises AnalogyQAError that names the file and the line, or the number of the vector.
    """
    unpacked = Path(path).with_suffix("") if Path(path).suffix in (".gz", ".zip") else Path(path)
    with open_packed(path) as (_, file):
        yield from (_binary if unpacked.suffix == ".bin" else _text)(path, file, wanted)


def _text(path: str | Path, file: BinaryIO, wanted: dict[bytes, int]) -> Vectors:
    dim = declared = None
    number = 0

    def wrong(cause: object) -> AnalogyQAError:
        return AnalogyQAError(f"{path}, line {number}: {cause}. Is it a file of word vectors?")

    for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), start=1):
        if len(line) == _LONGEST_LINE:
            raise wrong("too long for a vector of words")
        line = (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).rstrip()
        if number == 1 and (counts := _COUNTS.fullmatch(line)):
            declared, dim = map(int, counts.groups())
            continue
        width = line.count(b" ")
        dim = width if dim is None else dim
        if dim < 1:
            raise wrong("no numbers behind a word")
        # gensim and GloVe's 840B file have words with spaces in them, which no token is.
        if width > dim and not all(map(_NUMBER.fullmatch, line.split(b" ")[1:])):
            continue
        word, _, rest = line.partition(b" ")
        word = _composed(word)
        if width == dim:
            if word not in wanted:
                continue
            try:
                vector = np.array(rest.split(), dtype=np.float32)
            except ValueError as error:
                raise wrong(error) from error
            width = len(vector)  # fewer where one of the spaces is not between two numbers
        if width != dim:
            raise wrong(f"a vector of {width} numbers, not {dim}")
        yield word, vector, f"line {number}"
    if declared is not None and number - 1 != declared:
        damage = "cut off" if number - 1 < declared else "longer than it was"
        raise AnalogyQAError(
            f"{path}: {number - 1} vectors, its first line says {declared}. The file is {damage}: "
            "delete it and fetch it again, or correct this line."
        )


def _composed(word: bytes) -> bytes:
    """Return a word in the composed form of Unicode; what is no UTF-8 stays as it is."""
    if word.isascii():
        return word
    return nfc(word.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _binary(path: str | Path, file: BinaryIO, wanted: dict[bytes, int]) -> Vectors:
    header = _COUNTS.fullmatch(b" ".join(file.readline(100).split()))
    if header is None:
        packed = " (unpack it if it is fastText's)" if Path(path).suffix != ".bin" else ""
        raise AnalogyQAError(f"{path}: neither a fastText nor a word2vec binary file{packed}")
    count, dim = map(int, header.groups())
    if not 1 <= dim <= _MOST_NUMBERS:
        raise AnalogyQAError(
            f"{path}: vectors of {dim:,} numbers by its first line; 1 to {_MOST_NUMBERS:,} can be "
            f"read. {_AGAIN}"
        )
    for number in range(1, count + 1):
        # The end of the file ends a word too, so that a cut file is noticed.
        word = b"".join(islice(iter(lambda: file.read(1) or b" ", b" "), _LONGEST_WORD))
        if len(word) == _LONGEST_WORD:
            raise AnalogyQAError(f"{path}: the word of vector {number} has no end. {_AGAIN}")
        data = file.read(4 * dim)
        if len(data) < 4 * dim:
            raise AnalogyQAError(f"{path}: cut off at vector {number} of {count}. {_AGAIN}")
        word = word.lstrip(b"\n")
        vector = np.frombuffer(data, dtype="<f4")
        if _CONTROL.search(word):
            raise AnalogyQAError(f"{path}: {word[:60]!r} as word {number}. {_WITH_SPACES}")
        word = _composed(word)
        if word in wanted:
            _require_likely(path, number, vector)
            yield word, vector, f"vector {number}"
    if file.read(2).removeprefix(b"\n"):
        raise AnalogyQAError(
            f"{path}: there are bytes behind the last of {count} vectors, the number in its first "
            f"line. {_WITH_SPACES}"
        )


def _require_likely(path: str | Path, number: int, vector: np.ndarray) -> None:
    """Raise AnalogyQAError for numbers that no vector has.

    gensim writes words with spaces, and nothing in the format says where such a word ends.
    """
    sizes = np.abs(vector[np.isfinite(vector)])
    odd = sizes[(sizes != 0) & ((sizes < _SMALLEST) | (sizes > _LARGEST))]
    if len(odd):
        raise AnalogyQAError(f"{path}: a value of {odd[0]:.3g} in vector {number}. {_WITH_SPACES}")
