"""Bring a source into the resources folder: what is there, a mirror, then the URLs."""

import glob
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import requests

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path
from analogyqa.sources.archives import converted
from analogyqa.sources.download import Transient, download_url
from analogyqa.sources.registry import MIRROR_VARIABLE, Download, Source
from analogyqa.sources.verify import (
    Fingerprint,
    Provenance,
    Refused,
    expected_of,
    read_record,
    verify_file,
    write_record,
)


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
                    found = verify_file(source, temporary)
            except Refused as refusal:
                failures.append(f"{copy}: {refusal}")
            else:
                return write_record(source, resources_dir, "mirror", found)
        for download in source.urls:
            try:
                found = _from_url(source, download, target, progress, sleep)
            except (Refused, Transient, requests.RequestException) as failure:
                failures.append(f"{download}: {_reason(failure)}")
            else:
                return write_record(source, resources_dir, str(download), found)
    tried = "".join(f"\n    {failure}" for failure in failures) or " no mirror given, no URL known"
    raise AnalogyQAError(
        f"{source.name}: cannot get {source.title}\n"
        f"  expected: {expected_of(source)}\n"
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
            f"folder with room for {source.file} ({expected_of(source).rpartition('; ')[2]}), or "
            "set resources_dir in the config to another one; a download resumes where it stopped"
        ) from error


def _keep(source: Source, resources_dir: str | Path, target: Path) -> Provenance:
    try:
        found = verify_file(source, target)
    except Refused as refusal:
        raise AnalogyQAError(
            f"{source.name}: {target} is not {source.title}\n"
            f"  expected: {expected_of(source)}\n"
            f"  found: {refusal}\n"
            f"  licence: {source.licence}\n"
            "  remedy: remove or replace the file (it was left as it is), then run again"
        ) from None
    recorded = read_record(source, resources_dir)
    same = recorded is not None and recorded.sha256 == found.sha256
    return write_record(source, resources_dir, recorded.origin if same else "drop-in", found)


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
    resumed = download_url(download.url, part, hashed, label, sleep)
    try:
        found = converted(source, download, part, target)
    except Refused:
        if not resumed:
            raise
        download_url(download.url, part, hashed, label, sleep)
        found = converted(source, download, part, target)
    for leftover in target.parent.glob(f"{glob.escape(target.name)}.*.part"):
        leftover.unlink()
    return found
