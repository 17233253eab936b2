"""Verify that files are the registered ones, record where they came from, and list their states."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from analogyqa.files import write_json
from analogyqa.sources.registry import Source, local_copy

CHUNK = 1 << 16
DROP_IN = "drop-in"  # origin of a file that the user added by hand
WIKIQA_HEADER = b"QuestionID Question DocumentID DocumentTitle SentenceID Sentence Label".split()


class Refused(Exception):
    """Raised when one location does not have the right file and retrying would not help."""


class Fingerprint(NamedTuple):
    """The size and hashes of a file."""

    bytes: int
    sha256: str
    git_blob: str


def fingerprint(path: Path) -> Fingerprint:
    """Hash a file as sha256sum and git do."""
    size = path.stat().st_size
    sha256 = hashlib.sha256()
    git_blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            sha256.update(chunk)
            git_blob.update(chunk)
    return Fingerprint(size, sha256.hexdigest(), git_blob.hexdigest())


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


def verify_file(source: Source, path: Path) -> Fingerprint:
    """Return the fingerprint of a file, or raise Refused when it is not the registered one.

    The file must match each hash of the source, or the hash of its rows. Without a known hash,
    only the size can be checked.
    """
    actual = fingerprint(path)
    if source.unverified:
        matches = source.bytes in (None, actual.bytes)
    else:
        matches = not source.sha256 or actual.sha256 in source.sha256
        matches = matches and source.git_blob in (None, actual.git_blob)
        if not matches and source.rows_sha256 is not None:
            matches = source.rows_sha256 == rows_sha256(path)
    if not matches:
        blob = f", git blob {actual.git_blob}" if source.git_blob else ""
        raise Refused(f"a different file: sha256 {actual.sha256}{blob}, {actual.bytes:,} bytes")
    return actual


def describe_expected(source: Source) -> str:
    hashes = ["sha256 " + " or ".join(source.sha256)] if source.sha256 else []
    hashes += [f"git blob {source.git_blob}"] if source.git_blob else []
    size = f"{source.bytes:,} bytes" if source.bytes else "size unknown"
    return f"{', '.join(hashes)}; {size}"


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
    hash: Literal["verified", "unverified"] = "verified"


def sidecar(resources_dir: str | Path, source: Source) -> Path:
    """Return the path of the JSON file with a source's Provenance."""
    return Path(resources_dir, source.file + ".source.json")


def is_placed_by_hand(source: Source, resources_dir: str | Path) -> bool:
    """Return whether a source's file exists without a record that it was fetched."""
    path, record = Path(resources_dir, source.file), sidecar(resources_dir, source)
    if not path.exists():
        return False
    recorded = _read_record(record)
    if recorded is None or recorded.origin == DROP_IN:
        return True
    return path.stat().st_mtime_ns > record.stat().st_mtime_ns


def _read_record(path: Path) -> Provenance | None:
    try:
        return Provenance(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        return None  # missing, or not written by us


def write_record(
    source: Source, resources_dir: str | Path, actual: Fingerprint, origin: str | None = None
) -> Provenance:
    """Write the sidecar if it changed. Without `origin`, keep the recorded one."""
    path = sidecar(resources_dir, source)
    recorded = _read_record(path)
    if origin is None:
        origin = DROP_IN
        if recorded and recorded.sha256 == actual.sha256:
            origin = recorded.origin
    provenance = Provenance(
        name=source.name,
        origin=origin,
        sha256=actual.sha256,
        bytes=actual.bytes,
        licence=source.licence,
        hash="unverified" if source.unverified else "verified",
    )
    if provenance != recorded:
        write_json(path, asdict(provenance))
    return provenance


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
