"""Read the vectors of a vocabulary from files of word vectors, which are streamed."""

import codecs
import gzip
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BufferedIOBase, BufferedReader
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np

from analogyqa.errors import AnalogyQAError
from analogyqa.files import DAMAGED_ARCHIVE, require_text_file
from analogyqa.text import nfc, tokenize
from analogyqa.vectors.fasttext_files import OutOfVocabulary, is_fasttext, read_fasttext

_COUNTS = re.compile(rb"(\d{1,18}) (\d{1,18})")
_MAX_DIM = 100_000
# Limits on what is read into memory: a small archive can unpack to one endless line.
_MAX_LINE, _MAX_WORD = 1 << 22, 1 << 16  # bytes
_FETCH_AGAIN = "Delete it and fetch it again."
_NUMBER = re.compile(rb"[-+]?\d*\.?\d+([eE][-+]?\d+)?")
_CONTROL = re.compile(rb"[\x00-\x1f]")
# Real components are 0 or in this range; text misread as numbers hardly ever is.
_MIN_SIZE, _MAX_SIZE = 1e-30, 1e6

_WITH_SPACES = (
    "The file is damaged, or has words with spaces, which this format cannot represent. Replace "
    "the spaces by underscores, or fetch the file again."
)

# The word, vector and location in the file of each word of a vocabulary.
Vectors = Iterator[tuple[bytes, np.ndarray, str]]


@contextmanager
def open_packed(path: str | Path, ending: str = "") -> Iterator[tuple[str, BufferedIOBase]]:
    """Open a plain or gzipped file, or the only member of a zip archive whose name has an ending.

    Yields a name for messages and the open file. Raises AnalogyQAError for a missing file, one that
    turns out to be damaged while it is read, and an archive without exactly one such member.
    """
    file: BufferedIOBase
    name, suffix = str(path), Path(path).suffix
    try:
        with ExitStack() as opened:
            if suffix == ".zip":
                archive = opened.enter_context(zipfile.ZipFile(path))
                # macOS adds a hidden file with metadata for each file.
                names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
                members = [name for name in names if name.endswith(ending)]
                if len(members) != 1:
                    expected = "one file" + (f" with a name in *{ending}" if ending else "")
                    raise AnalogyQAError(
                        f"{path}: expected {expected} in the archive, found {names[:5]}."
                    )
                name = f"{path}, {members[0]}"
                member = cast(zipfile.ZipExtFile, archive.open(members[0]))  # for typeshed, IO
                file = BufferedReader(opened.enter_context(member))
            elif suffix == ".gz":
                file = opened.enter_context(gzip.open(path, "rb"))
            else:
                file = opened.enter_context(open(path, "rb"))
                if suffix != ".bin":
                    require_text_file(file.peek(64), path)
            yield name, file
    except FileNotFoundError as error:
        raise AnalogyQAError(f"{path}: no such file. Correct the path.") from error
    except (OSError, *DAMAGED_ARCHIVE) as error:
        raise AnalogyQAError(f"{path}: damaged or truncated ({error}). {_FETCH_AGAIN}") from error


def read_packed_lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, which may be packed, without line ends.

    Large texts have stray bytes: what is not UTF-8 becomes U+FFFD.
    """
    with open_packed(path) as (_, lines):
        for number, line in enumerate(lines):
            text = line.decode("utf-8", errors="replace").rstrip("\r\n")
            yield text if number else text.removeprefix("\ufeff")


def _stream_text(path: str | Path, file: BufferedIOBase, vocabulary: Collection[bytes]) -> Vectors:
    dim = declared = None
    number = 0

    def fail(cause: object) -> AnalogyQAError:
        return AnalogyQAError(f"{path}, line {number}: {cause}. Does the file hold word vectors?")

    for number, line in enumerate(iter(partial(file.readline, _MAX_LINE), b""), start=1):
        if len(line) == _MAX_LINE:
            raise fail("the line is too long for a word vector")
        line = (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).rstrip()
        if number == 1 and (counts := _COUNTS.fullmatch(line)):
            declared, dim = map(int, counts.groups())
            continue
        width = line.count(b" ")
        dim = width if dim is None else dim
        if dim < 1:
            raise fail("no numbers after a word")
        # Skip words with spaces, as in GloVe 840B: no token has any.
        if width > dim and not all(map(_NUMBER.fullmatch, line.split(b" ")[1:])):
            continue
        word, _, rest = line.partition(b" ")
        word = _compose(word)
        if width == dim:
            if word not in vocabulary:
                continue
            try:
                vector = np.array(rest.split(), dtype=np.float32)
            except ValueError as error:
                raise fail(error) from error
            width = len(vector)  # double spaces give fewer numbers
        if width != dim:
            raise fail(f"a vector of {width} numbers instead of {dim}")
        yield word, vector, f"line {number}"
    if declared is not None and number - 1 != declared:
        damage = "truncated" if number - 1 < declared else "too long"
        raise AnalogyQAError(
            f"{path}: {number - 1} vectors, but the first line says {declared}. The file is "
            f"{damage}. Delete it and fetch it again, or correct the first line."
        )


def _compose(word: bytes) -> bytes:
    """Return a word in Unicode's composed form, and keep bytes that are not UTF-8."""
    if word.isascii():
        return word
    return nfc(word.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _stream_binary(
    path: str | Path, file: BufferedIOBase, vocabulary: Collection[bytes]
) -> Vectors:
    header = _COUNTS.fullmatch(b" ".join(file.readline(100).split()))
    if header is None:
        hint = " Unpack it if it is fastText's." if Path(path).suffix != ".bin" else ""
        raise AnalogyQAError(f"{path}: neither a fastText nor a word2vec binary file.{hint}")
    count, dim = map(int, header.groups())
    if not 1 <= dim <= _MAX_DIM:
        raise AnalogyQAError(
            f"{path}: the first line says that vectors have {dim:,} numbers, but 1 to {_MAX_DIM:,} "
            f"are supported. {_FETCH_AGAIN}"
        )
    for number in range(1, count + 1):
        # The end of the file also ends a word, so that a truncated file is noticed.
        word = b"".join(islice(iter(lambda: file.read(1) or b" ", b" "), _MAX_WORD))
        if len(word) == _MAX_WORD:
            raise AnalogyQAError(f"{path}: the word of vector {number} has no end. {_FETCH_AGAIN}")
        data = file.read(4 * dim)
        if len(data) < 4 * dim:
            raise AnalogyQAError(f"{path}: truncated at vector {number} of {count}. {_FETCH_AGAIN}")
        word = word.lstrip(b"\n")
        vector = np.frombuffer(data, dtype="<f4")
        if _CONTROL.search(word):
            raise AnalogyQAError(f"{path}: word {number} is {word[:60]!r}. {_WITH_SPACES}")
        word = _compose(word)
        if word in vocabulary:
            # gensim writes words with spaces, although the format does not mark where such a word
            # ends. The rest of the word is then misread as numbers.
            sizes = np.abs(vector[np.isfinite(vector)])
            implausible = sizes[(sizes != 0) & ((sizes < _MIN_SIZE) | (sizes > _MAX_SIZE))]
            if len(implausible):
                raise AnalogyQAError(
                    f"{path}: vector {number} has the value {implausible[0]:.3g}. {_WITH_SPACES}"
                )
            yield word, vector, f"vector {number}"
    if file.read(2).removeprefix(b"\n"):
        raise AnalogyQAError(
            f"{path}: there are bytes after the last of {count} vectors, the number in the first "
            f"line. {_WITH_SPACES}"
        )


def build_vocabulary(sentences: Iterable[str], lowercase: bool) -> list[str]:
    """Return the sorted unique tokens of sentences."""
    return sorted({token for text in set(sentences) for token in tokenize(text, lowercase)})


def known_vectors(path: str | Path, tokens: Iterable[str]) -> tuple[np.ndarray, dict[str, int]]:
    """Return the vectors of tokens (float32 [V, d]) and the row of each token in the file.

    Raises AnalogyQAError as `select_vectors`.
    """
    vocabulary = sorted(set(tokens))
    vectors, is_found = select_vectors(path, vocabulary, "zero")
    return vectors, {word: row for row, word in enumerate(vocabulary) if is_found[row]}


def select_vectors(
    path: str | Path, vocabulary: list[str], out_of_vocabulary: OutOfVocabulary
) -> tuple[np.ndarray, np.ndarray]:
    """Read the vectors of a vocabulary from a file of any common format.

    The formats are `.vec` and GloVe text and word2vec binary (`.bin`), also as `.gz` or `.zip`, and
    fastText `.bin`. The file is streamed, so memory grows with the vocabulary and not the file.

    Args:
        path: The file. The first bytes of a `.bin` tell fastText from word2vec.
        vocabulary: Unique words.
        out_of_vocabulary: Vectors of missing words. `random` draws from a normal distribution with
            the standard deviation of the found vectors, seeded by the word; `zero` gives zeros;
            `subword` uses fastText's character n-grams.

    Returns:
        The vectors, float32 [V, d], and whether each word was found, bool [V].

    Raises AnalogyQAError for a damaged file, a vector that is not finite or has the wrong length,
    or a file without any word of the vocabulary.
    """
    fasttext = is_fasttext(path)
    if out_of_vocabulary == "subword":
        if not fasttext:
            raise AnalogyQAError(f"{path}: out_of_vocabulary: subword needs a fastText .bin file.")
        return read_fasttext(path, vocabulary)
    vectors, is_found = (read_fasttext if fasttext else _read_words)(path, vocabulary)
    if not is_found.any():
        raise AnalogyQAError(
            f"{path}: none of the {len(is_found)} words of the corpora is in this file. "
            "Does it hold word vectors of the right language?"
        )
    vectors[~is_found] = 0
    if out_of_vocabulary == "random":
        with np.errstate(over="ignore", invalid="ignore"):
            scale = float(vectors[is_found].std())
        if not np.isfinite(scale):
            raise AnalogyQAError(
                f"{path}: damaged, with values too large for a standard deviation. {_FETCH_AGAIN}"
            )
        for row in np.flatnonzero(~is_found):
            # One seed for each word; a vector depends on other words only through the scale.
            generator = np.random.default_rng(zlib.crc32(vocabulary[row].encode()))
            vectors[row] = generator.normal(0, scale, vectors.shape[1])
    return vectors, is_found


def _read_words(path: str | Path, vocabulary: list[str]) -> tuple[np.ndarray, np.ndarray]:
    rows = {word.encode(): row for row, word in enumerate(vocabulary)}
    vectors, is_found = np.zeros((len(vocabulary), 0), np.float32), np.zeros(len(vocabulary), bool)
    unpacked = Path(path).with_suffix("") if Path(path).suffix in (".gz", ".zip") else Path(path)
    stream = _stream_binary if unpacked.suffix == ".bin" else _stream_text
    with open_packed(path) as (_, file):
        for word, vector, location in stream(path, file, rows):
            if not is_found.any():
                vectors = np.zeros((len(vocabulary), len(vector)), dtype=np.float32)
            if is_found[rows[word]]:
                continue
            if not np.isfinite(vector).all():
                raise AnalogyQAError(
                    f"{path}, {location}: the vector of {word.decode()!r} has a value that is not "
                    f"finite. {_FETCH_AGAIN}"
                )
            vectors[rows[word]], is_found[rows[word]] = vector, True
    return vectors, is_found
