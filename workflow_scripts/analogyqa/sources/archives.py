"""Extract or convert a download into the source's file."""

import errno
import os
import shutil
import stat
import zipfile
from pathlib import Path

from analogyqa.errors import shown
from analogyqa.files import DAMAGED_ARCHIVE
from analogyqa.sources.registry import Download, Source, plain_relative
from analogyqa.sources.verify import WIKIQA_HEADER, Refused

# Largest accepted ratio of a member of unknown size to its archive. Text shrinks to about a fifth.
MAX_UNPACKED_RATIO = 100


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
                _require_harmless(info)
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


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip archive whose hash was verified.

    Raises:
        Refused: when a member is a link or has a path outside the archive.
    """
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            _require_harmless(info)
        opened.extractall(folder)


def _require_harmless(info: zipfile.ZipInfo) -> None:
    name = info.orig_filename
    try:
        plain_relative(name.removesuffix("/"))
    except ValueError as error:
        raise Refused(f"the archive has a member {shown(name)}; a name {error}") from None
    file_type = stat.S_IFMT(info.external_attr >> 16)  # 0 when the archive does not record it
    if file_type not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Refused(f"the archive has a member {shown(name)} that is a link or special file")


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
