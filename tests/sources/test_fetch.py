"""The registry of sources, mirrors, downloads and their failures."""

import csv
import errno
import hashlib
import io
import json
import os
from dataclasses import asdict
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from analogyqa import cli
from analogyqa.errors import AnalogyQAError
from analogyqa.sources.fetch import CHUNK, fetch
from analogyqa.sources.registry import (
    Source,
    first_available,
    is_placed_by_hand,
    load_registry,
    mirrors_from,
    rows_sha256,
    sidecar,
    source_state,
)
from builders.servers import BODY, dropped, entry, ok, running_server, sent, sha256, source, status

ROOT = Path(__file__).parents[2]
HALF = 3 * CHUNK
LOST, PARTLY = dropped(BODY, HALF + 1), f"bytes={HALF}-"  # PARTLY is requested after LOST
BLOB = hashlib.sha1(b"blob %d\0%s" % (len(BODY), BODY)).hexdigest()
UNKNOWN = {"sha256": "unknown", "bytes": None}
PARQUET = {"url": "http://a", "format": "wikiqa-parquet"}
REGISTRY = load_registry(ROOT / "sources.yaml")


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def write_yaml(path: Path, **values) -> Path:
    return put(path, yaml.safe_dump(values).encode())


@pytest.fixture
def server():
    with running_server() as running:
        yield running


@pytest.fixture
def resources(tmp_path):
    return tmp_path / "resources"


@pytest.fixture
def target(resources):
    return resources / "data/file.txt"


@pytest.fixture
def waits():
    return []


@pytest.fixture
def get(resources, waits):
    """Fetch without waiting; `waits` records the seconds."""
    return lambda item, *mirrors: fetch(item, resources, mirrors, sleep=waits.append)


def files_below(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


ONLY_THE_FILE = ["file.txt", "file.txt.source.json"]


# The registry


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"license": "MIT"}, "unknown key license; did you mean licence? Known: title, "),
        ({"urls": ["http://a", {"url": "http://b", "membr": "c"}]}, "urls.1.membr; did you mean"),
        ({"licence": None}, "key licence is missing"),
        ({"bytes": 0}, "bytes: 0 is not allowed: Input should be greater than or equal to 1"),
        ({"sha256": None}, "give sha256"),
        ({"sha256": "ABC"}, "sha256.0: 'ABC' is not allowed"),
        ({"git_blob": "12"}, "git_blob: '12' is not allowed"),
        ({"rows_sha256": "12"}, "rows_sha256: '12' is not allowed"),
        ({"sha256": ["unknown", "0" * 64]}, "sha256: unknown cannot be combined"),
        ({"sha256": "unknown", "git_blob": "0" * 40}, "sha256: unknown cannot be combined"),
        ({"file": "../outside"}, "file: '../outside' is not allowed: must be a relative path"),
        ({"file": f"a/{'ü' * 101}"}, "must have no part of more than 200 bytes"),
        ({"urls": ["ftp://a/b"]}, "urls.0.url: 'ftp://a/b' is not allowed"),
        ({"urls": [{"url": "http://a", "member": "/b"}]}, "urls.0.member: '/b' is not"),
        ({"urls": [{"url": "http://a", "format": "csv"}]}, "urls.0.format: 'csv' is not"),
        ({"urls": [PARQUET | {"member": "b"}]}, "give member or format, not both"),
        ({"urls": ["https://me:hunter2@host/file"]}, "urls.0.url: "),  # a password is not shown
    ],
)
def test_each_fault_of_a_registry_is_reported_on_its_own_line(tmp_path, changes, message):
    first = entry(BODY, file="a")
    path = write_yaml(tmp_path / "my.yaml", a=first, it=entry(BODY, **changes), last=first)
    with pytest.raises(AnalogyQAError) as caught:
        load_registry(path)
    fault, duplicate = str(caught.value).splitlines()
    assert fault.startswith(f"{path}: it: ") and message in fault and "hunter2" not in fault
    assert duplicate == f"{path}: last: file: a is already the file of a."


def test_registered_sources_can_be_verified():
    for item in REGISTRY.values():
        is_model = "/" in item.name  # the hub states no sizes
        assert item.bytes or item.git_blob or item.unverified or is_model, item
        assert item.rows_sha256 or not any(download.format for download in item.urls), item


# Locations


def test_mirrors_of_the_environment_come_first():
    environ = {"ANALOGYQA_MIRROR": os.pathsep.join(["/a", "", "b"])}
    assert mirrors_from(["c"], environ) == [Path("/a"), Path("b"), Path("c")]
    assert mirrors_from([], {}) == []


def test_unavailable_alternatives_name_every_path(resources):
    registry = {name: source(BODY, file=name) for name in ("one", "other")}
    with pytest.raises(AnalogyQAError) as caught:
        first_available(["one", "other"], registry, resources, [])
    assert f"Put the file at {resources}/one or {resources}/other" in str(caught.value)


# Verification


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"sha256": None, "git_blob": BLOB}, "verified"),
        ({"sha256": [sha256(b"other"), sha256(BODY)]}, "verified"),
        (UNKNOWN, "unverified"),
    ],
)
def test_an_existing_file_is_verified_and_unchanged(get, target, changes, state):
    before = put(target, BODY).stat()
    record = get(source(BODY, **changes))
    assert (record.origin, record.sha256, record.hash) == ("drop-in", sha256(BODY), state)
    assert (target.stat().st_mtime_ns, target.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize(
    ("changes", "expected", "actual"),
    [
        ({}, f"sha256 {sha256(BODY)}; 400,000 bytes", f"sha256 {sha256(b'wrong')}, 5 bytes"),
        # A right sha256 does not excuse a wrong blob id.
        ({"sha256": sha256(b"wrong"), "git_blob": BLOB}, f"git blob {BLOB}; ", "git blob 688dd9e2"),
        ({**UNKNOWN, "bytes": 6}, "sha256 unknown; 6 bytes", "5 bytes"),
    ],
)
def test_a_wrong_file_is_reported_and_unchanged(get, target, changes, expected, actual):
    put(target, b"wrong")
    with pytest.raises(AnalogyQAError) as caught:
        get(source(BODY, **changes))
    for part in (f"it: {target} is not a test file", expected, actual, "CC0", "remedy: remove"):
        assert part in str(caught.value)
    assert target.read_bytes() == b"wrong"


# Mirrors and sidecars


def test_a_mirror_is_copied_and_comes_before_urls(server, tmp_path, get, target, resources):
    original = put(tmp_path / "mirror/data/file.txt", BODY)
    fetched = get(source(BODY, urls=[server.serve("/f", ok(BODY))]), tmp_path / "mirror")
    original.write_bytes(b"changed in place")
    original.unlink()
    assert target.read_bytes() == BODY and not target.is_symlink()
    assert server.ranges == []
    record = json.loads(sidecar(resources, source(BODY)).read_bytes())
    assert record == asdict(fetched) and fetched.origin == "mirror"  # no path of this machine
    assert set(record) == {"name", "origin", "sha256", "bytes", "licence", "hash"}  # and no date


def test_fetching_again_keeps_the_origin_and_writes_nothing(server, tmp_path, resources, get):
    put(tmp_path / "data/file.txt", b"wrong")  # a mirror, so the URL is tried next
    item = source(BODY, urls=[server.serve("/f", ok(BODY))])
    first = get(item, tmp_path)
    assert first.origin == item.urls[0].url
    before = [path.stat().st_mtime_ns for path in sorted(resources.rglob("*"))]
    assert get(item) == first
    assert [path.stat().st_mtime_ns for path in sorted(resources.rglob("*"))] == before
    path = sidecar(resources, item)
    older = put(path, path.read_bytes().replace(b'"hash": "verified",', b"")).read_bytes()
    assert get(item) == first and path.read_bytes() == older
    put(path, b"{}")  # unreadable, and replaced
    assert get(item).origin == "drop-in" and b'"hash"' in path.read_bytes()


# Downloads; the other ways to fail are in tests/hostile/test_downloads.py.


OTHER_RANGE = sent(BODY[HALF:], 206, Content_Range=f"bytes 5-{len(BODY) - 1}/{len(BODY)}")


@pytest.mark.parametrize(
    ("content", "answers", "ranges", "seconds"),
    [
        (BODY, [LOST, ok(BODY)], [None, PARTLY], [1]),
        (BODY, [LOST, sent(BODY)], [None, PARTLY], [1]),  # a server without ranges
        (BODY, [LOST, OTHER_RANGE, ok(BODY)], [None, PARTLY, None], [1, 2]),
        (BODY[:9], [LOST, ok(BODY[:9])], [None, PARTLY, None], [1, 2]),  # became shorter
        (BODY[::-1], [LOST, ok(BODY[::-1])], [None, PARTLY, None], [1]),  # became another file
        (BODY, [status(500), ok(BODY)], [None] * 2, [1]),
        (BODY, [status(429, Retry_After="7"), ok(BODY)], [None] * 2, [7]),
        (BODY, [status(429, Retry_After="soon"), ok(BODY)], [None] * 2, [1]),
        (BODY, [status(503, Retry_After="9999"), ok(BODY)], [None] * 2, [120]),
    ],
)
def test_a_failed_download_is_resumed_or_restarted(
    server, target, get, waits, content, answers, ranges, seconds
):
    get(source(content, urls=[server.serve("/f", *answers)]))
    assert target.read_bytes() == content
    assert (server.ranges, waits) == (ranges, seconds)


@pytest.mark.parametrize(
    ("answers", "message", "seconds"),
    [
        ([status(500)], "HTTP 500", [1, 2, 4]),
        ([dropped(BODY, 0)], "Incomplete", [1, 2, 4]),
        ([status(302, Location="http://127.0.0.1:1/")], "/f: (?!.*retries).*refused", [1, 2, 4]),
        ([LOST, status(404)], "HTTP 404", [1]),
    ],
)
def test_the_next_url_is_tried_after_the_last_attempt(
    server, resources, get, waits, answers, message, seconds
):
    first, second = server.serve("/f", *answers), server.serve("/second", ok(BODY))
    with pytest.raises(AnalogyQAError, match=message):
        get(source(BODY, urls=[first]))
    assert waits == seconds
    assert get(source(BODY, urls=[first, second])).origin == second
    assert files_below(resources) == ONLY_THE_FILE  # and no part from the first


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("patched", "error", "message", "received"),
    [
        ("fetch.tqdm.update", FULL, r"No space left on device\. .*room for data/file", CHUNK),
        ("fetch.convert", KeyboardInterrupt("killed"), "killed", len(BODY)),
    ],
)
def test_an_interrupted_download_is_resumed(
    server, resources, get, monkeypatch, patched, error, message, received
):
    item = source(BODY, urls=[server.serve("/f", ok(BODY))])
    with monkeypatch.context() as patch:
        patch.setattr(f"analogyqa.sources.{patched}", Mock(side_effect=error))
        with pytest.raises((AnalogyQAError, KeyboardInterrupt), match=message):
            get(item)
    get(item)
    assert server.ranges == [None, f"bytes={received}-"]
    assert files_below(resources) == ONLY_THE_FILE


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_error_leaves_no_file(server, tmp_path, resources, get, monkeypatch, code):
    put(tmp_path / "data/file.txt", BODY)
    error = OSError(code, os.strerror(code), "folder")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", Mock(side_effect=error))
        with pytest.raises(AnalogyQAError, match=rf"folder: {os.strerror(code)}\. .*resources_dir"):
            get(source(BODY, urls=[server.serve("/f", ok(BODY))]))
    assert server.ranges == []
    monkeypatch.setattr(os, "replace", Mock(side_effect=error))  # fails at the end of a copy
    with pytest.raises(AnalogyQAError, match=rf"file\.txt: cannot be .*{os.strerror(code)}"):
        get(source(BODY), tmp_path)
    assert files_below(resources) == []


def test_the_final_error_lists_every_attempt(server, tmp_path, resources, get):
    missing = server.serve("/missing", status(404))
    wrong = server.serve("/wrong", ok(b"wrong"))
    with pytest.raises(AnalogyQAError) as caught:
        get(source(BODY, urls=[missing, wrong]), tmp_path / "mirror")
    for part in (
        *("it: a test file", f"sha256 {sha256(BODY)}; {len(BODY):,} bytes", "CC0"),
        *(f"{tmp_path}/mirror/data/file.txt: no such file", f"{missing}: HTTP 404"),
        f"{wrong}: a different file: sha256 {sha256(b'wrong')}, 5 bytes",
        *(f"{resources}/data/file.txt", "ANALOGYQA_MIRROR"),
    ):
        assert part in str(caught.value)
    assert len(server.ranges) == 2 and files_below(resources) == []
    with pytest.raises(AnalogyQAError, match=r"size unknown\n.*\n.*no mirror and no URL"):
        get(source(BODY, **UNKNOWN))


# The parquet copy of WikiQA

RELEASED = (
    "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
    'Q1\twho was "first" ?\tD1\tFirst\tD1-0\tAda was the "first" .\t1\n'
    'Q1\twho was "first" ?\tD1\tFirst\tD1-1\tZoë was n\'t .\t0\n'
).encode()


COPY = pd.read_csv(io.BytesIO(RELEASED), sep="\t", quoting=csv.QUOTE_NONE)
COPY = COPY.drop(columns=["DocumentID", "SentenceID"])
COPY.columns = ["question_id", "question", "document_title", "answer", "label"]


@pytest.fixture
def wikiqa(server, tmp_path):
    """Make a source with a parquet copy, with changed columns or truncated at `end`."""

    def make(end: int | None = None, **changes) -> Source:
        copy = COPY.assign(**changes).dropna(axis="columns").to_parquet()[:end]
        url = server.serve("/p", ok(copy))
        rows = rows_sha256(put(tmp_path / "released.tsv", RELEASED))
        return source(RELEASED, rows_sha256=rows, urls=[PARQUET | {"url": url}])

    return make


def test_the_parquet_copy_is_converted_to_the_released_layout(wikiqa, target, get):
    first = get(wikiqa())
    without_document_ids = RELEASED.replace(b"D1-0", b"").replace(b"D1-1", b"").replace(b"D1", b"")
    assert target.read_bytes() == without_document_ids
    assert get(wikiqa()) == first  # accepted when it is found again


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": [1, 1]}, "a different file"),
        ({"answer": ["Zoë was n't .", 'Ada was the "first" .']}, "a different file"),
        ({"answer": ["a\tb", "c"]}, "a tab or line end inside a field of question Q1"),
        ({"answer": None}, "not the parquet copy of WikiQA"),
        ({"end": -20}, "not the parquet copy of WikiQA"),
    ],
)
def test_a_wrong_or_damaged_parquet_file_is_refused(wikiqa, resources, get, changes, message):
    with pytest.raises(AnalogyQAError, match=message):
        get(wikiqa(**changes))
    assert files_below(resources) == []


def test_the_hash_of_rows_ignores_line_ends(tmp_path):
    def rows(content: bytes) -> str | None:
        return rows_sha256(put(tmp_path / "file.tsv", content))

    assert rows(RELEASED) == rows(RELEASED.replace(b"\n", b"\r\n")) is not None
    assert {rows(b""), rows(b"a\tb\n"), rows(RELEASED + b"Q1\tshort\n")} == {None}


# `make sources`


@pytest.fixture
def show(tmp_path, monkeypatch):
    """Run the command in a folder with a mirror; return its status and its output."""
    monkeypatch.chdir(tmp_path)
    write_yaml(tmp_path / "config.yaml", resources_dir="resources", mirrors=["mirror"])

    def show(*arguments: str) -> tuple[int, str]:
        runner = CliRunner(env={"COLUMNS": "80", "ANALOGYQA_MIRROR": None})
        result = runner.invoke(cli.app, ["sources", *arguments])
        return result.exit_code, result.output

    return show


def test_the_table_of_states_fits_80_columns(show):
    code, output = show("--registry", str(ROOT / "sources.yaml"))
    assert code == 0 and max(map(len, output.splitlines())) <= 80
    table, licences = output.split("licences:\n")
    assert all(name in table for name in REGISTRY if "/" not in name)
    assert "…" not in table
    assert "  CC BY-NC-SA 3.0: sick-train, sick-trial, sick-test\n" in licences
    assert "  resources/trecqa/TRAIN-ALL.rebuilt.xml\n" in output


STATES = {  # source: its state, and its hash without and with --verify
    "here": ("present", "not checked", "ok"),
    "fetched": ("present", "as fetched", "ok"),
    "there": ("in mirror", "not checked", "WRONG"),
    "unhashed": ("present", "unverified", "unverified"),
    "web": ("to download", "", ""),
    "nowhere": ("add by hand", "", ""),
}


def test_states_of_sources_and_exit_status(tmp_path, show, resources):
    entries = {name: entry(BODY, file=name) for name in STATES}
    entries["unhashed"] |= {"sha256": "unknown"}
    entries["web"] |= {"urls": ["http://a/b"]}
    registry = load_registry(write_yaml(tmp_path / "sources.yaml", **entries))
    for name in ("here", "fetched", "unhashed"):
        put(resources / name, BODY)
    for name in ("here", "there"):  # the first one is also in resources
        put(tmp_path / "mirror" / name, b"wrong")
    for name in ("fetched", "unhashed"):
        fetch(registry[name], resources, [])
    for verify in (False, True):
        for name, (state, *hash_states) in STATES.items():
            found = source_state(registry[name], resources, [tmp_path / "mirror"], verify)
            assert found[:2] == (state, hash_states[verify])
    code, output = show("--verify")
    assert code == 1 and show()[0] == 0
    assert "remove or replace it:\n  mirror/there\n" in output
    assert "unverified: no hash is published" in output
    assert "put it here:\n  resources/nowhere\n" in output


# Files that the user added


def test_a_file_is_placed_by_hand_unless_it_was_fetched(tmp_path, resources, target):
    item, mirror = source(BODY), put(tmp_path / "mirror/data/file.txt", BODY).parents[1]
    assert not is_placed_by_hand(item, resources)
    put(target, BODY)
    assert is_placed_by_hand(item, resources)
    assert fetch(item, resources, []).origin == "drop-in"
    assert is_placed_by_hand(item, resources)
    target.unlink()
    assert fetch(item, resources, [mirror]).origin == "mirror"
    assert not is_placed_by_hand(item, resources)
    later = sidecar(resources, item).stat().st_mtime + 1
    os.utime(target, (later, later))  # as if it had been replaced
    assert is_placed_by_hand(item, resources)
