"""Bring a source into the resources folder: what is there, a mirror, then the URLs."""

import glob
import hashlib
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path
from analogyqa.sources.archives import convert
from analogyqa.sources.download import download_url
from analogyqa.sources.registry import MIRROR_VARIABLE, Download, Source
from analogyqa.sources.verify import (
    Fingerprint,
    Provenance,
    Refused,
    describe_expected,
    verify_file,
    write_record,
)


def fetch(
    source: Source,
    resources_dir: str | Path,
    mirrors: Sequence[Path],
    sleep: Callable[[float], None] = time.sleep,
) -> Provenance:
    """Make `resources_dir/source.file` the verified file, and write its sidecar.

    A file already there is verified and kept, and never removed or replaced. `sleep` waits the
    given seconds between two attempts at a URL; what was downloaded so far is resumed.

    Raises AnalogyQAError when the file there is a wrong one, when no place has the right one, and
    when the folder cannot be written.
    """
    target, tried = Path(resources_dir, source.file), ""
    copies = [Path(mirror, source.file) for mirror in mirrors]
    try:
        if target.exists():
            return write_record(source, resources_dir, _kept(source, target))
        for place in (*copies, *source.urls):
            try:
                if isinstance(place, Path):
                    origin, found = "mirror", _copied(source, place, target)
                else:
                    origin, found = str(place), _downloaded(source, place, target, sleep)
            except Refused as refusal:
                tried += f"\n    {place}: {refusal}"
            else:
                return write_record(source, resources_dir, found, origin)
    except OSError as error:
        raise AnalogyQAError(
            f"{source.name}: {error.filename or target}: {error.strerror or error}; make "
            f"{target.parent} a writable folder with room for {source.file} "
            f"({describe_expected(source)}), or set resources_dir in the config to another one; a "
            "download resumes where it stopped"
        ) from error
    raise AnalogyQAError(
        f"{source.name}: cannot get {source.title}\n"
        f"  expected: {describe_expected(source)}\n"
        f"  licence: {source.licence}\n"
        f"  tried:{tried or ' no mirror given, no URL known'}\n"
        f"  remedy: put the file at {target.absolute()}, or name a folder that holds "
        f"{source.file} in {MIRROR_VARIABLE} or under mirrors: in the config"
    )


def _kept(source: Source, target: Path) -> Fingerprint:
    try:
        return verify_file(source, target)
    except Refused as refusal:
        raise AnalogyQAError(
            f"{source.name}: {target} is not {source.title}\n"
            f"  expected: {describe_expected(source)}\n"
            f"  found: {refusal}\n"
            f"  licence: {source.licence}\n"
            "  remedy: remove or replace the file (it was left as it is), then run again"
        ) from None


def _copied(source: Source, copy: Path, target: Path) -> Fingerprint:
    if not copy.is_file():
        raise Refused("not there")
    with atomic_path(target) as temporary:
        shutil.copyfile(copy, temporary)  # no link: the mirror may vanish or change
        return verify_file(source, temporary)


def _downloaded(
    source: Source, download: Download, target: Path, sleep: Callable[[float], None]
) -> Fingerprint:
    """Download, convert and verify; a part begun earlier that turns out wrong is dropped once."""
    target.parent.mkdir(parents=True, exist_ok=True)
    url_id = hashlib.sha256(download.url.encode()).hexdigest()[:8]
    part = target.with_name(f"{target.name}.{url_id}.part")
    for anew in (False, True):
        resumed = download_url(download.url, part, not source.unverified, sleep)
        try:
            with atomic_path(target) as temporary:
                convert(source, download, part, temporary)
                found = verify_file(source, temporary)
            break
        except Refused:
            part.unlink(missing_ok=True)
            if anew or not resumed:
                raise
    for leftover in target.parent.glob(f"{glob.escape(target.name)}.*.part"):
        leftover.unlink()
    return found
