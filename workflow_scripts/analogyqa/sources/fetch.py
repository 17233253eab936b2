"""Put a source into the resources folder, from a mirror or over HTTP with resume and retries."""

import errno
import glob
import hashlib
import os
import shutil
import stat
import time
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import requests
from requests import RequestException, codes
from requests.exceptions import ChunkedEncodingError
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
from tqdm import tqdm
from urllib3 import Retry
from urllib3.exceptions import HTTPError, InvalidHeader

from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import DAMAGED_ARCHIVE, atomic_path
from analogyqa.sources.registry import (
    MIRROR_VARIABLE,
    WIKIQA_HEADER,
    Download,
    Provenance,
    Refused,
    Source,
    plain_relative,
    sidecar,
    verify_file,
    write_record,
)

CHUNK = 1 << 16  # bytes
ATTEMPTS = 4
MAX_WAIT = 120.0  # seconds between two attempts, even if the server asks for more
TIMEOUT = (10.0, 60.0)  # seconds to connect, seconds without a byte
# Largest accepted ratio of a member of unknown size to its archive. Text shrinks to about a fifth.
MAX_UNPACKED_RATIO = 100


def fetch(
    source: Source,
    resources_dir: str | Path,
    mirrors: Sequence[Path],
    sleep: Callable[[float], None] = time.sleep,
) -> Provenance:
    """Put a verified copy of a source at `resources_dir/source.file`, and write its record.

    A file that is already there is verified and never replaced. Otherwise the mirrors are tried
    first, then the URLs, which resume earlier downloads.

    Raises AnalogyQAError when the existing file is the wrong one, when no copy can be found, or
    when the folder cannot be written to.
    """
    target, failures = Path(resources_dir, source.file), ""
    record = sidecar(resources_dir, source)
    hashes = ["sha256 " + " or ".join(source.sha256)] if source.sha256 else []
    hashes += [f"git blob {source.git_blob}"] if source.git_blob else []
    size = f"{source.bytes:,} bytes" if source.bytes else "size unknown"
    expected = f"{', '.join(hashes)}; {size}"
    locations: list[Path | Download] = [Path(mirror, source.file) for mirror in mirrors]
    locations += source.urls
    try:
        if target.exists():
            return write_record(record, verify_file(source, target))
        for location in locations:
            try:
                if isinstance(location, Path):
                    return write_record(record, _copy(source, location, target))
                return write_record(record, _download(source, location, target, sleep))
            except Refused as refusal:
                failures += f"\n    {location}: {refusal}"
    except Refused as refusal:
        raise AnalogyQAError(
            f"{source.name}: {target} is not {source.title}.\n"
            f"  expected: {expected}\n"
            f"  found: {refusal}\n"
            f"  licence: {source.licence}\n"
            "  remedy: remove or replace the file, which was left unchanged, and run again"
        ) from None
    except OSError as error:
        raise AnalogyQAError(
            f"{source.name}: {error.filename or target}: {error.strerror or error}. Make "
            f"{target.parent} a writable folder with room for {source.file} ({expected}), or "
            "choose another resources_dir in the configuration. The download will resume where it "
            "stopped."
        ) from error
    raise AnalogyQAError(
        f"{source.name}: {source.title} could not be found or downloaded.\n"
        f"  expected: {expected}\n"
        f"  licence: {source.licence}\n"
        f"  tried:{failures or ' nothing; there is no mirror and no URL'}\n"
        f"  remedy: put the file at {target.absolute()}, or name a folder that holds "
        f"{source.file} in {MIRROR_VARIABLE} or in mirrors in the configuration"
    )


def _copy(source: Source, copy: Path, target: Path) -> Provenance:
    if not copy.is_file():
        raise Refused("no such file")
    with atomic_path(target) as temporary:
        shutil.copyfile(copy, temporary)  # not a link, because the mirror may change or vanish
        return verify_file(source, temporary, "mirror")


def _download(
    source: Source, download: Download, target: Path, sleep: Callable[[float], None]
) -> Provenance:
    """Download, convert and verify a file. If a resumed download is wrong, start over once."""
    target.parent.mkdir(parents=True, exist_ok=True)
    url_id = hashlib.sha256(download.url.encode()).hexdigest()[:8]
    part = target.with_name(f"{target.name}.{url_id}.part")
    for is_second_try in (False, True):
        was_resumed = _download_url(download.url, part, not source.unverified, sleep)
        try:
            with atomic_path(target) as temporary:
                convert(source, download, part, temporary)
                provenance = verify_file(source, temporary, str(download))
            break
        except Refused:
            part.unlink(missing_ok=True)
            if is_second_try or not was_resumed:
                raise
    for leftover in target.parent.glob(f"{glob.escape(target.name)}.*.part"):
        leftover.unlink()
    return provenance


class Transient(Exception):
    """A failure that may go away."""

    retry_after: float | None = None  # seconds, if the server says so


RETRIED = (Transient, requests.ConnectionError, requests.Timeout, ChunkedEncodingError)


def _download_url(url: str, part: Path, has_hash: bool, sleep: Callable[[float], None]) -> bool:
    """Download a URL to `part`, and return whether it contains bytes of an earlier connection.

    `part` is kept after a failure. Without a known hash, nothing is resumed, because the file may
    have changed since, and the server must state a length, so that a lost connection is noticed.
    """
    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=_wait,
        sleep=sleep,
        retry=retry_if_exception_type(RETRIED),
        reraise=True,
    )
    try:
        return retrying(_stream, url, part, has_hash)
    except (Transient, RequestException) as error:
        # urllib3 says "max retries exceeded", although it never retries here. Show the reason.
        cause = error.args[0] if error.args else error
        raise Refused(str(getattr(cause, "reason", error))) from error
    except (ValueError, HTTPError) as error:  # requests does not wrap these, e.g. a bad chunk size
        raise Refused(f"the server's response is malformed: {error}") from error


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    seconds = error.retry_after if isinstance(error, Transient) else None
    return min(2.0 ** (state.attempt_number - 1) if seconds is None else seconds, MAX_WAIT)


def _stream(url: str, part: Path, has_hash: bool) -> bool:
    start = part.stat().st_size if has_hash and part.exists() else 0
    headers = {"Accept-Encoding": "identity"}  # ranges count bytes of the unencoded file
    if start:
        headers["Range"] = f"bytes={start}-"
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        code, content_range = response.status_code, response.headers.get("Content-Range", "")
        is_resumed = start > 0 and code == codes.partial_content
        is_past_end = start > 0 and code == codes.requested_range_not_satisfiable
        if is_past_end and content_range == f"bytes */{start}":
            return True
        if is_past_end or (is_resumed and not content_range.startswith(f"bytes {start}-")):
            part.unlink(missing_ok=True)
            raise Transient(f"the server sent {content_range!r} instead of the bytes from {start}")
        if not is_resumed and code != codes.ok:
            message = f"HTTP {code} {response.reason} instead of a file"
            if code < 500 and code not in (codes.request_timeout, codes.too_many_requests):
                raise Refused(message)
            failure = Transient(message)
            with suppress(InvalidHeader):
                failure.retry_after = Retry().get_retry_after(response.raw)
            raise failure
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            raise Refused(f"the server sent the file with the encoding {encoding}")
        length = response.raw.length_remaining  # None if the server states none
        if not has_hash and length is None and not response.raw.chunked:
            raise Refused(
                "without a stated length or a known hash, a partial file would go unnoticed"
            )
        done = start if is_resumed else 0
        total = None if length is None else done + length
        with (
            part.open("ab" if is_resumed else "wb") as file,
            tqdm(
                desc=part.name, total=total, initial=done, unit="B", unit_scale=True, disable=None
            ) as bar,  # disable=None shows it only on a terminal
        ):
            # A body shorter than its Content-Length raises ChunkedEncodingError.
            for chunk in response.iter_content(CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    return is_resumed


def convert(source: Source, download: Download, part: Path, target: Path) -> None:
    """Turn the downloaded `part` into the source's file, or raise Refused when it is damaged."""
    if download.member:
        _extract(part, download.member, source.bytes, target)
    elif download.format:
        _wikiqa_from_parquet(part, target)
    else:
        os.replace(part, target)


def _extract(archive: Path, member: str, expected: int | None, target: Path) -> None:
    """Unpack one member of a zip archive.

    Refuse the whole archive when any member is a link or has a path outside the archive. Refuse a
    member of more than twice the `expected` bytes (other line ends can double the size) or, if the
    size is unknown, more than MAX_UNPACKED_RATIO times the archive.
    """
    limit = 2 * expected if expected else MAX_UNPACKED_RATIO * archive.stat().st_size
    try:
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                name = info.orig_filename
                try:
                    plain_relative(name.removesuffix("/"))
                except ValueError as error:
                    raise Refused(
                        f"the archive has a member {shown(name)}; a name {error}"
                    ) from None
                # The type is 0 when the archive does not record it.
                if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise Refused(
                        f"the archive has a member {shown(name)} that is a link or special file"
                    )
            info = opened.getinfo(member)
            if info.file_size > limit:
                raise Refused(
                    f"{member} in the archive has {info.file_size:,} bytes, more than the limit "
                    f"of {limit:,}"
                )
            # zipfile unpacks no more bytes than the archive states.
            with opened.open(info) as stream, target.open("wb") as file:
                shutil.copyfileobj(stream, file)
    except KeyError:
        raise Refused(f"the archive has no member {member}") from None
    except (OSError, *DAMAGED_ARCHIVE) as error:
        # Disk errors have an errno; they are not the archive's fault.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise Refused(f"the archive is damaged or of an unknown format: {error}") from error


def _wikiqa_from_parquet(parquet: Path, target: Path) -> None:
    """Write the Hugging Face copy in the layout of the release. Ids that it lacks stay empty."""
    import pyarrow as pa  # imported here to keep Snakemake's start fast
    import pyarrow.parquet as pq

    names = ["question_id", "question", "document_title", "answer", "label"]
    try:
        rows = pq.read_table(parquet).select(names).to_pylist()
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise Refused(f"the file is not the parquet copy of WikiQA: {error}") from error
    with target.open("w", encoding="utf-8", newline="") as file:
        file.write(b"\t".join(WIKIQA_HEADER).decode() + "\n")
        for row in rows:
            question_id, question, title, answer, label = (str(row[name]) for name in names)
            fields = (question_id, question, "", title, "", answer, label)
            if any(mark in field for field in fields for mark in "\t\r\n"):
                raise Refused(f"a tab or line end inside a field of question {question_id}")
            file.write("\t".join(fields) + "\n")
