"""Word vectors as text and in word2vec's binary format, streamed from files of any size."""

import gzip
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.files import DAMAGED_ARCHIVE

_COUNTS = re.compile(rb"(\d{1,18}) (\d{1,18})")
_MOST_NUMBERS = 100_000  # in a vector


# Longer ones are not read into memory: a small archive can unpack to gigabytes without an end.
_LONGEST_LINE, _LONGEST_WORD = 1 << 22, 1 << 16


@contextmanager
def _open(path: str | Path) -> Iterator[BinaryIO]:
    """Open a plain, gzipped or zipped file (the archive holding just one) as bytes.

    Damage that shows while it is read raises AnalogyQAError too.
    """
    try:
        yield from _opened(Path(path))
    except FileNotFoundError as error:
        raise AnalogyQAError(f"{path}: no such file. Correct the path.") from error
    except (OSError, *DAMAGED_ARCHIVE) as error:
        raise AnalogyQAError(
            f"{path}: damaged or cut off ({error}). Delete it and fetch it again."
        ) from error


def _opened(path: Path) -> Iterator[BinaryIO]:
    if path.suffix == ".gz":
        with gzip.open(path, "rb") as file:
            yield file
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
            if len(members) != 1:
                raise AnalogyQAError(f"{path}: expected one file inside, found {members[:5]}")
            with archive.open(members[0]) as member, io.BufferedReader(member) as file:
                yield file
    else:
        with open(path, "rb") as file:
            yield file


def stream_vectors(
    path: str | Path, wanted: dict[bytes, int]
) -> Iterator[tuple[bytes, np.ndarray, str]]:
    """Yield (word, float32 vector, place in the file) of the wanted words."""
    unpacked = Path(path).with_suffix("") if Path(path).suffix in (".gz", ".zip") else Path(path)
    binary = unpacked.suffix == ".bin"
    with _open(path) as file:
        yield from (_stream_binary if binary else _stream_text)(path, file, wanted)


def text_lines(path: str | Path) -> Iterator[bytes]:
    with _open(path) as file:
        yield from file


def _stream_text(
    path: str | Path, file: BinaryIO, wanted: dict[bytes, int]
) -> Iterator[tuple[bytes, np.ndarray, str]]:
    dim = declared = None
    number = 0
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), start=1):
        if len(line) == _LONGEST_LINE:
            raise AnalogyQAError(f"{path}, line {number}: too long for a vector of words")
        line = line.rstrip()
        if number == 1 and (counts := _COUNTS.fullmatch(line)):
            declared, dim = map(int, counts.groups())
            continue
        if dim is None:
            dim = line.count(b" ")
        if dim < 1:
            raise AnalogyQAError(
                f"{path}, line {number}: no numbers behind a word. Is it a file of word vectors?"
            )
        width = line.count(b" ")
        if width != dim:
            # GloVe's 840B file, without a first line of counts, has words with spaces in them.
            if width > dim and declared is None:
                continue
            raise AnalogyQAError(f"{path}, line {number}: a vector of {width} numbers, not {dim}")
        word, _, rest = line.partition(b" ")
        if word not in wanted:
            continue
        try:
            vector = np.array(rest.split(), dtype=np.float32)
        except ValueError as error:
            raise AnalogyQAError(f"{path}, line {number}: {error}") from error
        if len(vector) != dim:
            raise AnalogyQAError(
                f"{path}, line {number}: a vector of {len(vector)} numbers, not {dim}"
            )
        yield word, vector, f"line {number}"
    if declared is not None and number - 1 < declared:
        raise AnalogyQAError(
            f"{path}: {number - 1} vectors, its first line says {declared}. The file is cut off: "
            "delete it and fetch it again."
        )


def _stream_binary(
    path: str | Path, file: BinaryIO, wanted: dict[bytes, int]
) -> Iterator[tuple[bytes, np.ndarray, str]]:
    header = _COUNTS.fullmatch(b" ".join(file.readline(100).split()))
    if header is None:
        packed = " (unpack it if it is fastText's)" if Path(path).suffix != ".bin" else ""
        raise AnalogyQAError(f"{path}: neither a fastText nor a word2vec binary file{packed}")
    count, dim = map(int, header.groups())
    if not 1 <= dim <= _MOST_NUMBERS:
        raise AnalogyQAError(
            f"{path}: vectors of {dim:,} numbers by its first line; 1 to {_MOST_NUMBERS:,} can be "
            "read. Delete it and fetch it again."
        )
    for number in range(1, count + 1):
        word = _read_word(file)
        if len(word) == _LONGEST_WORD:
            raise AnalogyQAError(
                f"{path}: damaged: the word of vector {number} has no end. Delete it and fetch it "
                "again."
            )
        word = word.lstrip(b"\n")
        data = file.read(4 * dim)
        if len(data) < 4 * dim:
            raise AnalogyQAError(
                f"{path}: cut off at vector {number} of {count}. Delete it and fetch it again."
            )
        if word in wanted:
            yield word, np.frombuffer(data, dtype="<f4"), f"vector {number}"


def _read_word(file: BinaryIO) -> bytes:
    """Read up to a space; the end of the file ends a word too, so that a cut file is noticed."""
    characters = iter(lambda: file.read(1) or b" ", b" ")
    return b"".join(islice(characters, _LONGEST_WORD))
