"""The registry of downloads: find, fetch, verify and unpack the files in sources.yaml.

A source is one file. It is satisfied by, in order, the file already below `resources_dir`, a
mirror (a folder of the same layout) and its URLs in turn; in every case its hashes decide. A file
whose publisher states no hash is taken as it comes, and called unverified wherever it is named.
"""

import difflib
import errno
import glob
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import requests
import typer
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential
from tqdm import tqdm
from urllib3 import Retry
from urllib3.exceptions import HTTPError, InvalidHeader

from analogyqa.checkpoints import DAMAGED_ARCHIVE, atomic_path, write_json
from analogyqa.config import read_config
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.yaml_files import read_yaml

MIRROR_VARIABLE = "ANALOGYQA_MIRROR"
ATTEMPTS = 4
LONGEST_WAIT = 120.0  # seconds between two attempts, whatever the server asks for
TIMEOUT = (10.0, 60.0)  # seconds to connect, seconds without a byte
CHUNK = 1 << 16
MOST_UNPACKED = 100  # times the archive, for a member of unknown size; text packs to a fifth

WIKIQA_HEADER = (
    b"QuestionID",
    b"Question",
    b"DocumentID",
    b"DocumentTitle",
    b"SentenceID",
    b"Sentence",
    b"Label",
)


# The registry


def _plain_relative(path: str) -> str:
    parts = path.split("/")
    if "\\" in path or "\0" in path or path[1:2] == ":" or {"", ".", ".."} & set(parts):
        raise ValueError("must be a relative path without '.', '..', a drive or backslashes")
    if max(len(os.fsencode(part)) for part in parts) > 200:  # of 255, so that a suffix has room
        raise ValueError("must have no part of more than 200 bytes")
    return path


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


RelativePath = Annotated[str, AfterValidator(_plain_relative)]
UNKNOWN = "unknown"
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Sha256OrUnknown = Annotated[str, Field(pattern=rf"^([0-9a-f]{{64}}|{UNKNOWN})$")]
Sha1 = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Download(_Strict):
    """One place to get a file from, and what to do with what comes."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$")]
    member: RelativePath | None = None
    format: Literal["wikiqa-parquet"] | None = None

    @model_validator(mode="after")
    def _one_conversion(self) -> "Download":
        if self.member and self.format:
            raise ValueError("give member or format, not both")
        return self

    def __str__(self) -> str:
        return f"{self.url}#{self.member}" if self.member else self.url


class Entry(_Strict):
    """The keys of one entry in sources.yaml; they are explained at the head of that file."""

    title: Text
    file: RelativePath
    sha256: Annotated[tuple[Sha256OrUnknown, ...], BeforeValidator(_as_list)] = ()
    git_blob: Sha1 | None = None
    rows_sha256: Sha256 | None = None
    bytes: Annotated[int, Field(ge=1)] | None = None
    urls: tuple[
        Annotated[Download, BeforeValidator(lambda u: {"url": u} if isinstance(u, str) else u)], ...
    ] = ()
    licence: Text
    citation: Text

    @model_validator(mode="after")
    def _verifiable(self) -> "Entry":
        if not self.sha256 and not self.git_blob:
            raise ValueError("give sha256 (what `sha256sum` prints) or git_blob")
        if UNKNOWN in self.sha256 and (not self.unverified or self.git_blob):
            raise ValueError(f"sha256: {UNKNOWN} leaves no room for another hash")
        return self

    @property
    def unverified(self) -> bool:
        """Whether no hash of the file is known."""
        return self.sha256 == (UNKNOWN,)


class Source(Entry):
    """An entry of the registry together with its name."""

    name: str


def load_registry(path: str | Path) -> dict[str, Source]:
    """Read and check a registry; the sources come in the order of the file.

    Raises AnalogyQAError, with one line for each fault naming file, source and key (and the
    nearest known key), for a file that is not such a registry.
    """
    entries = read_yaml(path)
    if not entries:
        raise AnalogyQAError(f"{path}: expected a mapping from the name of a source to its entry")
    registry, faults, file_of = {}, [], {}
    for name, values in entries.items():
        try:
            entry = Entry.model_validate(values)
        except ValidationError as error:
            faults += [f"{path}: {name}: {_explain(fault)}" for fault in error.errors()]
            continue
        owner = file_of.setdefault(entry.file, name)
        if owner != name:
            faults.append(f"{path}: {name}: file: {entry.file} is the file of {owner} already")
        registry[str(name)] = Source(name=str(name), **entry.model_dump())
    if faults:
        raise AnalogyQAError("\n".join(faults))
    return registry


def _explain(fault: Mapping) -> str:
    key = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        known = Download.model_fields if fault["loc"][0] == "urls" else Entry.model_fields
        return f"unknown key {key}{_nearest(str(fault['loc'][-1]), known)}"
    if fault["type"] == "missing":
        return f"key {key} is missing"
    message = fault["msg"].removeprefix("Value error, ")
    return f"{key}: {shown(fault['input'])} is not allowed: {message}" if key else message


def _nearest(name: str, known: Mapping | Sequence) -> str:
    match = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {match[0]}?" if match else f"; known: {', '.join(known)}"


# Where a source is


def mirrors_from(config_mirrors: Sequence[str], environ: Mapping[str, str]) -> list[Path]:
    """Return the mirror folders, those of ANALOGYQA_MIRROR first (separated as in PATH)."""
    from_environment = environ.get(MIRROR_VARIABLE, "").split(os.pathsep)
    return [Path(mirror).expanduser() for mirror in [*from_environment, *config_mirrors] if mirror]


def local_copy(source: Source, resources_dir: str | Path, mirrors: Sequence[Path]) -> Path | None:
    """Return the file in `resources_dir`, else in a mirror, else None; nothing is verified."""
    paths = (Path(folder, source.file) for folder in (resources_dir, *mirrors))
    return next((path for path in paths if path.is_file()), None)


class UnavailableError(AnalogyQAError):
    """A registered source that is neither here nor on the web."""


def first_available(
    names: Sequence[str],
    registry: Mapping[str, Source],
    resources_dir: str | Path,
    mirrors: Sequence[Path],
) -> str:
    """Return the first of `names` with a local copy, else the first with a URL.

    Raises AnalogyQAError for a name that the registry lacks, UnavailableError when none of them can
    be had.
    """
    for name in names:
        if name not in registry:
            raise AnalogyQAError(f"no source {name!r} in the registry{_nearest(name, registry)}")
    for name in names:
        if local_copy(registry[name], resources_dir, mirrors):
            return name
    for name in names:
        if registry[name].urls:
            return name
    places = " or ".join(str(Path(resources_dir, registry[name].file)) for name in names)
    raise UnavailableError(
        f"{' / '.join(names)}: neither in {resources_dir} nor in a mirror "
        f"({_listed(mirrors)}), and not on the web; put the file at {places}, "
        f"or name a folder that has it in {MIRROR_VARIABLE} or under mirrors: in the config"
    )


def _listed(mirrors: Sequence[Path]) -> str:
    return ", ".join(map(str, mirrors)) or "none given"


# Is it the right file


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


class _Refused(Exception):
    """What was found at one place is not the source; trying again would not help."""


def _verified(source: Source, path: Path) -> Fingerprint:
    """Return the fingerprint; every kind of hash that the source states must agree.

    Of a source without a known hash only the size can be checked, where it is stated.
    """
    found = fingerprint(path)
    if source.unverified:
        if source.bytes and found.bytes != source.bytes:
            raise _Refused(f"another file: {found.bytes:,} bytes")
        return found
    same = not source.sha256 or found.sha256 in source.sha256
    same = same and (not source.git_blob or found.git_blob == source.git_blob)
    if not same and not (source.rows_sha256 and rows_sha256(path) == source.rows_sha256):
        blob = f", git blob {found.git_blob}" if source.git_blob else ""
        raise _Refused(f"another file: sha256 {found.sha256}{blob}, {found.bytes:,} bytes")
    return found


def _expected(source: Source) -> str:
    hashes = ["sha256 " + " or ".join(source.sha256)] if source.sha256 else []
    hashes += [f"git blob {source.git_blob}"] if source.git_blob else []
    size = f"{source.bytes:,} bytes" if source.bytes else "size not known"
    return f"{', '.join(hashes)}; {size}"


# Fetching


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


def fetch(
    source: Source,
    resources_dir: str | Path,
    mirrors: Sequence[Path],
    progress: bool = True,
    sleep: Callable[[float], None] = time.sleep,
) -> Provenance:
    """Make `resources_dir/source.file` the verified file, and write its sidecar.

    A file already there is verified and kept, and never removed or replaced. `sleep` waits the
    given seconds between two attempts at a URL; what was downloaded so far is resumed.

    Raises AnalogyQAError when the file there is a wrong one, when no place has the right one, and
    when the folder cannot be written.
    """
    target = Path(resources_dir, source.file)
    failures = []
    with _disk_trouble(source, target):
        if target.exists():
            return _keep(source, resources_dir, target)
        for mirror in mirrors:
            copy = Path(mirror, source.file)
            if not copy.is_file():
                failures.append(f"{copy}: not there")
                continue
            try:
                with atomic_path(target) as temporary:
                    shutil.copyfile(copy, temporary)  # no link: the mirror may vanish or change
                    found = _verified(source, temporary)
            except _Refused as refusal:
                failures.append(f"{copy}: {refusal}")
            else:
                return _record(source, resources_dir, "mirror", found)
        for download in source.urls:
            try:
                found = _from_url(source, download, target, progress, sleep)
            except (_Refused, _Transient, requests.RequestException) as failure:
                failures.append(f"{download}: {_reason(failure)}")
            else:
                return _record(source, resources_dir, str(download), found)
    tried = "".join(f"\n    {failure}" for failure in failures) or " no mirror given, no URL known"
    raise AnalogyQAError(
        f"{source.name}: cannot get {source.title}\n"
        f"  expected: {_expected(source)}\n"
        f"  licence: {source.licence}\n"
        f"  tried:{tried}\n"
        f"  remedy: put the file at {target}, or name a folder that holds {source.file} in "
        f"{MIRROR_VARIABLE} or under mirrors: in the config"
    )


def _reason(failure: Exception) -> object:
    """Return what lies below the "max retries exceeded" of urllib3, which never retries here."""
    cause = failure.args[0] if failure.args else failure
    return getattr(cause, "reason", failure)


@contextmanager
def _disk_trouble(source: Source, target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename2 or error.filename or target  # of a copy, the second is written
        raise AnalogyQAError(
            f"{source.name}: {where}: {error.strerror or error}; make {target.parent} a writable "
            f"folder with room for {source.file} ({_expected(source).rpartition('; ')[2]}), or "
            "set resources_dir in the config to another one; a download resumes where it stopped"
        ) from error


def _keep(source: Source, resources_dir: str | Path, target: Path) -> Provenance:
    try:
        found = _verified(source, target)
    except _Refused as refusal:
        raise AnalogyQAError(
            f"{source.name}: {target} is not {source.title}\n"
            f"  expected: {_expected(source)}\n"
            f"  found: {refusal}\n"
            f"  licence: {source.licence}\n"
            "  remedy: remove or replace the file (it was left as it is), then run again"
        ) from None
    recorded = _recorded(source, resources_dir)
    same = recorded is not None and recorded.sha256 == found.sha256
    return _record(source, resources_dir, recorded.origin if same else "drop-in", found)


def _recorded(source: Source, resources_dir: str | Path) -> Provenance | None:
    try:
        return Provenance(**json.loads(sidecar(resources_dir, source).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        return None  # none, or not ours: it is written anew


def _record(
    source: Source, resources_dir: str | Path, origin: str, found: Fingerprint
) -> Provenance:
    checked = "unverified" if source.unverified else "verified"
    provenance = Provenance(source.name, origin, found.sha256, found.bytes, source.licence, checked)
    if _recorded(source, resources_dir) != provenance:
        write_json(sidecar(resources_dir, source), asdict(provenance))
    return provenance


def _from_url(
    source: Source,
    download: Download,
    target: Path,
    progress: bool,
    sleep: Callable[[float], None],
) -> Fingerprint:
    """Download, convert and verify; a part begun earlier that turns out wrong is dropped once."""
    target.parent.mkdir(parents=True, exist_ok=True)
    url_id = hashlib.sha256(download.url.encode()).hexdigest()[:8]
    part = target.with_name(f"{target.name}.{url_id}.part")
    hashed, label = not source.unverified, source.file if progress else None
    resumed = _download(download.url, part, hashed, label, sleep)
    try:
        found = _converted(source, download, part, target)
    except _Refused:
        if not resumed:
            raise
        _download(download.url, part, hashed, label, sleep)
        found = _converted(source, download, part, target)
    for leftover in target.parent.glob(f"{glob.escape(target.name)}.*.part"):
        leftover.unlink()
    return found


def _converted(source: Source, download: Download, part: Path, target: Path) -> Fingerprint:
    """Make `target` of a download and verify it; a download that is refused is removed."""
    try:
        with atomic_path(target) as temporary:
            _convert(source, download, part, temporary)
            return _verified(source, temporary)
    except _Refused:
        part.unlink(missing_ok=True)
        raise


class _Transient(Exception):
    """The server may do better later; it may say when, in seconds."""

    def __init__(self, message: str, retry_after: float | None = None):
        super().__init__(message)
        self.retry_after = retry_after


def _download(
    url: str, part: Path, hashed: bool, label: str | None, sleep: Callable[[float], None]
) -> bool:
    """Bring `part` to its full length; True when it holds bytes of an earlier connection.

    Without a hash to come (`hashed`) nothing is resumed, as the file may have changed meanwhile,
    and a server must state a length, by which a lost connection is noticed.
    """
    backoff = wait_exponential(max=LONGEST_WAIT)

    def wait(state) -> float:
        asked = getattr(state.outcome.exception(), "retry_after", None)
        return backoff(state) if asked is None else min(asked, LONGEST_WAIT)

    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait,
        sleep=sleep,
        retry=retry_if_exception_type(
            (
                _Transient,
                requests.ConnectionError,
                requests.Timeout,
                requests.exceptions.ChunkedEncodingError,
            )
        ),
        reraise=True,
    )
    try:
        return retrying(_stream, url, part, hashed, label)
    except requests.RequestException:
        raise
    except (ValueError, HTTPError) as error:  # which requests lets through, as of a chunk's length
        raise _Refused(f"the answer is not understood: {error}") from error


def _stream(url: str, part: Path, hashed: bool, label: str | None) -> bool:
    start = part.stat().st_size if hashed and part.exists() else 0
    headers = {"Accept-Encoding": "identity"}  # byte ranges count bytes of the file as it is
    if start:
        headers["Range"] = f"bytes={start}-"
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        content_range = response.headers.get("Content-Range", "")
        if start and response.status_code == requests.codes.requested_range_not_satisfiable:
            if content_range == f"bytes */{start}":
                return True
            part.unlink(missing_ok=True)
            raise _Transient("the file on the server is shorter than the part already here")
        _raise_for_status(response)
        resumed = start > 0 and response.status_code == requests.codes.partial_content
        if not resumed and response.status_code != requests.codes.ok:
            raise _Refused(f"HTTP {response.status_code} {response.reason} in place of a file")
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            raise _Refused(f"the server sent it in the encoding {encoding}, not as it is")
        if resumed and not re.match(rf"bytes {start}-", content_range):
            part.unlink(missing_ok=True)
            raise _Transient(f"the server sent {content_range!r}, not the bytes from {start}")
        length = response.raw.length_remaining  # None where the server states none
        if not hashed and length is None and not response.raw.chunked:
            raise _Refused(
                "the server states no length, and no hash is known, so that a part of the file "
                "would pass for the whole"
            )
        done = start if resumed else 0
        with (
            part.open("ab" if resumed else "wb") as file,
            tqdm(
                desc=label,
                total=None if length is None else done + length,
                initial=done,
                unit="B",
                unit_scale=True,
                disable=None if label else True,  # None: only on a terminal
            ) as bar,
        ):
            # A body shorter than its Content-Length raises ChunkedEncodingError.
            for chunk in response.iter_content(CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    return resumed


def _raise_for_status(response: requests.Response) -> None:
    if response.ok:
        return
    message = f"HTTP {response.status_code} {response.reason}"
    retryable = (requests.codes.request_timeout, requests.codes.too_many_requests)
    if response.status_code < 500 and response.status_code not in retryable:
        raise _Refused(message)
    try:
        retry_after = Retry().get_retry_after(response.raw)
    except InvalidHeader:
        retry_after = None
    raise _Transient(message, retry_after)


# Unpacking


def _convert(source: Source, download: Download, part: Path, target: Path) -> None:
    """Make the source's file of what was downloaded; raises _Refused for a damaged download."""
    if download.member:
        _extract(part, download.member, source.bytes, target)
    elif download.format:
        _wikiqa_from_parquet(part, target)
    else:
        os.replace(part, target)


def _extract(archive: Path, member: str, expected: int | None, target: Path) -> None:
    """Unpack one member of a zip archive.

    An archive with a member that would lie elsewhere, or with a link, is refused whichever member
    is asked for. So is a member far larger than `expected` (bytes of the first accepted form; with
    other line ends up to twice as many) or, where that is unknown, than the archive.
    """
    most = 2 * expected if expected else MOST_UNPACKED * archive.stat().st_size
    try:
        with zipfile.ZipFile(archive) as opened:
            for each in opened.infolist():
                _require_harmless(each)
            info = opened.getinfo(member)
            if info.is_dir():
                raise _Refused(f"{member} in the archive is not a file but a folder")
            if info.file_size > most:
                raise _Refused(
                    f"{member} in the archive has {info.file_size:,} bytes, more than the "
                    f"{most:,} that it can have"
                )
            # zipfile unpacks no more bytes than the archive states.
            with opened.open(info) as stream, target.open("wb") as file:
                shutil.copyfileobj(stream, file)
    except KeyError:
        raise _Refused(f"the archive has no member {member}") from None
    except (OSError, *DAMAGED_ARCHIVE) as error:
        # The disk's own errors have other numbers.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise _Refused(f"the archive is damaged or of an unknown kind: {error}") from error


def _require_harmless(info: zipfile.ZipInfo) -> None:
    name = info.orig_filename
    try:
        _plain_relative(name.removesuffix("/"))
    except ValueError as error:
        raise _Refused(f"the archive has a member {shown(name)}; a name {error}") from None
    kind = stat.S_IFMT(info.external_attr >> 16)  # 0 where the archive does not tell
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _Refused(f"the archive has a member {shown(name)} that is no file, such as a link")


def _wikiqa_from_parquet(parquet: Path, target: Path) -> None:
    """Write the Hugging Face copy in the layout of the release; the ids it lacks stay empty."""
    import pyarrow as pa  # here, as the Snakefile imports this module to build its graph
    import pyarrow.parquet as pq

    names = ["question_id", "question", "document_title", "answer", "label"]
    try:
        rows = pq.read_table(parquet).select(names).to_pylist()
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise _Refused(f"not the parquet copy of WikiQA: {error}") from error
    with target.open("w", encoding="utf-8", newline="") as file:
        file.write(b"\t".join(WIKIQA_HEADER).decode() + "\n")
        for row in rows:
            question_id, question, title, answer, label = (str(row[name]) for name in names)
            fields = (question_id, question, "", title, "", answer, label)
            if any(mark in field for field in fields for mark in "\t\r\n"):
                raise _Refused(f"a tab or line end inside a field of question {question_id}")
            file.write("\t".join(fields) + "\n")


# The table of `make sources`


class Status(NamedTuple):
    """The state of one source."""

    name: str
    state: Literal["present", "in mirror", "to download", "drop in"]
    bytes: int | None
    licence: str
    hash: Literal["ok", "WRONG", "as fetched", "not checked", "unverified", ""]
    path: Path  # of the local copy, or where to drop it in


def status_table(
    registry: Mapping[str, Source],
    resources_dir: str | Path,
    mirrors: Sequence[Path],
    verify: bool = False,
) -> list[Status]:
    """Return the state of every source; with `verify`, local copies are hashed."""
    return [_status(source, resources_dir, mirrors, verify) for source in registry.values()]


def _status(
    source: Source, resources_dir: str | Path, mirrors: Sequence[Path], verify: bool
) -> Status:
    target = Path(resources_dir, source.file)
    copy = local_copy(source, resources_dir, mirrors)
    if copy is None:
        state = "to download" if source.urls else "drop in"
        return Status(source.name, state, source.bytes, source.licence, "", target)
    if verify:
        try:
            _verified(source, copy)
            checked = "unverified" if source.unverified else "ok"
        except _Refused:
            checked = "WRONG"
    elif source.unverified:
        checked = "unverified"
    else:
        fetched = copy == target and sidecar(resources_dir, source).exists()
        checked = "as fetched" if fetched else "not checked"
    state = "present" if copy == target else "in mirror"
    return Status(source.name, state, copy.stat().st_size, source.licence, checked, copy)


def _print_status(
    rows: Sequence[Status], resources_dir: str | Path, mirrors: Sequence[Path]
) -> None:
    table = Table("source", "state", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("size", justify="right")
    table.add_column("hash")
    table.add_column("licence")
    for column in table.columns[:4]:
        column.no_wrap = True
    for row in rows:
        size = decimal(row.bytes) if row.bytes else "?"
        table.add_row(row.name, row.state, size, row.hash, row.licence)
    console = Console()
    console.print(table)
    lines = [f"present: in {resources_dir}; mirrors: {_listed(mirrors)}"]
    wrong = [f"  {row.path}" for row in rows if row.hash == "WRONG"]
    if wrong:
        lines += ["WRONG: another file than the one registered; remove or replace:", *wrong]
    if any(row.hash == "unverified" for row in rows):
        lines.append("unverified: no hash of the file is published, so it is taken as it is")
    missing = [f"  {row.path}" for row in rows if row.state == "drop in"]
    if missing:
        lines += ["drop in: no URL is known; if you have the file, put it here:", *missing]
    print("\n".join(lines))


def main(
    config: Annotated[
        Path, typer.Option(help="The YAML file that names resources_dir and mirrors.")
    ] = Path("config.yaml"),
    registry: Annotated[Path, typer.Option(help="The registry of sources.")] = Path("sources.yaml"),
    verify: Annotated[bool, typer.Option("--verify", help="Hash every local copy.")] = False,
) -> None:
    """Print which sources are present, in a mirror, to download, or to drop in by hand.

    Exits with 1 when --verify finds a wrong file.
    """
    try:
        sources = load_registry(registry)
        settings = read_config(config)
        resources_dir = settings.resources_dir
        mirrors = mirrors_from(settings.mirrors, os.environ)
        rows = status_table(sources, resources_dir, mirrors, verify)
    except (AnalogyQAError, OSError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(1) from error
    _print_status(rows, resources_dir, mirrors)
    if any(row.hash == "WRONG" for row in rows):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
