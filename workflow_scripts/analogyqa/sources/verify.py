"""Is it the right file?"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from analogyqa.files import write_json
from analogyqa.sources.registry import Source

CHUNK = 1 << 16


WIKIQA_HEADER = (
    b"QuestionID",
    b"Question",
    b"DocumentID",
    b"DocumentTitle",
    b"SentenceID",
    b"Sentence",
    b"Label",
)


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
        if _fields(file.readline()) != list(WIKIQA_HEADER):
            return None
        for line in file:
            fields = _fields(line)
            if len(fields) != len(WIKIQA_HEADER):
                return None
            digest.update(b"\t".join((fields[0], fields[1], fields[5], fields[6])) + b"\n")
    return digest.hexdigest()


def _fields(line: bytes) -> list[bytes]:
    return line.rstrip(b"\r\n").split(b"\t")


class Refused(Exception):
    """What was found at one place is not the source; trying again would not help."""


def verify_file(source: Source, path: Path) -> Fingerprint:
    """Return the fingerprint; every kind of hash that the source states must agree.

    Of a source without a known hash only the size can be checked, where it is stated.
    """
    found = fingerprint(path)
    if source.unverified:
        if source.bytes and found.bytes != source.bytes:
            raise Refused(f"another file: {found.bytes:,} bytes")
        return found
    same = not source.sha256 or found.sha256 in source.sha256
    same = same and (not source.git_blob or found.git_blob == source.git_blob)
    if not same and not (source.rows_sha256 and rows_sha256(path) == source.rows_sha256):
        blob = f", git blob {found.git_blob}" if source.git_blob else ""
        raise Refused(f"another file: sha256 {found.sha256}{blob}, {found.bytes:,} bytes")
    return found


def expected_of(source: Source) -> str:
    hashes = ["sha256 " + " or ".join(source.sha256)] if source.sha256 else []
    hashes += [f"git blob {source.git_blob}"] if source.git_blob else []
    size = f"{source.bytes:,} bytes" if source.bytes else "size not known"
    return f"{', '.join(hashes)}; {size}"


@dataclass(frozen=True)
class Provenance:
    """Where a file came from: "drop-in", "mirror" or a URL (#member of an archive).

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


def read_record(source: Source, resources_dir: str | Path) -> Provenance | None:
    try:
        return Provenance(**json.loads(sidecar(resources_dir, source).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        return None  # none, or not ours: it is written anew


def write_record(
    source: Source, resources_dir: str | Path, origin: str, found: Fingerprint
) -> Provenance:
    checked = "unverified" if source.unverified else "verified"
    provenance = Provenance(source.name, origin, found.sha256, found.bytes, source.licence, checked)
    if read_record(source, resources_dir) != provenance:
        write_json(sidecar(resources_dir, source), asdict(provenance))
    return provenance
