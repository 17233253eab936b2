"""Is it the right file, and where did it come from?"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from analogyqa.files import write_json
from analogyqa.sources.registry import Source

CHUNK = 1 << 16
DROP_IN = "drop-in"  # the origin of a file that the user placed
WIKIQA_HEADER = b"QuestionID Question DocumentID DocumentTitle SentenceID Sentence Label".split()


class Refused(Exception):
    """What was found at one place is not the source; trying again would not help."""


class Fingerprint(NamedTuple):
    """What identifies a file's content."""

    bytes: int
    sha256: str
    git_blob: str


def fingerprint(path: Path) -> Fingerprint:
    """Hash a file, as sha256sum does and as git does."""
    size = path.stat().st_size
    sha256 = hashlib.sha256()
    git_blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            sha256.update(chunk)
            git_blob.update(chunk)
    return Fingerprint(size, sha256.hexdigest(), git_blob.hexdigest())


def rows_sha256(path: Path) -> str | None:
    """Hash the question id, question, answer and label of each row of a WikiQA file, in order.

    Line ends, document ids and titles do not count. None for a file of another layout.
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
    """Return the fingerprint; every kind of hash that the source states must agree.

    Of a source without a known hash only the size can be checked, where it is stated.
    """
    found = fingerprint(path)
    if source.unverified:
        same = source.bytes in (None, found.bytes)
    else:
        same = not source.sha256 or found.sha256 in source.sha256
        same = same and source.git_blob in (None, found.git_blob)
        same = same or (source.rows_sha256 is not None and source.rows_sha256 == rows_sha256(path))
    if not same:
        blob = f", git blob {found.git_blob}" if source.git_blob else ""
        raise Refused(f"another file: sha256 {found.sha256}{blob}, {found.bytes:,} bytes")
    return found


def describe_expected(source: Source) -> str:
    hashes = ["sha256 " + " or ".join(source.sha256)] if source.sha256 else []
    hashes += [f"git blob {source.git_blob}"] if source.git_blob else []
    size = f"{source.bytes:,} bytes" if source.bytes else "size not known"
    return f"{', '.join(hashes)}; {size}"


@dataclass(frozen=True)
class Provenance:
    """Where a file came from: DROP_IN, "mirror" or a URL (#member of an archive).

    `hash` says whether a known hash agreed, or whether `sha256` is only what was found.
    """

    name: str
    origin: str
    sha256: str
    bytes: int
    licence: str
    hash: Literal["verified", "unverified"] = "verified"


def sidecar(resources_dir: str | Path, source: Source) -> Path:
    """Return the path of the JSON file that holds the source's Provenance."""
    return Path(resources_dir, source.file + ".source.json")


def is_placed_by_hand(source: Source, resources_dir: str | Path) -> bool:
    """Return whether the file of a source is there and no record says that it was fetched."""
    path, record = Path(resources_dir, source.file), sidecar(resources_dir, source)
    if not path.exists():
        return False
    recorded = _read_record(record)
    return recorded is None or recorded.origin == DROP_IN or _is_newer(path, record)


def _is_newer(path: Path, other: Path) -> bool:
    return path.stat().st_mtime_ns > other.stat().st_mtime_ns


def _read_record(path: Path) -> Provenance | None:
    try:
        return Provenance(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        return None  # there is none, or it is not ours


def write_record(
    source: Source, resources_dir: str | Path, found: Fingerprint, origin: str | None = None
) -> Provenance:
    """Write the sidecar, unless it says so already; without `origin`, the one on record stands."""
    path = sidecar(resources_dir, source)
    recorded = _read_record(path)
    if origin is None:
        known = recorded is not None and recorded.sha256 == found.sha256
        origin = recorded.origin if known else DROP_IN
    checked = "unverified" if source.unverified else "verified"
    provenance = Provenance(source.name, origin, found.sha256, found.bytes, source.licence, checked)
    if provenance != recorded:
        write_json(path, asdict(provenance))
    return provenance
