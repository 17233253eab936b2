"""Store the vectors of the words or sentences that a run uses."""

import json
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from analogyqa.errors import explain_damage
from analogyqa.files import atomic_path, write_json, write_text


def write_store(
    vectors: np.ndarray,
    is_found: np.ndarray,
    vocabulary: list[str],
    origin: str,
    path: str | Path,
    settings: dict | None = None,
    **record: object,
) -> None:
    """Write vectors (.npy), their words (.words.txt) and a record (.json).

    Args:
        vectors: The vectors, float32 [V, d].
        is_found: Whether a vector is from the origin and not made up, bool [V].
        vocabulary: The V words.
        origin: Where the vectors come from, for the record.
        path: The .npy file; the other two are written next to it.
        settings: The configuration that the vectors depend on, for the record.
        record: Other entries of the record.
    """
    path = Path(path)
    write_text(path.with_suffix(".words.txt"), "".join(f"{word}\n" for word in vocabulary))
    counts = {"words": len(vocabulary), "found": int(is_found.sum()), "dim": vectors.shape[1]}
    counts |= {"origin": origin, "settings": settings}
    write_json(path.with_suffix(".json"), counts | record)
    with atomic_path(path) as temporary:
        with open(temporary, "wb") as file:
            np.save(file, vectors)
        require_complete(temporary, partial(np.lib.format.open_memmap, mode="r"))


def store_record(path: str | Path) -> dict:
    """Return the name and the origin of stored vectors; raises AnalogyQAError without a record."""
    record_path = Path(path).with_suffix(".json")
    remedy = f"Delete it and {Path(path).name}, then run the same command again to rebuild them."
    with explain_damage(record_path, "not a record of vectors", remedy):
        origin = json.loads(record_path.read_text(encoding="utf-8"))["origin"]
    return {"name": Path(path).stem, "origin": origin}


_REBUILD = "Delete the file and its .words.txt, then run the same command again to rebuild them."


def read_store(path: str | Path, remedy: str = _REBUILD) -> tuple[np.ndarray, dict[str, int]]:
    """Return stored vectors (memory-mapped float32 [V, d]) and the row of each word.

    Raises AnalogyQAError, whose message ends in `remedy`, when a file is missing or damaged, or the
    files do not fit each other.
    """
    words_path = Path(path).with_suffix(".words.txt")
    with explain_damage(path, f"damaged, or {words_path.name} does not belong to it", remedy):
        # `np.load` would also open archives.
        vectors = np.lib.format.open_memmap(path, mode="r")
        if vectors.dtype != np.float32 or vectors.ndim != 2:
            raise ValueError(f"{vectors.dtype} {list(vectors.shape)}, not float32 [V, d]")
        # In text mode, a carriage return within a sentence would end its line.
        words = words_path.read_bytes().decode("utf-8").split("\n")[:-1]
        if len(words) != len(vectors):
            raise ValueError(f"{len(vectors)} vectors for {len(words)} words")
    return vectors, {word: row for row, word in enumerate(words)}


def require_complete(path: Path, check: Callable[[Path], object]) -> None:
    """Raise OSError when a library silently wrote a truncated file."""
    try:
        check(path)
    except (ValueError, struct.error) as error:
        raise OSError(f"only {path.stat().st_size:,} bytes were written: {error}") from error
