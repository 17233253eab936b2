"""Archives that would write elsewhere, or without end: refused by name, and little is written."""

import gzip
import hashlib
import io
import resource
import stat
import tracemalloc
import zipfile
import zlib
from contextlib import contextmanager

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.nli import read_nli
from analogyqa.sources.fetch import fetch
from analogyqa.sources.registry import Source
from analogyqa.vectors.select import select_vectors
from http_server import ok, running_server

MEMBER, CONTENT = "corpus/file.txt", b"what the source is\n" * 1000
BOMB = 10 << 30
LITTLE = 48 << 20  # bytes of memory, or of a file: a few times the packed bomb

FILE, LINK, FIFO = stat.S_IFREG | 0o644, stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644


def zipped(*members: tuple[str, bytes, int]) -> bytes:
    """Return an archive of members: name, content, mode of Unix."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in members:
            info = zipfile.ZipInfo()
            info.filename = name  # given to ZipInfo itself, some of the names would be mended
            info.external_attr = mode << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def endless(letter: bytes) -> bytes:
    """Return 10 GiB of a letter as a DEFLATE stream, without ever having them in memory."""
    size = 1 << 20
    packer = zlib.compressobj(9, wbits=-15)
    first = packer.compress(letter * size) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(letter * size) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + again * (BOMB // size - 1) + packer.flush()


def bomb(member: str, letter: bytes = b"\0", stated: int = BOMB) -> bytes:
    """Return a small archive whose member unpacks to 10 GiB; `stated` is what it says."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(member, endless(letter))
        # The content is stored as it is. Called packed, it unpacks to the bomb.
        info = archive.getinfo(member)
        info.compress_type, info.file_size = zipfile.ZIP_DEFLATED, stated
    return buffer.getvalue()


@contextmanager
def little_room():
    """Let no file grow above LITTLE, and see to it that memory did not."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LITTLE, limits[1]))
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def refusal(monkeypatch, tmp_path):
    """Fetch a member of an archive in vain; return the message."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def fetch_in_vain(archive: bytes, known: bool = True) -> str:
        with running_server() as server, pytest.raises(AnalogyQAError) as caught, little_room():
            it = Source(
                name="it",
                title="a test file",
                file="data/file.txt",
                sha256=hashlib.sha256(CONTENT).hexdigest() if known else "unknown",
                bytes=len(CONTENT) if known else None,
                urls=[{"url": server.serve("/a.zip", ok(archive)), "member": MEMBER}],
                licence="CC0",
                citation="nobody",
            )
            fetch(it, tmp_path / "resources", [], progress=False, sleep=lambda seconds: None)
        assert not any(path.is_file() or path.is_symlink() for path in tmp_path.rglob("*"))
        return str(caught.value)

    return fetch_in_vain


GOOD = (MEMBER, CONTENT, FILE)
# Each: the members beside the right one, and what of the message names the cause.
HOSTILE = {
    "absolute": [("/etc/passwd", b"", FILE)],
    "above": [("../file.txt", b"", FILE)],
    "above, within": [("corpus/../../file.txt", b"", FILE)],
    "above, at the end": [("corpus/..", b"", FILE)],
    "here": [("./file.txt", b"", FILE)],
    "twice a slash": [("corpus//file.txt", b"", FILE)],
    "backslashes": [("..\\file.txt", b"", FILE)],
    "a backslash": [("corpus\\file.txt", b"", FILE)],
    "a drive": [("C:file.txt", b"", FILE)],
    "a share": [("\\\\host\\file.txt", b"", FILE)],
    "a zero": [("corpus/file.txt\0.png", b"", FILE)],
    "empty": [("", b"", FILE)],
    "a folder above": [("../", b"", stat.S_IFDIR)],
    "a link": [("corpus/link", b"/etc/passwd", LINK)],
    "a link to a folder, and a file in it": [("a", b"/tmp", LINK), ("a/file.txt", b"", FILE)],
    "a pipe": [("corpus/pipe", b"", FIFO)],
}


@pytest.mark.parametrize("place", ["before", "behind"])
@pytest.mark.parametrize("case", HOSTILE)
def test_an_archive_with_a_hostile_member_is_refused_by_its_name(refusal, case, place):
    members = HOSTILE[case]
    archive = zipped(*members, GOOD) if place == "before" else zipped(GOOD, *members)
    assert f"the archive has a member {members[0][0]!r}" in refusal(archive)


@pytest.mark.parametrize("mode", [LINK, FIFO])
def test_the_member_itself_may_be_no_link_or_device(refusal, mode):
    assert f"a member {MEMBER!r} that is no file" in refusal(zipped((MEMBER, CONTENT, mode)))


def test_the_member_itself_may_be_no_folder(refusal):
    archive = zipped((MEMBER, CONTENT, FILE)).replace(MEMBER.encode(), MEMBER[:-1].encode() + b"/")
    assert f"no member {MEMBER}" in refusal(archive)


@pytest.mark.parametrize(("known", "most"), [(True, "38,000"), (False, "1,0")])
def test_a_bomb_is_refused_before_it_is_unpacked(refusal, known, most):
    message = refusal(bomb(MEMBER), known)
    assert f"{MEMBER} in the archive has {BOMB:,} bytes, more than the {most}" in message


@pytest.mark.parametrize("stated", [len(CONTENT), 2 * len(CONTENT)])
def test_a_bomb_that_is_said_to_be_small_is_unpacked_no_further(refusal, stated):
    assert "damaged" in refusal(bomb(MEMBER, stated=stated))


def test_a_bomb_beside_the_member_is_never_unpacked(refusal):
    archive = io.BytesIO(bomb("other.txt"))
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("../file.txt", b"")
    assert "'../file.txt'" in refusal(archive.getvalue())


def packed_again(letter: bytes) -> bytes:
    """Return 10 GiB of a letter, gzipped."""
    return gzip.compress(b"")[:10] + endless(letter)


# Files that are read from within their archive: name, content, and the reader.
READ_WITHIN = {
    "text of one line, zip": ("a.vec.zip", lambda: bomb("a.vec", b"7")),
    "text of one line, gzip": ("a.vec.gz", lambda: packed_again(b"7")),
    "text of spaces, zip": ("a.vec.zip", lambda: bomb("a.vec", b" ")),
    "text of empty lines, gzip": ("a.vec.gz", lambda: packed_again(b"\n")),
    "binary, zip": ("a.bin.zip", lambda: bomb("a.bin", b"7")),
    "binary, gzip": ("a.bin.gz", lambda: packed_again(b"\0")),
    "inference, zip": ("a.zip", lambda: bomb("snli_train.jsonl", b"[")),
    "inference of spaces, zip": ("a.zip", lambda: bomb("snli_train.jsonl", b" ")),
    "inference of empty lines, zip": ("a.zip", lambda: bomb("snli_train.jsonl", b"\n")),
}


@pytest.mark.parametrize("case", READ_WITHIN)
def test_a_bomb_that_is_read_within_its_archive_is_refused_early(tmp_path, case):
    name, content = READ_WITHIN[case]
    path = tmp_path / name
    path.write_bytes(content())
    with pytest.raises(AnalogyQAError, match=str(path)), little_room():
        if case.startswith("inference"):
            read_nli([str(path)])
        else:
            select_vectors(path, ["word"], "zero")


def test_the_cases_are_counted(report_count):
    bombs = 5 + len(READ_WITHIN)
    hostile = 2 * len(HOSTILE) + 3
    report_count(f"{hostile} archives with hostile members and {bombs} bombs of 10 GiB, refused")
