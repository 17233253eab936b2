"""A file from a misbehaving server arrives whole, or is refused and not kept under its name."""

import gzip
from pathlib import Path

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.sources import fetch as fetching
from analogyqa.sources.fetch import CHUNK, fetch
from analogyqa.sources.registry import Source
from builders.servers import (
    BODY,
    chunked,
    dropped,
    ok,
    reset,
    running_server,
    sent,
    silent,
    source,
    status,
)

SIZE = len(BODY)
HALF = 3 * CHUNK  # a lost download is resumed at a chunk
WRONG = BODY[:1000] + b"!" + BODY[1001:]  # of the same length
GOOD, LOST = ok(BODY), dropped(BODY, HALF)
NOT_HTTP = {
    "nothing": b"",
    "text": b"hello\r\n\r\n",
    "a status that is no number": b"HTTP/1.1 abc OK\r\n\r\n",
    "a status of 99": b"HTTP/1.1 99 OK\r\n\r\n",
    "an endless line": b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000,
    "101 headers": b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 101 + b"\r\n",
    "a header without a colon": b"HTTP/1.1 200 OK\r\nwhat\r\n\r\n" + BODY,
    "the file alone": BODY,
}
NO_FILE = ["/loop", "/wrong", "/missing", "file:///etc/passwd", "data:,x", "http://["]


def part(content_range: str, body: bytes = BODY[HALF:]):
    return sent(body, 206, Content_Range=content_range)


def raw(answer: bytes):
    return lambda handler: handler.wfile.write(answer)


def length(stated: str):
    return sent(BODY, Content_Length=stated)


def packed(body: bytes):
    return sent(body, Content_Encoding="gzip")


# Answers to successive requests, the last one repeated, after which the file has arrived.
ARRIVES = {
    "good": [GOOD],
    "chunks": [chunked(BODY)],
    "chunks without an end": [chunked(BODY, end=b""), GOOD],
    "chunks of no size": [chunked(BODY, end=b"zz\r\n"), GOOD],
    "no answer": [silent, GOOD],
    "redirected, then closed": [status(302, Location="/half"), status(302, Location="/good")],
    "a length too long": [length(str(SIZE + 1)), GOOD],
    "another file, resumed": [dropped(WRONG, HALF), GOOD],
    "as it is": [sent(BODY, Content_Encoding="identity")],
    "resumed as a part without a range": [LOST, part(""), GOOD],
    "resumed as a part of another unit": [LOST, part(f"lines {HALF}-{SIZE - 1}/{SIZE}"), GOOD],
    "resumed as a part of a longer number": [LOST, part(f"bytes {HALF}0-{SIZE}/{SIZE}"), GOOD],
    "resumed with too little": [LOST, part(f"bytes {HALF}-{SIZE - 1}/{SIZE}", BODY[-9:]), GOOD],
    "resumed, but longer than reported": [LOST, status(416), GOOD],
    "resumed and reported as whole": [LOST, status(416, Content_Range=f"bytes */{HALF}"), GOOD],
}
# Answers after which the file is refused.
REFUSED = {
    "chunks of a negative size": [chunked(BODY, end=b"-5\r\n\r\n"), GOOD],
    "chunks always closed": [chunked(BODY, HALF)],
    "always stalled": [dropped(BODY, HALF, silent)],
    "never an answer": [silent],
    "redirected to nowhere": [status(302)],
    "always a length too long": [length(str(SIZE + 1))],
    "another file, always closed half-way": [ok(WRONG, after=HALF)],
    "the file, resumed with another": [LOST, ok(WRONG[::-1])],
    "a shorter file, resumed": [LOST, ok(BODY[:9])],
    "packed": [packed(gzip.compress(BODY, mtime=0))],
    "packed without end": [packed(gzip.compress(bytes(1 << 25), mtime=0))],
    "not packed, but said to be": [packed(BODY)],
    "packed by an unknown method": [sent(BODY, Content_Encoding="zzz")],
    "a part that was not requested": [part(f"bytes 0-{SIZE - 1}/{SIZE}", BODY)],
    "half of it, as a part": [part(f"bytes 0-{HALF - 1}/{SIZE}", BODY[:HALF])],
}
for tenth in (0, 5, 10):
    cut, at = tenth * SIZE // 10, f"at {10 * tenth}%"
    ARRIVES |= {
        f"closed {at}": [dropped(BODY, cut), GOOD],
        f"closed {at}, then without ranges": [dropped(BODY, cut), sent(BODY)],
        f"closed {at}, the rest by 4 of 10 parts": [dropped(BODY, cut), ok(BODY, SIZE * 4 // 10)],
        f"reset {at}": [dropped(BODY, cut, reset), GOOD],
        f"chunks closed {at}": [chunked(BODY, cut), GOOD],
    }
    cases = ARRIVES if cut == SIZE else REFUSED
    cases[f"always closed {at}"] = [dropped(BODY, cut)]
    cases[f"closed {at} without a length"] = [sent(BODY[:cut], Content_Length=None), GOOD]
    if cut < SIZE:
        ARRIVES[f"stalled {at}"] = [dropped(BODY, cut, silent), GOOD]
    if cut > CHUNK:  # otherwise nothing has been written
        another = part(f"bytes 5-{SIZE - 1}/{SIZE}", BODY[5:])
        ARRIVES[f"closed {at}, then another range"] = [dropped(BODY, cut), another, GOOD]
for code in (408, 503):  # the next attempt may succeed
    ARRIVES[f"{code} once"] = [status(code), GOOD]
    REFUSED[f"{code} always"] = [status(code)]
for code in (204, 206, 304, 400, 404, 416):
    REFUSED[f"{code}"] = [status(code), GOOD]
for code in (302, 307):
    ARRIVES[f"{code} to the file"] = [status(code, Location="/good")]
for when in ("3", "-3", "99999999", "soon", "", "Thu, 01 Jan 1970 00:00:00 GMT"):
    ARRIVES[f"429, retry after {when!r}"] = [status(429, Retry_After=when), GOOD]
for stated in ("-5", "many", "9" * 5000, "", "\xb2"):
    ARRIVES[f"a length of {stated[:9]!r}"] = [length(stated)]
for stated in (str(SIZE - 1), "0", f"{SIZE}, {SIZE - 1}"):
    REFUSED[f"a length of {stated!r}"] = [length(stated)]
for address in NO_FILE:
    REFUSED[f"redirected to {address}"] = [status(302, Location=address)]
for body in (b"<html>log in</html>", b"", BODY + b"x", BODY[:-1], WRONG, BODY[::-1]):
    REFUSED[f"another file, {len(body)} bytes from {body[:9]}"] = [ok(body)]
for name, answer in NOT_HTTP.items():
    ARRIVES[f"not HTTP, {name}"] = [raw(answer), GOOD]

# Without a known hash, the content of a file cannot be wrong, but a missing part is noticed.
NOTICED_BY_HASH = (
    *("another file", "a length of", "redirected to /wrong"),
    *("the file, resumed with another", "a shorter file, resumed"),
)
CASES = ARRIVES | REFUSED
UNHASHED = [case for case in CASES if not case.startswith(NOTICED_BY_HASH)]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetching, "TIMEOUT", (5, 0.2))
    with running_server() as running:
        running.serve("/good", GOOD)
        running.serve("/half", LOST)
        running.serve("/wrong", ok(WRONG))
        running.serve("/loop", status(302, Location="/loop"))
        yield running


def arrives(registered: Source, folder: Path) -> bool:
    """Fetch without waiting, and return whether the file arrived; assert that it is whole."""
    target = folder / registered.file
    try:
        fetch(registered, folder, [], sleep=lambda seconds: None)
    except AnalogyQAError as error:
        assert str(target) in str(error)
        assert {path.suffix for path in folder.iterdir()} <= {".part"}
        return False
    assert target.read_bytes() == BODY
    assert {path.name for path in folder.iterdir()} == {"file.txt", "file.txt.source.json"}
    return True


@pytest.mark.parametrize("case", CASES)
def test_a_file_arrives_whole_or_is_refused(server, tmp_path, case):
    registered = source(BODY, file="file.txt", urls=[server.serve("/f", *CASES[case])])
    assert arrives(registered, tmp_path) == (case in ARRIVES)
    # Files that are left behind do no harm once the server works.
    server.serve("/f", GOOD)
    assert arrives(registered, tmp_path)


@pytest.mark.parametrize("case", UNHASHED)
def test_without_a_hash_neither_a_part_nor_a_mixture_passes_for_the_file(server, tmp_path, case):
    url = server.serve("/f", *CASES[case])
    arrives(source(b"", file="file.txt", sha256="unknown", bytes=None, urls=[url]), tmp_path)
