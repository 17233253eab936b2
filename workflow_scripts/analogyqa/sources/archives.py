"""From an archive, or another format, to the file."""

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

MOST_UNPACKED = 100  # times the archive, for a member of unknown size; text packs to a fifth


def convert(source: Source, download: Download, part: Path, target: Path) -> None:
    """Make the source's file of what was downloaded; raises Refused for a damaged download."""
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
            if info.file_size > most:
                raise Refused(
                    f"{member} in the archive has {info.file_size:,} bytes, more than the "
                    f"{most:,} that it can have"
                )
            # zipfile unpacks no more bytes than the archive states.
            with opened.open(info) as stream, target.open("wb") as file:
                shutil.copyfileobj(stream, file)
    except KeyError:
        raise Refused(f"the archive has no member {member}") from None
    except (OSError, *DAMAGED_ARCHIVE) as error:
        # The disk's own errors have other numbers.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise Refused(f"the archive is damaged or of an unknown kind: {error}") from error


def _require_harmless(info: zipfile.ZipInfo) -> None:
    name = info.orig_filename
    try:
        plain_relative(name.removesuffix("/"))
    except ValueError as error:
        raise Refused(f"the archive has a member {shown(name)}; a name {error}") from None
    kind = stat.S_IFMT(info.external_attr >> 16)  # 0 where the archive does not tell
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Refused(f"the archive has a member {shown(name)} that is no file, such as a link")


def _wikiqa_from_parquet(parquet: Path, target: Path) -> None:
    """Write the Hugging Face copy in the layout of the release; the ids it lacks stay empty."""
    import pyarrow as pa  # here, as the Snakefile imports this module to build its graph
    import pyarrow.parquet as pq

    names = ["question_id", "question", "document_title", "answer", "label"]
    try:
        rows = pq.read_table(parquet).select(names).to_pylist()
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise Refused(f"not the parquet copy of WikiQA: {error}") from error
    with target.open("w", encoding="utf-8", newline="") as file:
        file.write(b"\t".join(WIKIQA_HEADER).decode() + "\n")
        for row in rows:
            question_id, question, title, answer, label = (str(row[name]) for name in names)
            fields = (question_id, question, "", title, "", answer, label)
            if any(mark in field for field in fields for mark in "\t\r\n"):
                raise Refused(f"a tab or line end inside a field of question {question_id}")
            file.write("\t".join(fields) + "\n")
