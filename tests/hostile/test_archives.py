"""Archives that would write elsewhere or endlessly are refused by name, and little is written."""

import gzip
import io
import stat
import tracemalloc
import zipfile
import zlib
from contextlib import contextmanager

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.nli import read_nli
from analogyqa.sources.fetch import fetch
from analogyqa.vectors.files import select_vectors
from builders.damaged import mark_most_slow, zipped
from builders.servers import ok, running_server, source

MEMBER, CONTENT = "corpus/file.txt", b"what the source is\n" * 1000
BOMB = 10 << 30
LITTLE = 48 << 20  # bytes of memory, or of a file: a few times the packed bomb

FILE, LINK, FIFO = stat.S_IFREG | 0o644, stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644


def endless(letter: bytes) -> bytes:
    """Return 10 GiB of a letter as a DEFLATE stream, without ever having them in memory."""
    size = 1 << 20
    packer = zlib.compressobj(9, wbits=-15)
    first = packer.compress(letter * size) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(letter * size) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + again * (BOMB // size - 1) + packer.flush()


def bomb(member: str, letter: bytes = b"\0", stated: int = BOMB) -> bytes:
    """Return a small archive whose member unpacks to 10 GiB; `stated` is the size it claims."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(member, endless(letter))
        # The content is stored as it is; declared as deflated, it unpacks to the bomb.
        info = archive.getinfo(member)
        info.compress_type, info.file_size = zipfile.ZIP_DEFLATED, stated
    return buffer.getvalue()


@pytest.fixture
def limits(limit_file_size):
    """Limit the size of files to LITTLE, and assert that memory stayed below it."""

    @contextmanager
    def limits():
        tracemalloc.start()
        try:
            with limit_file_size(LITTLE):
                yield
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < LITTLE

    return limits


@pytest.fixture
def get(tmp_path, limits):
    """Fetch a member of an archive; if it is refused, return the message; no file may be left."""

    def get(archive: bytes, **changes) -> str | None:
        with running_server() as server:
            url = server.serve("/a.zip", ok(archive))
            registered = source(CONTENT, urls=[{"url": url, "member": MEMBER}], **changes)
            try:
                with limits():
                    fetch(registered, tmp_path / "resources", [], sleep=lambda seconds: None)
            except AnalogyQAError as error:
                assert all(path.is_dir() for path in tmp_path.rglob("*"))
                return str(error)
        return None

    return get


GOOD = (MEMBER, CONTENT, FILE)
ELSEWHERE = ["/etc/passwd", "../file.txt", "corpus/../../file.txt", "corpus/..", "./file.txt", ""]
ELSEWHERE += ["corpus//file.txt", "..\\file.txt", "corpus\\file.txt", "C:file.txt", "../"]
ELSEWHERE += ["\\\\host\\file.txt", "corpus/file.txt\0.png"]
# Members besides the right one; the message names the first of them.
HOSTILE = [
    *([(name, b"", FILE)] for name in ELSEWHERE),
    [("corpus/link", b"/etc/passwd", LINK)],
    [("a", b"/tmp", LINK), ("a/file.txt", b"", FILE)],  # a link to a folder, and a file in it
    [("corpus/pipe", b"", FIFO)],
]
OTHER_NAMES = ("other.txt", "file.txt", f"a/{MEMBER}", f"{MEMBER}/")
FLIPPED = bytearray(zipped(GOOD))
FLIPPED[len(FLIPPED) // 2] ^= 1
# Archives, and part of the message about them.
REFUSED = [
    *((zipped((MEMBER, CONTENT, mode)), "that is a link or special file") for mode in (LINK, FIFO)),
    *((zipped((name, b"", FILE)), f"archive has no member {MEMBER}") for name in OTHER_NAMES),
    *((zipped(GOOD)[:end], "the archive is damaged") for end in (0, 50, -1)),
    (bytes(FLIPPED), "the archive is damaged"),
    (zipped((MEMBER, b"wrong", FILE)), "a different file: sha256 "),
]


def test_a_member_is_extracted_from_its_archive(get, tmp_path):
    assert get(zipped(("a.txt", b"", FILE), GOOD)) is None
    folder = tmp_path / "resources/data"
    assert {path.name for path in folder.iterdir()} == {"file.txt", "file.txt.source.json"}
    assert (folder / "file.txt").read_bytes() == CONTENT
    assert f"/a.zip#{MEMBER}" in (folder / "file.txt.source.json").read_text()


@pytest.mark.parametrize(("members", "position"), mark_most_slow(HOSTILE, ["before", "after"]))
def test_an_archive_with_a_hostile_member_is_refused_by_its_name(get, members, position):
    archive = zipped(*members, GOOD) if position == "before" else zipped(GOOD, *members)
    assert f"the archive has a member {members[0][0]!r}" in get(archive)


@pytest.mark.parametrize(("archive", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_damaged_archive_or_one_without_the_file_is_refused(get, archive, message):
    assert message in get(archive)


@pytest.mark.parametrize(
    ("changes", "limit"), [({}, "38,000"), ({"sha256": "unknown", "bytes": None}, "1,0")]
)
def test_a_bomb_is_refused_before_it_is_unpacked(get, changes, limit):
    message = get(bomb(MEMBER), **changes)
    assert f"{MEMBER} in the archive has {BOMB:,} bytes" in message
    assert f" {limit}" in message


@pytest.mark.parametrize("stated", [len(CONTENT), 2 * len(CONTENT)])
def test_a_bomb_that_claims_to_be_small_is_unpacked_no_further(get, stated):
    assert "damaged" in get(bomb(MEMBER, stated=stated))


def test_a_bomb_beside_the_member_is_never_unpacked(get):
    archive = io.BytesIO(bomb("other.txt"))
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("../file.txt", b"")
    assert "'../file.txt'" in get(archive.getvalue())


# Archives that are read without unpacking them: name, member of a zip, letter that fills it.
READ_WITHIN = [
    *(("a.vec.zip", "a.vec", letter) for letter in (b"7", b" ")),
    *(("a.vec.gz", None, letter) for letter in (b"7", b"\n")),
    ("a.bin.zip", "a.bin", b"7"),
    ("a.bin.gz", None, b"\0"),
    *(("a.zip", "snli_train.jsonl", letter) for letter in (b"[", b"\n")),
    pytest.param("a.zip", "snli_train.jsonl", b" ", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "member", "letter"), READ_WITHIN)
def test_a_bomb_that_is_read_within_its_archive_is_refused_early(
    tmp_path, limits, name, member, letter
):
    path = tmp_path / name
    gzipped = gzip.compress(b"", mtime=0)[:10]
    path.write_bytes(bomb(member, letter) if member else gzipped + endless(letter))
    with pytest.raises(AnalogyQAError, match=str(path)), limits():
        if name == "a.zip":
            read_nli([str(path)])
        else:
            select_vectors(path, ["word"], "zero")
