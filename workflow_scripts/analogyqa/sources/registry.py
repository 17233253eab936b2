"""Read sources.yaml, the registry of downloads; find, verify and record their files."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml, write_json
from analogyqa.settings.base import OneOrMore, Section, explain_error, without_credentials

MIRROR_VARIABLE = "ANALOGYQA_MIRROR"
UNKNOWN = "unknown"
DROP_IN = "drop-in"  # origin of a file that the user added by hand
WIKIQA_HEADER = b"QuestionID Question DocumentID DocumentTitle SentenceID Sentence Label".split()


def plain_relative(path: str) -> str:
    parts = path.split("/")
    if "\\" in path or "\0" in path or path[1:2] == ":" or {"", ".", ".."} & set(parts):
        raise ValueError("must be a relative path without '.', '..', a drive or backslashes")
    if max(len(os.fsencode(part)) for part in parts) > 200:  # of 255, to allow for a suffix
        raise ValueError("must have no part of more than 200 bytes")
    return path


RelativePath = Annotated[str, AfterValidator(plain_relative)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Sha256OrUnknown = Annotated[str, Field(pattern=rf"^([0-9a-f]{{64}}|{UNKNOWN})$")]
Sha1 = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Text = Annotated[str, Field(min_length=1)]


class Download(Section):
    """An address to download from, and how to turn the download into the file."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$"), AfterValidator(without_credentials)]
    member: RelativePath | None = None
    format: Literal["wikiqa-parquet"] | None = None

    @model_validator(mode="after")
    def _one_conversion(self) -> "Download":
        if self.member and self.format:
            raise ValueError("give member or format, not both")
        return self

    def __str__(self) -> str:
        return f"{self.url}#{self.member}" if self.member else self.url


# An address alone counts as the `url` of a mapping.
UrlOrDownload = Annotated[
    Download, BeforeValidator(lambda value: {"url": value} if isinstance(value, str) else value)
]


class Entry(Section):
    """One entry in sources.yaml. The comments at the top of that file explain the keys."""

    title: Text
    file: RelativePath
    sha256: Annotated[tuple[Sha256OrUnknown, ...], OneOrMore] = ()
    git_blob: Sha1 | None = None
    rows_sha256: Sha256 | None = None
    bytes: Annotated[int, Field(ge=1)] | None = None
    urls: tuple[UrlOrDownload, ...] = ()
    licence: Text
    citation: Text

    @model_validator(mode="after")
    def _verifiable(self) -> "Entry":
        if not self.sha256 and not self.git_blob:
            raise ValueError("give sha256 (what `sha256sum` prints) or git_blob")
        if UNKNOWN in self.sha256 and (not self.unverified or self.git_blob):
            raise ValueError(f"sha256: {UNKNOWN} cannot be combined with another hash")
        return self

    @property
    def unverified(self) -> bool:
        """Whether the file has no known hash."""
        return self.sha256 == (UNKNOWN,)

    def sources(self, name: str) -> "list[Source]":
        return [Source(name=name, **self.model_dump())]


class HubModel(Section):
    """An entry for all files of a model on the Hugging Face hub, at one revision."""

    title: Text
    folder: RelativePath
    hub: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    revision: Sha1
    files: dict[RelativePath, Sha256]
    licence: Text
    citation: Text

    def sources(self, name: str) -> "list[Source]":
        """Return a source for each file, named `name/file`."""
        address = f"https://huggingface.co/{self.hub}/resolve/{self.revision}"
        return [
            Source(
                name=f"{name}/{file}",
                title=f"{self.title}, {file}",
                file=f"{self.folder}/{file}",
                sha256=(sha256,),
                urls=(Download(url=f"{address}/{file}"),),
                licence=self.licence,
                citation=self.citation,
            )
            for file, sha256 in self.files.items()
        ]


class Source(Entry):
    """An entry of the registry with its name."""

    name: str


class UnavailableError(AnalogyQAError):
    """Raised for a source that has neither a local copy nor a URL."""


def load_registry(path: str | Path) -> dict[str, Source]:
    """Read and check a registry, and return its sources by name, in the order of the file.

    Raises AnalogyQAError for an invalid registry, with one line for each fault.
    """
    entries = read_yaml(path)
    if not entries:
        raise AnalogyQAError(f"{path}: expected a mapping from names of sources to their entries.")
    registry: dict[str, Source] = {}
    owners: dict[str, str] = {}
    faults = []
    for name, values in entries.items():
        is_hub_model = isinstance(values, dict) and "hub" in values
        model: type[HubModel | Entry] = HubModel if is_hub_model else Entry
        try:
            sources = model.model_validate(values).sources(str(name))
        except ValidationError as error:
            faults += [f"{name}: {explain_error(model, fault)}" for fault in error.errors()]
            continue
        for source in sources:
            owner = owners.setdefault(source.file, source.name)
            if owner != source.name:
                faults += [f"{source.name}: file: {source.file} is already the file of {owner}."]
            registry[source.name] = source
    if faults:
        raise AnalogyQAError("\n".join(f"{path}: {fault}" for fault in faults))
    return registry


def mirrors_from(config_mirrors: Sequence[str], environ: Mapping[str, str]) -> list[Path]:
    """Return the mirrors: first those in ANALOGYQA_MIRROR (separated as in PATH), then these."""
    from_environment = environ.get(MIRROR_VARIABLE, "").split(os.pathsep)
    return [Path(mirror).expanduser() for mirror in [*from_environment, *config_mirrors] if mirror]


def join_mirrors(mirrors: Sequence[Path]) -> str:
    return ", ".join(map(str, mirrors)) or "none"


def local_copy(source: Source, resources_dir: str | Path, mirrors: Sequence[Path]) -> Path | None:
    """Return the unverified file in `resources_dir` or the first mirror that has it, or None."""
    paths = (Path(folder, source.file) for folder in (resources_dir, *mirrors))
    return next((path for path in paths if path.is_file()), None)


def first_available(
    names: Sequence[str],
    registry: Mapping[str, Source],
    resources_dir: str | Path,
    mirrors: Sequence[Path],
) -> str:
    """Return the first source with a local copy, or else the first with a URL.

    Raises UnavailableError when no source has either.
    """
    local = [name for name in names if local_copy(registry[name], resources_dir, mirrors)]
    if available := local or [name for name in names if registry[name].urls]:
        return available[0]
    folder = Path(resources_dir).absolute()
    paths = " or ".join(str(folder / registry[name].file) for name in names)
    raise UnavailableError(
        f"{' / '.join(names)}: not found in {folder} or a mirror ({join_mirrors(mirrors)}), and no "
        f"URL is known. Put the file at {paths}, or name a folder that holds it in "
        f"{MIRROR_VARIABLE} or in mirrors in the configuration."
    )


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
