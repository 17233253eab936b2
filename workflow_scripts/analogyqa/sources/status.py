"""The state of every source: here, in a mirror, to download, or to be added by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from analogyqa.sources.registry import Source, local_copy
from analogyqa.sources.verify import Refused, sidecar, verify_file


class Status(NamedTuple):
    """The state of one source."""

    name: str
    state: str  # present, in mirror, to download, add by hand
    bytes: int | None
    hash: str  # ok, WRONG, as fetched, not checked, unverified; empty without a file
    licence: str
    path: Path  # the local copy, or where to put one


def status_table(
    registry: Mapping[str, Source],
    resources_dir: str | Path,
    mirrors: Sequence[Path],
    verify: bool = False,
) -> list[Status]:
    """Return the state of every source, after hashing local copies if `verify` is set."""
    rows = []
    for name, source in registry.items():
        path = target = Path(resources_dir, source.file)
        state, size, hash_state = "to download" if source.urls else "add by hand", source.bytes, ""
        if copy := local_copy(source, resources_dir, mirrors):
            path, size = copy, copy.stat().st_size
            state = "present" if copy == target else "in mirror"
            was_fetched = copy == target and sidecar(resources_dir, source).exists()
            hash_state = "ok" if verify else "as fetched" if was_fetched else "not checked"
            if verify and not _is_registered_file(source, copy):
                hash_state = "WRONG"
            elif source.unverified:
                hash_state = "unverified"
        rows.append(Status(name, state, size, hash_state, source.licence, path))
    return rows


def _is_registered_file(source: Source, copy: Path) -> bool:
    try:
        verify_file(source, copy)
    except Refused:
        return False
    return True
