"""Read text and YAML from users, and write files atomically."""

import codecs
import json
import lzma
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml

from analogyqa.errors import AnalogyQAError, looked_in, shown
from analogyqa.text import nfc

# Raised by reading a damaged archive, besides OSError. RuntimeError: it looks encrypted or uses an
# unknown compression method.
DAMAGED_ARCHIVE = (
    EOFError,
    RuntimeError,
    UnicodeDecodeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)

# How files that are no text begin, what they are, and what to do with them.
_NOT_TEXT = (
    (b"\x1f\x8b", "a gzip archive", "Unpack it: gunzip"),
    (b"BZh", "a bzip2 archive", "Unpack it: bunzip2"),
    (b"\xfd7zXZ\0", "an xz archive", "Unpack it: unxz"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", "Unpack it: unzstd"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook", "Unpack it, or save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook", "Save it as CSV"),
    (b"PAR1", "a Parquet file", "`reader: table` reads these; otherwise, convert it to text"),
    (b"%PDF", "a PDF document", "Save its text"),
    (b"SQLite format 3", "an SQLite database", "Export its table as CSV"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself", "Run git lfs pull"),
    (b"<!doctype html", "an HTML page", "Download the file itself"),
    (b"<html", "an HTML page", "Download the file itself"),
    (codecs.BOM_UTF16_LE, "UTF-16 text", "Save it as UTF-8"),
    (codecs.BOM_UTF16_BE, "UTF-16 text", "Save it as UTF-8"),
)

MAX_VALUES = 100_000  # in a YAML file
# The loader of libyaml is ten times as fast, and a run starts by reading a dozen files.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BAD_TAG = (ValueError, LookupError, AttributeError)  # raised by tags such as `!!bool 7`


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`, and rename it to `path` on success.

    On any exception the temporary file is removed, and an existing `path` stays unchanged. Raises
    AnalogyQAError when the disk is full or the folder cannot be written to.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise AnalogyQAError(
            f"{path}: cannot be written ({error}). Free some disk space, or make the folder "
            "writable, and run the same command again. Existing files are unchanged."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_json(path: str | Path, value: object) -> None:
    """Write `value` as JSON with sorted keys, atomically."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file that a user names; raises AnalogyQAError if it is unreadable."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise AnalogyQAError(
            f"{path}: cannot be read ({error.strerror}){looked_in(path)}. Correct the path"
        ) from error


def require_text_file(start: bytes, name: str | Path) -> None:
    """Raise AnalogyQAError when the first bytes of a file are those of something else than text."""
    head = start[:64].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for beginning, what, remedy in _NOT_TEXT:
        if start.startswith(beginning) or head.startswith(beginning):
            raise AnalogyQAError(f"{name}: this is {what}, and not UTF-8 text. {remedy}.")


def decode_text(data: bytes, name: str | Path, encoding: str = "utf-8") -> str:
    """Return the text of a file in Unicode's composed form (NFC), without a byte-order mark.

    Everything that a user hands over as text comes through here. Raises AnalogyQAError, which names
    the file, for one that is no text, has another encoding, or contains NUL.
    """
    if codecs.lookup(encoding).name == "utf-8":
        require_text_file(data, name)
    if data.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].split(b"\n")
        raise AnalogyQAError(
            f"{name}, line {len(before)}: not {encoding.upper().removesuffix('-SIG')} "
            f"({error.reason} at byte {len(before[-1])}). Convert the file to UTF-8, or fetch it "
            "again."
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise AnalogyQAError(
            f"{name}, line {line}: a NUL character. Convert the file to UTF-8, or remove the "
            "character."
        )
    return nfc(text)


def split_lines(text: str, name: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers.

    Only Unix and Windows line ends count, and not those that `str.splitlines` finds in sentences.
    Raises AnalogyQAError for a carriage return inside a line.
    """
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        line = line.rstrip("\r")
        if "\r" in line:
            raise AnalogyQAError(
                f"{name}, line {number}: a carriage return inside the line. Save the file with "
                "Unix or Windows line ends."
            )
        yield number, line


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 file with their numbers, as `decode_text` and `split_lines` do."""
    yield from split_lines(decode_text(read_bytes(path), path), path)


def read_yaml(path: str | Path) -> dict:
    """Return the mapping in a YAML file.

    Raises AnalogyQAError when the file cannot be read, is not a mapping, or has too many values.
    """
    try:
        loader = _LOADER(Path(path).read_bytes())
        node = loader.get_single_node()
        require_few_values(node, str(path))  # before merge keys (<<) are expanded
        content = loader.construct_document(node) if node else None
    except FileNotFoundError:
        raise AnalogyQAError(
            f"{path}: no such file{looked_in(path)}. Correct the path, or start in another folder."
        ) from None
    except (OSError, yaml.YAMLError, RecursionError, *_BAD_TAG) as error:
        reason = " ".join(str(error).split())
        raise AnalogyQAError(f"{path}: cannot be read as a YAML mapping ({reason})") from error
    if content is None:
        raise AnalogyQAError(f"{path}: the file is empty. Give at least one key, or leave it out.")
    if not isinstance(content, dict):
        raise AnalogyQAError(f"{path}: cannot be read as a YAML mapping (it is {shown(content)})")
    return content


def require_few_values(content: object, origin: str) -> None:
    """Raise AnalogyQAError for YAML that contains itself or more than MAX_VALUES values.

    Aliased values count at each use, so that a few lines cannot expand to millions of values.
    """
    if _count(content, {}) > MAX_VALUES:
        raise AnalogyQAError(
            f"{origin}: its aliases (*name) expand to more than {MAX_VALUES:,} values or contain "
            "themselves. Write the values out instead."
        )


def _count(content: object, counts: dict[int, float]) -> float:
    if isinstance(content, yaml.MappingNode):
        parts = [part for pair in content.value for part in pair]
    elif isinstance(content, yaml.SequenceNode):
        parts = content.value
    elif isinstance(content, dict | list):
        parts = list(content.values()) if isinstance(content, dict) else content
    else:
        return 1
    if id(content) not in counts:
        counts[id(content)] = math.inf  # remains for a value that contains itself
        counts[id(content)] = 1 + sum(_count(part, counts) for part in parts)
    return counts[id(content)]
