"""Put a source into the resources folder, from a mirror or the web."""

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
    """Put a verified copy of a source at `resources_dir/source.file`, and write its record.

    A file that is already there is verified and never replaced. Otherwise the mirrors are tried
    first, then the URLs, which resume earlier downloads.

    Raises AnalogyQAError when the existing file is the wrong one, when no copy can be found, or
    when the folder cannot be written to.
    """
    target, failures = Path(resources_dir, source.file), ""
    locations: list[Path | Download] = [Path(mirror, source.file) for mirror in mirrors]
    locations += source.urls
    try:
        if target.exists():
            return write_record(source, resources_dir, _verify_existing(source, target))
        for location in locations:
            try:
                if isinstance(location, Path):
                    origin, fingerprint = "mirror", _copy(source, location, target)
                else:
                    origin, fingerprint = str(location), _download(source, location, target, sleep)
            except Refused as refusal:
                failures += f"\n    {location}: {refusal}"
            else:
                return write_record(source, resources_dir, fingerprint, origin)
    except OSError as error:
        raise AnalogyQAError(
            f"{source.name}: {error.filename or target}: {error.strerror or error}. Make "
            f"{target.parent} a writable folder with room for {source.file} "
            f"({describe_expected(source)}), or choose another resources_dir in the configuration. "
            "The download will resume where it stopped."
        ) from error
    raise AnalogyQAError(
        f"{source.name}: {source.title} could not be found or downloaded.\n"
        f"  expected: {describe_expected(source)}\n"
        f"  licence: {source.licence}\n"
        f"  tried:{failures or ' nothing; there is no mirror and no URL'}\n"
        f"  remedy: put the file at {target.absolute()}, or name a folder that holds "
        f"{source.file} in {MIRROR_VARIABLE} or in mirrors in the configuration"
    )


def _verify_existing(source: Source, target: Path) -> Fingerprint:
    try:
        return verify_file(source, target)
    except Refused as refusal:
        raise AnalogyQAError(
            f"{source.name}: {target} is not {source.title}.\n"
            f"  expected: {describe_expected(source)}\n"
            f"  found: {refusal}\n"
            f"  licence: {source.licence}\n"
            "  remedy: remove or replace the file, which was left unchanged, and run again"
        ) from None


def _copy(source: Source, copy: Path, target: Path) -> Fingerprint:
    if not copy.is_file():
        raise Refused("no such file")
    with atomic_path(target) as temporary:
        shutil.copyfile(copy, temporary)  # not a link, because the mirror may change or vanish
        return verify_file(source, temporary)


def _download(
    source: Source, download: Download, target: Path, sleep: Callable[[float], None]
) -> Fingerprint:
    """Download, convert and verify a file. If a resumed download is wrong, start over once."""
    target.parent.mkdir(parents=True, exist_ok=True)
    url_id = hashlib.sha256(download.url.encode()).hexdigest()[:8]
    part = target.with_name(f"{target.name}.{url_id}.part")
    for is_second_try in (False, True):
        was_resumed = download_url(download.url, part, not source.unverified, sleep)
        try:
            with atomic_path(target) as temporary:
                convert(source, download, part, temporary)
                fingerprint = verify_file(source, temporary)
            break
        except Refused:
            part.unlink(missing_ok=True)
            if is_second_try or not was_resumed:
                raise
    for leftover in target.parent.glob(f"{glob.escape(target.name)}.*.part"):
        leftover.unlink()
    return fingerprint
