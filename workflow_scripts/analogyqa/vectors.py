"""Word vectors: read the words that the corpora use from a file of any size."""

import gzip
import io
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from analogyqa.checkpoints import DAMAGED_ARCHIVE, atomic_path, write_json, write_text
from analogyqa.errors import AnalogyQAError
from analogyqa.text import tokenize

OutOfVocabulary = Literal["random", "zero", "subword"]

_FASTTEXT_MAGIC = 793712314  # the first four bytes of every fastText .bin
_SUPERVISED = 3  # fastText's number of the kind of model that has labels
_COUNTS = re.compile(rb"(\d{1,18}) (\d{1,18})")
_MOST_NUMBERS = 100_000  # in a vector
# Longer ones are not read into memory: a small archive can unpack to gigabytes without an end.
_LONGEST_LINE, _LONGEST_WORD = 1 << 22, 1 << 16


def vocabulary_of(sentences: Iterable[str], lowercase: bool) -> list[str]:
    """Return the distinct tokens of the sentences, sorted."""
    return sorted({token for text in set(sentences) for token in tokenize(text, lowercase)})


def select_vectors(
    path: str | Path, vocabulary: list[str], out_of_vocabulary: OutOfVocabulary
) -> tuple[np.ndarray, np.ndarray]:
    """Read the vectors of a vocabulary from `.vec` or GloVe text or word2vec binary (`.bin`), also
    in `.gz` or `.zip`, or from a fastText `.bin`.

    The file is streamed: memory grows with the vocabulary, not with the file.

    Args:
        path: the file; a `.bin` is taken as fastText's or word2vec's by its first bytes.
        vocabulary: distinct words.
        out_of_vocabulary: `random` draws from a normal distribution of the found vectors' standard
            deviation, each word from a seed of its own; `zero`; `subword` asks fastText.

    Returns:
        float32 [V, d] in the order of `vocabulary`, and bool [V], whether the word was found.

    Raises:
        AnalogyQAError: for a damaged file, a vector of another length or that is not finite (file
            and line named), or a file that has no word of the vocabulary.
    """
    if _is_fasttext(path):
        return _from_fasttext(path, vocabulary, out_of_vocabulary)
    if out_of_vocabulary == "subword":
        raise AnalogyQAError(f"{path}: out_of_vocabulary: subword needs a fastText .bin file")
    rows = {word.encode(): row for row, word in enumerate(vocabulary)}
    vectors, found = None, np.zeros(len(vocabulary), dtype=bool)
    for word, vector, place in _stream(path, rows):
        row = rows[word]
        if vectors is None:
            vectors = np.zeros((len(vocabulary), len(vector)), dtype=np.float32)
        if found[row]:
            continue
        if not np.isfinite(vector).all():
            raise AnalogyQAError(
                f"{path}, {place}: the vector of {word.decode()!r} has a value that is not finite"
            )
        vectors[row], found[row] = vector, True
    _require_found(path, found)
    if out_of_vocabulary == "random":
        _draw_missing(path, vectors, found, vocabulary)
    return vectors, found


def write_store(
    vectors: np.ndarray, found: np.ndarray, vocabulary: list[str], origin: str, path: str | Path
) -> None:
    """Write `path` (.npy), its words beside it (.words.txt) and where they come from (.json)."""
    path = Path(path)
    record = {"origin": origin, "words": len(vocabulary), "found": int(found.sum())}
    write_text(path.with_suffix(".words.txt"), "".join(f"{word}\n" for word in vocabulary))
    write_json(path.with_suffix(".json"), {**record, "dim": vectors.shape[1]})
    with atomic_path(path) as temporary:
        with open(temporary, "wb") as file:
            np.save(file, vectors)
        _require_whole(temporary, _require_whole_array)


def store_record(path: str | Path) -> dict:
    """Return the name and the origin of what `write_store` wrote.

    Raises AnalogyQAError when the record is missing or damaged.
    """
    record_path = Path(path).with_suffix(".json")
    try:
        origin = json.loads(record_path.read_text(encoding="utf-8"))["origin"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise AnalogyQAError(
            f"{record_path}: not the record of word vectors ({error!r}). Delete {Path(path).name} "
            "and it, then run the same command again to rebuild them."
        ) from error
    return {"name": Path(path).stem, "origin": origin}


def read_store(path: str | Path) -> tuple[np.ndarray, dict[str, int]]:
    """Return what `write_store` wrote: float32 [V, d], memory-mapped, and word to row.

    Raises AnalogyQAError when the parts do not belong together or one is damaged.
    """
    path = Path(path)
    try:
        # Not `np.load`, which would also open archives.
        vectors = np.lib.format.open_memmap(path, mode="r")
        if vectors.dtype != np.float32 or vectors.ndim != 2:
            raise ValueError(f"{vectors.dtype} {list(vectors.shape)}, not float32 [V, d]")
    except Exception as error:  # what NumPy raises depends on the damage
        raise AnalogyQAError(
            f"{path}: damaged word vectors ({error}). Delete the file and run the same command "
            "again to rebuild it."
        ) from error
    words_path = path.with_suffix(".words.txt")
    try:
        # Not as text, where a carriage return within a sentence would end its line.
        words = words_path.read_bytes().decode("utf-8").split("\n")[:-1]
    except (OSError, UnicodeDecodeError) as error:
        raise AnalogyQAError(
            f"{words_path}: cannot be read ({error}). Delete {path.name} and it, then run the same "
            "command again to rebuild them."
        ) from error
    if len(words) != len(vectors):
        raise AnalogyQAError(
            f"{path}: {len(vectors)} vectors for {len(words)} words. Delete both files and run the "
            "same command again to rebuild them."
        )
    return vectors, {word: row for row, word in enumerate(words)}


def train_vectors(
    texts: list[str], path: str | Path, dim: int, epochs: int, min_count: int, lowercase: bool
) -> None:
    """Train fastText skip-gram vectors on text files and save the model to `path`.

    The texts are UTF-8, may be gzipped, and are tokenised as the corpora are. One thread, so that
    the same text gives the same vectors.

    Raises AnalogyQAError when no word is frequent enough.
    """
    import fasttext

    with atomic_path(path) as model_path:
        text_path = model_path.with_suffix(".txt")
        try:
            with open(text_path, "wb") as joined:
                for text in texts:
                    for line in _lines(text):
                        tokens = tokenize(line.decode("utf-8", errors="replace"), lowercase)
                        joined.write(" ".join(tokens).encode() + b"\n")
            model = fasttext.train_unsupervised(
                str(text_path),
                model="skipgram",
                dim=dim,
                epoch=epochs,
                minCount=min_count,
                thread=1,
                verbose=0,
            )
        except (ValueError, RuntimeError) as error:  # the latter when a loss is not a number
            raise AnalogyQAError(
                f"{', '.join(texts)}: fastText could not train on it ({error}). Is the text empty, "
                f"or does no word come {min_count} times (min_count)?"
            ) from error
        finally:
            text_path.unlink(missing_ok=True)
        model.save_model(str(model_path))
        _require_whole(model_path, _require_whole_fasttext)


def _require_whole(path: Path, check: Callable[[Path], None]) -> None:
    """Raise OSError when a library wrote less than it should and did not say so."""
    try:
        check(path)
    except (ValueError, struct.error) as error:
        raise OSError(f"only {path.stat().st_size:,} bytes were written: {error}") from error


def _require_whole_array(path: Path) -> None:
    np.lib.format.open_memmap(path, mode="r")


def _is_fasttext(path: str | Path) -> bool:
    if Path(path).suffix != ".bin":
        return False
    with open(path, "rb") as file:
        start = file.read(4)
    return len(start) == 4 and struct.unpack("<i", start)[0] == _FASTTEXT_MAGIC


def _from_fasttext(
    path: str | Path, vocabulary: list[str], out_of_vocabulary: OutOfVocabulary
) -> tuple[np.ndarray, np.ndarray]:
    import fasttext

    try:
        _require_whole_fasttext(path)
        model = fasttext.load_model(str(path))
    except (ValueError, OverflowError, OSError, MemoryError, struct.error) as error:
        raise AnalogyQAError(
            f"{path}: damaged fastText model ({error}). Delete it and fetch or train it again."
        ) from error
    found = np.array([model.get_word_id(word) >= 0 for word in vocabulary])
    if out_of_vocabulary != "subword":
        _require_found(path, found)
    vectors = np.stack([model.get_word_vector(word) for word in vocabulary])
    if out_of_vocabulary == "zero":
        vectors[~found] = 0
    elif out_of_vocabulary == "random":
        _draw_missing(path, vectors, found, vocabulary)
    return vectors, found


def _require_whole_fasttext(path: str | Path) -> None:
    """Raise an error for a model that is cut off or contradicts itself: fastText crashes on it."""
    with open(path, "rb") as file:

        def read(layout: str) -> tuple:
            return struct.unpack("<" + layout, file.read(struct.calcsize("<" + layout)))

        _, _, dim, *arguments, _ = read("2i12id")  # magic number, version, arguments
        loss, model, buckets, shortest, longest = arguments[5:10]
        entries, words, labels, _, pruned = read("3i2q")
        if (
            min(dim, words, labels + 1, buckets + 1, 1 + shortest) < 1
            or (entries != words + labels)
            or not (shortest <= longest <= 100 and 1 <= loss <= 4 and 1 <= model <= 3)
        ):
            raise ValueError("its arguments contradict each other")
        for _ in range(entries):
            while file.read(1) not in (b"\0", b""):
                pass
            count, kind = read("qb")
            if not 0 < count < 10**15 or kind not in (0, 1):
                raise ValueError(f"a word of kind {kind} that comes {count} times")
        file.seek(8 * max(pruned, 0), os.SEEK_CUR)
        subwords = pruned if pruned >= 0 else buckets
        for expected in (words + subwords, labels if model == _SUPERVISED else words):
            if read("?")[0]:
                raise ValueError("it is quantised: name the .bin as it was trained")
            rows, columns = read("2q")
            if (rows, columns) != (expected, dim):
                raise ValueError(f"a matrix of {rows} x {columns} in place of {expected} x {dim}")
            file.seek(4 * rows * columns, os.SEEK_CUR)
        missing = file.tell() - Path(path).stat().st_size
    if missing > 0:
        raise ValueError(f"{missing} bytes are missing at its end")


def _require_found(path: str | Path, found: np.ndarray) -> None:
    if not found.any():
        raise AnalogyQAError(
            f"{path}: none of the {len(found)} words of the corpora is in this file. "
            "Is it a file of word vectors, and of the right language?"
        )


def _draw_missing(
    path: str | Path, vectors: np.ndarray, found: np.ndarray, vocabulary: list[str]
) -> None:
    # A seed of its own for each word: on the other words only the scale depends.
    with np.errstate(over="ignore", invalid="ignore"):
        scale = float(vectors[found].std())
    if not np.isfinite(scale):
        raise AnalogyQAError(
            f"{path}: damaged: its numbers are too large to have a standard deviation. Delete it "
            "and fetch it again."
        )
    for row in np.flatnonzero(~found):
        generator = np.random.default_rng(zlib.crc32(vocabulary[row].encode()))
        vectors[row] = generator.normal(0, scale, vectors.shape[1])


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


def _stream(path: str | Path, wanted: dict[bytes, int]) -> Iterator[tuple[bytes, np.ndarray, str]]:
    """Yield (word, float32 vector, place in the file) of the wanted words."""
    unpacked = Path(path).with_suffix("") if Path(path).suffix in (".gz", ".zip") else Path(path)
    binary = unpacked.suffix == ".bin"
    with _open(path) as file:
        yield from (_stream_binary if binary else _stream_text)(path, file, wanted)


def _lines(path: str | Path) -> Iterator[bytes]:
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
