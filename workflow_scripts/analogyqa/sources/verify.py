"""Verify that files are the registered ones, record where they came from, and list their states."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from analogyqa.files import write_json
from analogyqa.sources.registry import Source, local_copy

DROP_IN = "drop-in"  # origin of a file that the user added by hand
WIKIQA_HEADER = b"QuestionID Question DocumentID DocumentTitle SentenceID Sentence Label".split()


class Refused(Exception):
    """Raised when one location does not have the right file and retrying would not help."""


def rows_sha256(path: Path) -> str | None:
    """Hash the rows of a WikiQA file, or return None for another layout.

    The hash covers question id, question, answer and label, but not line ends, document ids and
    titles, in which copies differ.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        lines = (line.rstrip(b"\r\n").split(b"\t") for line in file)
        if next(lines, None) != WIKIQA_HEADER:
            return None
        for fields in lines:
            if len(fields) != len(WIKIQA_HEADER):
                return None
            digest.update(b"\t".join((fields[0], fields[1], fields[5], fields[6])) + b"\n")
    return digest.hexdigest()


@dataclass(frozen=True)
class Provenance:
    """Where a file came from.

    `origin` is DROP_IN, "mirror" or a URL (with #member for an archive). `hash` says whether
    `sha256` matched a known hash or only describes the file.
    """

    name: str
    origin: str
    sha256: str
    bytes: int
    licence: str
    hash: str = "verified"  # or "unverified"


def verify_file(source: Source, path: Path, origin: str = DROP_IN) -> Provenance:
    """Return the provenance of a file, or raise Refused when it is not the registered one.

    The file must match each hash of the source, or the hash of its rows. Without a known hash,
    only the size can be checked.
    """
    size, blob = path.stat().st_size, None
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if source.git_blob:
            file.seek(0)
            empty_blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            blob = hashlib.file_digest(file, lambda: empty_blob).hexdigest()
    if source.unverified:
        matches = source.bytes in (None, size)
    else:
        matches = blob == source.git_blob and (not source.sha256 or sha256 in source.sha256)
        if not matches and source.rows_sha256 is not None:
            matches = source.rows_sha256 == rows_sha256(path)
    if not matches:
        found = f"sha256 {sha256}" + (f", git blob {blob}" if blob else "")
        raise Refused(f"a different file: {found}, {size:,} bytes")
    state = "unverified" if source.unverified else "verified"
    return Provenance(source.name, origin, sha256, size, source.licence, state)


def sidecar(resources_dir: str | Path, source: Source) -> Path:
    """Return the path of the JSON file with a source's Provenance."""
    return Path(resources_dir, source.file + ".source.json")


def is_placed_by_hand(source: Source, resources_dir: str | Path) -> bool:
    """Return whether a source's file exists without a record that it was fetched."""
    path, record = Path(resources_dir, source.file), sidecar(resources_dir, source)
    if not path.exists():
        return False
    recorded = _read_record(record)
    is_fetched = recorded is not None and recorded.origin != DROP_IN
    return not is_fetched or path.stat().st_mtime_ns > record.stat().st_mtime_ns


def _read_record(path: Path) -> Provenance | None:
    try:
        return Provenance(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        return None  # missing, or not written by us


def write_record(path: Path, provenance: Provenance) -> Provenance:
    """Write a sidecar if it changed; a file that was fetched before keeps its origin."""
    recorded = _read_record(path)
    if recorded and provenance.origin == DROP_IN and provenance.sha256 == recorded.sha256:
        provenance = replace(provenance, origin=recorded.origin)
    if provenance != recorded:
        write_json(path, asdict(provenance))
    return provenance


def source_state(
    source: Source, resources_dir: str | Path, mirrors: Sequence[Path], verify: bool = False
) -> tuple[str, str, Path]:
    """Return the state of a source, the state of its hash, and where its file is or belongs.

    A source is present, in mirror, to download, or add by hand. A hash is unverified if none is
    known, as fetched or not checked; with `verify`, ok or WRONG; and "" without a file.
    """
    target, copy = Path(resources_dir, source.file), local_copy(source, resources_dir, mirrors)
    if copy is None:
        return "to download" if source.urls else "add by hand", "", target
    was_fetched = copy == target and sidecar(resources_dir, source).exists()
    hash_state = "ok" if verify else "as fetched" if was_fetched else "not checked"
    try:
        if verify:
            verify_file(source, copy)
    except Refused:
        hash_state = "WRONG"
    else:
        hash_state = "unverified" if source.unverified else hash_state
    return "present" if copy == target else "in mirror", hash_state, copy
