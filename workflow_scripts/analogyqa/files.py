"""Files that are either whole or absent."""

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

# What reading a damaged archive raises, besides OSError: RuntimeError when it seems to be encrypted
# or of an unknown method.
DAMAGED_ARCHIVE = (
    EOFError,
    RuntimeError,
    UnicodeDecodeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


MOST_VALUES = 100_000  # of a YAML file
# Ten times as fast where PyYAML has libyaml, as its wheels do; a run reads a dozen files first.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNFIT_TAG = (ValueError, LookupError, AttributeError)  # what `!!bool 7` and the like raise


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success fsync it and rename it to `path`.

    On any exception the temporary file is removed and an earlier `path` stays as it was. A full
    disk or a folder that cannot be written to raises AnalogyQAError.
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
            f"{path}: cannot be written ({error}). Make room on the disk or the folder writable, "
            "then run the same command again; what was there before is unchanged."
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
    """Return the mapping in a YAML file of plain values.

    Raises AnalogyQAError when the file cannot be read, is empty or no mapping, or has aliases as
    `require_few_values` refuses them.
    """
    try:
        loader = _LOADER(Path(path).read_bytes())
        node = loader.get_single_node()
        require_few_values(node, str(path))  # before merges (<<) are written out
        content = loader.construct_document(node) if node else None
    except FileNotFoundError:
        raise AnalogyQAError(
            f"{path}: no such file{looked_in(path)}. Correct the path, or start in another folder."
        ) from None
    except (OSError, yaml.YAMLError, RecursionError, *_UNFIT_TAG) as error:
        raise AnalogyQAError(f"{path}: cannot be read as a YAML mapping ({error})") from error
    if content is None:
        raise AnalogyQAError(f"{path}: holds no value. Give at least one key, or leave it out.")
    if not isinstance(content, dict):
        raise AnalogyQAError(f"{path}: cannot be read as a YAML mapping (it is {shown(content)})")
    return content


def require_few_values(content: object, origin: str) -> None:
    """Raise AnalogyQAError when YAML nodes or values hold themselves, or more than MOST_VALUES.

    What is behind an alias counts at each use, so that a few lines cannot stand for millions.
    """
    if _count(content, {}) > MOST_VALUES:
        raise AnalogyQAError(
            f"{origin}: its aliases (*name) stand for more than {MOST_VALUES:,} values, or for "
            "themselves. Write out what is meant."
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
        counts[id(content)] = math.inf  # what stays for a value within itself
        counts[id(content)] = 1 + sum(_count(part, counts) for part in parts)
    return counts[id(content)]
