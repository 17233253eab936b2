"""Files that are either whole or absent."""

import io
import json
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from analogyqa.errors import AnalogyQAError

if TYPE_CHECKING:
    import torch

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


def save_state(state: dict, path: str | Path) -> None:
    """Write the state of a training, tensors among it, atomically."""
    import torch

    # Through memory: on a full disk PyTorch's own writer aborts without naming the cause.
    serialized = io.BytesIO()
    torch.save(state, serialized)
    with atomic_path(path) as temporary:
        temporary.write_bytes(serialized.getvalue())


def load_state(path: str | Path, device: "torch.device") -> dict:
    """Return what `save_state` wrote; raises AnalogyQAError when the file is damaged."""
    import torch

    try:
        state = torch.load(path, map_location=device, weights_only=True)
        if not isinstance(state, dict):
            raise ValueError(f"a {type(state).__name__}")
        return state
    except Exception as error:
        raise AnalogyQAError(
            f"{path}: damaged checkpoint ({error}). Delete it and run the same command again; the "
            "training then starts from its first epoch."
        ) from error
