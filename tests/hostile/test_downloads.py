"""Servers that misbehave: the file arrives whole, or it is refused and nothing has its name."""

import gzip
import hashlib
from pathlib import Path

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.sources import download
from analogyqa.sources.fetch import fetch
from analogyqa.sources.registry import Source
from analogyqa.sources.verify import CHUNK
from http_server import (
    Behaviour,
    chunked,
    dropped,
    dropping,
    ignoring_range,
    ok,
    partial,
    raw,
    reset,
    running_server,
    sent,
    silent,
    stalled,
    status,
)

BODY = b"".join(b"%07d\n" % number for number in range(50_000))  # several chunks of a download
SIZE = len(BODY)
TENTHS = {f"at {10 * tenth}%": tenth * SIZE // 10 for tenth in range(11)}
HALF = SIZE // 2
WRONG = BODY[:1000] + b"!" + BODY[1001:]  # of the same length
FAILING = (408, 429, 500, 502, 503, 504)  # of which the next attempt may know nothing
REFUSING = (300, 304, 400, 401, 403, 404, 405, 410, 416, 451, 204, 206)
ARRIVES, REFUSED = True, False

# Each: what the server does at successive requests, the last for all the rest, and how it ends.
Case = tuple[list[Behaviour], bool]
GOOD = ok(BODY)
RANGE = f"bytes {HALF}-{SIZE - 1}/{SIZE}"
GZIP = {"Content_Encoding": "gzip"}

CASES: dict[str, Case] = {
    "good": ([GOOD], ARRIVES),
    **{f"closed {place}": ([dropped(BODY, n), GOOD], ARRIVES) for place, n in TENTHS.items()},
    **{f"reset {place}": ([reset(BODY, n), GOOD], ARRIVES) for place, n in TENTHS.items()},
    **{
        f"closed {place}, the rest by 4 of 10 parts": (
            [dropped(BODY, n), dropping(BODY, SIZE * 4 // 10)],
            ARRIVES,
        )
        for place, n in TENTHS.items()
    },
    **{
        f"always closed {place}": ([dropped(BODY, n)], ARRIVES if n == SIZE else REFUSED)
        for place, n in TENTHS.items()
    },
    **{
        f"closed {place} without a length": (
            [sent(BODY[:n], Content_Length=None), GOOD],
            ARRIVES if n == SIZE else REFUSED,
        )
        for place, n in TENTHS.items()
    },
    **{
        f"closed {place}, then another range": (
            [dropped(BODY, n), partial(BODY[5:], f"bytes 5-{SIZE - 1}/{SIZE}"), GOOD],
            ARRIVES,
        )
        for place, n in TENTHS.items()
        if n > CHUNK  # of less, nothing has been written
    },
    **{
        f"closed {place}, then without ranges": (
            [dropped(BODY, n), ignoring_range(BODY)],
            ARRIVES,
        )
        for place, n in TENTHS.items()
    },
    **{
        f"chunks closed {place}": ([chunked(BODY, n), GOOD], ARRIVES) for place, n in TENTHS.items()
    },
    "chunks": ([chunked(BODY)], ARRIVES),
    "chunks without an end": ([chunked(BODY, end=b""), GOOD], ARRIVES),
    "chunks of no size": ([chunked(BODY, end=b"zz\r\n"), GOOD], ARRIVES),
    "chunks of a negative size": ([chunked(BODY, end=b"-5\r\n\r\n"), GOOD], REFUSED),
    "chunks always closed": ([chunked(BODY, HALF)], REFUSED),
    **{
        f"stalled {place}": ([stalled(BODY, n), GOOD], ARRIVES)
        for place, n in TENTHS.items()
        if n != SIZE
    },
    "always stalled": ([stalled(BODY, HALF)], REFUSED),
    "no answer": ([silent, GOOD], ARRIVES),
    "never an answer": ([silent], REFUSED),
    # An answer of 416 to a first request, or of 304, has no file to go with it.
    **{f"{code}": ([status(code), GOOD], REFUSED) for code in REFUSING},
    **{f"{code} once": ([status(code), GOOD], ARRIVES) for code in FAILING},
    **{f"{code} always": ([status(code)], REFUSED) for code in FAILING},
    **{
        f"429, retry after {when!r}": ([status(429, Retry_After=when), GOOD], ARRIVES)
        for when in ("3", "-3", "99999999", "soon", "", "Thu, 01 Jan 1970 00:00:00 GMT")
    },
    **{
        f"{code} to the file": ([status(code, Location="/good")], ARRIVES)
        for code in (301, 302, 303, 307, 308)
    },
    **{
        f"redirected to {place}": ([status(302, Location=place)], REFUSED)
        for place in (
            "/loop", "/wrong", "/missing", "file:///etc/passwd", "ftp://127.0.0.1/f", "data:,x",
            "//", "http://", "http://[", "http://127.0.0.1:1/", "http://\x7f/", "http://.a/", "x:",
        )
    },
    "redirected to nowhere": ([status(302)], REFUSED),
    "redirected, then closed": (
        [status(302, Location="/half"), status(302, Location="/good")],
        ARRIVES,
    ),
    "a length too long": ([sent(BODY, Content_Length=str(SIZE + 1)), GOOD], ARRIVES),
    "always a length too long": ([sent(BODY, Content_Length=str(SIZE + 1))], REFUSED),
    **{
        f"a length of {length[:9]!r}": ([sent(BODY, Content_Length=length)], ends)
        for length, ends in {
            str(SIZE - 1): REFUSED,
            "0": REFUSED,
            "-5": ARRIVES,
            "many": ARRIVES,
            "9" * 5000: ARRIVES,
            f"{SIZE}, {SIZE - 1}": REFUSED,
            "": ARRIVES,
            "\xb2": ARRIVES,
        }.items()
    },
    **{
        f"another file, {name}": ([ok(body)], REFUSED)
        for name, body in {
            "a page": b"<html>log in</html>",
            "empty": b"",
            "a byte more": BODY + b"x",
            "a byte less": BODY[:-1],
            "one byte changed": WRONG,
            "backwards": BODY[::-1],
        }.items()
    },
    "another file, always closed half-way": ([dropping(WRONG, HALF)], REFUSED),
    "another file, resumed": ([dropped(WRONG, HALF), GOOD], ARRIVES),
    "the file, resumed with another": ([dropped(BODY, HALF), ok(WRONG[::-1])], REFUSED),
    "a shorter file, resumed": ([dropped(BODY, HALF), ok(BODY[:9])], REFUSED),
    "packed": ([sent(gzip.compress(BODY), **GZIP)], REFUSED),
    "packed without end": ([sent(gzip.compress(bytes(1 << 25)), **GZIP)], REFUSED),
    "not packed, but said to be": ([sent(BODY, **GZIP)], REFUSED),
    "packed by what nobody knows": ([sent(BODY, Content_Encoding="zzz")], REFUSED),
    "as it is": ([sent(BODY, Content_Encoding="identity")], ARRIVES),
    "a part that nobody asked for": ([partial(BODY, f"bytes 0-{SIZE - 1}/{SIZE}")], REFUSED),
    "half of it, as a part": ([partial(BODY[:HALF], f"bytes 0-{HALF - 1}/{SIZE}")], REFUSED),
    **{
        f"resumed as {name}": ([dropped(BODY, HALF), partial(BODY[HALF:], span), GOOD], ARRIVES)
        for name, span in {
            "a part of no place": "",
            "a part of another unit": RANGE.replace("bytes", "lines"),
            "a part of a longer number": RANGE.replace(str(HALF), f"{HALF}0"),
        }.items()
    },
    "resumed with too little": (
        [dropping(BODY, HALF), partial(BODY[-9:], f"bytes {HALF}-{SIZE - 1}/{SIZE}"), GOOD],
        ARRIVES,
    ),
    "resumed and told that it is longer": ([dropped(BODY, HALF), status(416), GOOD], ARRIVES),
    "resumed and told that it is whole": (
        [dropped(BODY, HALF), status(416, Content_Range=f"bytes */{HALF}"), GOOD],
        ARRIVES,
    ),
    **{
        f"no HTTP, {name}": ([raw(answer), GOOD], ends)
        for name, answer, ends in (
            ("nothing", b"", ARRIVES),
            ("text", b"hello\r\n\r\n", ARRIVES),
            ("a status of no number", b"HTTP/1.1 abc OK\r\n\r\n", ARRIVES),
            ("a status of 99", b"HTTP/1.1 99 OK\r\n\r\n", ARRIVES),
            ("an endless line", b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000, ARRIVES),
            ("101 headers", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 101 + b"\r\n", ARRIVES),
            ("a header without a colon", b"HTTP/1.1 200 OK\r\nwhat\r\n\r\n" + BODY, ARRIVES),
            ("the file alone", BODY, ARRIVES),
        )
    },
}  # fmt: skip


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running_server() as running:
        running.serve("/good", GOOD)
        running.serve("/half", dropped(BODY, HALF))
        running.serve("/wrong", ok(WRONG))
        running.serve("/loop", status(302, Location="/loop"))
        yield running


def source(url: str, hashed: bool) -> Source:
    return Source(
        name="it",
        title="a test file",
        file="file.txt",
        sha256=hashlib.sha256(BODY).hexdigest() if hashed else "unknown",
        urls=[url],
        licence="CC0",
        citation="nobody",
    )


def outcome(it: Source, folder: Path) -> bool:
    """Fetch without waiting; return whether the file is there, all else being an assertion."""
    target = folder / it.file
    try:
        fetch(it, folder, [], progress=False, sleep=lambda seconds: None)
    except AnalogyQAError as error:
        assert str(target) in str(error)
        assert {path.suffix for path in folder.iterdir()} <= {".part"}
        return REFUSED
    assert target.read_bytes() == BODY
    assert {path.name for path in folder.iterdir()} == {"file.txt", "file.txt.source.json"}
    return ARRIVES


@pytest.mark.parametrize("case", CASES)
def test_a_file_arrives_whole_or_is_refused(server, tmp_path, monkeypatch, case):
    monkeypatch.setattr(download, "TIMEOUT", (5, 0.2))
    behaviours, expected = CASES[case]
    it = source(server.serve("/f", *behaviours), hashed=True)
    assert outcome(it, tmp_path) == expected
    # Whatever it left behind does no harm once the server is well.
    server.serve("/f", GOOD)
    assert outcome(it, tmp_path) == ARRIVES


# Where no hash is known, the content of a file cannot be wrong; that it is cut off still shows.
ONLY_A_HASH_TELLS = (
    "another file",
    "a length of",
    "redirected to /wrong",
    "the file, resumed with another",
    "a shorter file, resumed",
)
UNHASHED = [case for case in CASES if not case.startswith(ONLY_A_HASH_TELLS)]


@pytest.mark.parametrize("case", UNHASHED)
def test_without_a_hash_no_part_and_no_mixture_passes_for_the_file(
    server, tmp_path, monkeypatch, case
):
    monkeypatch.setattr(download, "TIMEOUT", (5, 0.2))
    behaviours, _ = CASES[case]
    outcome(source(server.serve("/f", *behaviours), hashed=False), tmp_path)


def test_the_cases_are_counted(report_count):
    tried = len(CASES) + len(UNHASHED)
    report_count(f"{tried} downloads from {len(CASES)} misbehaving servers, no wrong file")
