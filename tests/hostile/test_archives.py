"""Archives that would write elsewhere, or without end: refused by name, and little is written."""

import gzip
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
from analogyqa.vectors.select import select_vectors
from http_server import ok, running_server, source

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
def get(tmp_path):
    """Fetch a member of an archive; where it is refused, return the message and see to the rest."""

    def get(archive: bytes, **changes) -> str | None:
        with running_server() as server:
            url = server.serve("/a.zip", ok(archive))
            it = source(CONTENT, urls=[{"url": url, "member": MEMBER}], **changes)
            with little_room():
                try:
                    fetch(it, tmp_path / "resources", [], sleep=lambda seconds: None)
                except AnalogyQAError as error:
                    files = [p for p in tmp_path.rglob("*") if p.is_file() or p.is_symlink()]
                    assert files == []
                    return str(error)
        return None

    return get


GOOD = (MEMBER, CONTENT, FILE)
ELSEWHERE = ["/etc/passwd", "../file.txt", "corpus/../../file.txt", "corpus/..", "./file.txt", ""]
ELSEWHERE += ["corpus//file.txt", "..\\file.txt", "corpus\\file.txt", "C:file.txt", "../"]
ELSEWHERE += ["\\\\host\\file.txt", "corpus/file.txt\0.png"]
# Members beside the right one, the first of which the message names.
HOSTILE = [
    *([(name, b"", FILE)] for name in ELSEWHERE),
    [("corpus/link", b"/etc/passwd", LINK)],
    [("a", b"/tmp", LINK), ("a/file.txt", b"", FILE)],  # a link to a folder, and a file in it
    [("corpus/pipe", b"", FIFO)],
]
OTHER_NAMES = ("other.txt", "file.txt", f"a/{MEMBER}", f"{MEMBER}/")
FLIPPED = bytearray(zipped(GOOD))
FLIPPED[len(FLIPPED) // 2] ^= 1
# Archives, and what the message says of them.
REFUSED = [
    *((zipped((MEMBER, CONTENT, mode)), "that is a link or special file") for mode in (LINK, FIFO)),
    *((zipped((name, b"", FILE)), f"archive has no member {MEMBER}") for name in OTHER_NAMES),
    *((zipped(GOOD)[:end], "the archive is damaged") for end in (0, 50, -1)),
    (bytes(FLIPPED), "the archive is damaged"),
    (zipped((MEMBER, b"wrong", FILE)), "a different file: sha256 "),
]


def test_a_member_is_taken_out_of_its_archive(get, tmp_path):
    assert get(zipped(("a.txt", b"", FILE), GOOD)) is None
    folder = tmp_path / "resources/data"
    assert {path.name for path in folder.iterdir()} == {"file.txt", "file.txt.source.json"}
    assert (folder / "file.txt").read_bytes() == CONTENT
    assert f"/a.zip#{MEMBER}" in (folder / "file.txt.source.json").read_text()


@pytest.mark.parametrize("place", ["before", "behind"])
@pytest.mark.parametrize("members", HOSTILE)
def test_an_archive_with_a_hostile_member_is_refused_by_its_name(get, members, place):
    archive = zipped(*members, GOOD) if place == "before" else zipped(GOOD, *members)
    assert f"the archive has a member {members[0][0]!r}" in get(archive)


@pytest.mark.parametrize(("archive", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_damaged_archive_or_one_without_the_file_is_refused(get, archive, message):
    assert message in get(archive)


@pytest.mark.parametrize(
    ("changes", "most"), [({}, "38,000"), ({"sha256": "unknown", "bytes": None}, "1,0")]
)
def test_a_bomb_is_refused_before_it_is_unpacked(get, changes, most):
    message = get(bomb(MEMBER), **changes)
    assert f"{MEMBER} in the archive has {BOMB:,} bytes" in message
    assert f" {most}" in message


@pytest.mark.parametrize("stated", [len(CONTENT), 2 * len(CONTENT)])
def test_a_bomb_that_is_said_to_be_small_is_unpacked_no_further(get, stated):
    assert "damaged" in get(bomb(MEMBER, stated=stated))


def test_a_bomb_beside_the_member_is_never_unpacked(get):
    archive = io.BytesIO(bomb("other.txt"))
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("../file.txt", b"")
    assert "'../file.txt'" in get(archive.getvalue())


def packed_again(letter: bytes) -> bytes:
    """Return 10 GiB of a letter, gzipped."""
    return gzip.compress(b"", mtime=0)[:10] + endless(letter)


# Files that are read from within their archive: name, member of a zip, letter that fills it.
READ_WITHIN = [
    *(("a.vec.zip", "a.vec", letter) for letter in (b"7", b" ")),
    *(("a.vec.gz", None, letter) for letter in (b"7", b"\n")),
    ("a.bin.zip", "a.bin", b"7"),
    ("a.bin.gz", None, b"\0"),
    *(("a.zip", "snli_train.jsonl", letter) for letter in (b"[", b" ", b"\n")),
]


@pytest.mark.parametrize(("name", "member", "letter"), READ_WITHIN)
def test_a_bomb_that_is_read_within_its_archive_is_refused_early(tmp_path, name, member, letter):
    path = tmp_path / name
    path.write_bytes(bomb(member, letter) if member else packed_again(letter))
    with pytest.raises(AnalogyQAError, match=str(path)), little_room():
        if name == "a.zip":
            read_nli([str(path)])
        else:
            select_vectors(path, ["word"], "zero")


def test_the_cases_are_counted(report_count):
    bombs = 5 + len(READ_WITHIN)
    hostile = 2 * len(HOSTILE) + 3  # the member itself as a link, a pipe or a folder
    report_count(f"{hostile} archives with hostile members and {bombs} bombs of 10 GiB, refused")
