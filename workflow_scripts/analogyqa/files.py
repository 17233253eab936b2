"""Read YAML, and write files atomically."""

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

MAX_VALUES = 100_000  # in a YAML file
# The loader of libyaml is ten times as fast, and a run starts by reading a dozen files.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BAD_TAG = (ValueError, LookupError, AttributeError)  # raised by tags such as `!!bool 7`


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`, and rename it to `path` on success.

    On any exception the temporary file is removed, and an existing `path` stays unchanged.

    Raises:
        AnalogyQAError: when the disk is full or the folder cannot be written to.
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


def read_yaml(path: str | Path) -> dict:
    """Return the mapping in a YAML file.

    Raises:
        AnalogyQAError: when the file cannot be read, is not a mapping, or holds too many values
            (see `require_few_values`).
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
