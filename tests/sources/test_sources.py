"""Sources: the registry, the order of places, downloads that go wrong, and what is left behind."""

import errno
import hashlib
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from analogyqa.errors import AnalogyQAError
from analogyqa.sources import archives, download, verify
from analogyqa.sources.fetch import fetch
from analogyqa.sources.registry import (
    Source,
    first_available,
    load_registry,
    local_copy,
    mirrors_from,
)
from analogyqa.sources.status import status_table
from analogyqa.sources.verify import fingerprint, rows_sha256, sidecar
from http_server import dropped, ignoring_range, ok, partial, running_server, status

ROOT = Path(__file__).parents[2]
BODY = b"".join(b"%07d\n" % number for number in range(50_000))  # several chunks of a download
REGISTRY = load_registry(ROOT / "sources.yaml")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content)).hexdigest()


def entry(content: bytes = BODY, **changes) -> dict:
    values = {
        "title": "a test file",
        "file": "data/file.txt",
        "sha256": sha256(content),
        "bytes": len(content),
        "licence": "CC0",
        "citation": "nobody",
    }
    return {key: value for key, value in {**values, **changes}.items() if value is not None}


def source(content: bytes = BODY, **changes) -> Source:
    return Source(name="it", **entry(content, **changes))


def zipped(member: str, content: bytes, mode: int = stat.S_IFREG | 0o644) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(member)
        info.external_attr = mode << 16
        archive.writestr(info, content)
    return buffer.getvalue()


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running_server() as running:
        yield running


@pytest.fixture
def resources(tmp_path):
    return tmp_path / "resources"


@pytest.fixture
def waits():
    return []


@pytest.fixture
def get(resources, waits):
    """Fetch without a mirror or a wait; the seconds that it would wait are in `waits`."""
    return lambda it, mirrors=(): fetch(it, resources, mirrors, progress=False, sleep=waits.append)


def files_below(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


ONLY_THE_FILE = ["data/file.txt", "data/file.txt.source.json"]


# The registry


def write_registry(path: Path, **entries) -> Path:
    path.write_text(yaml.safe_dump(entries), encoding="utf-8")
    return path


def fault_of(path: Path) -> str:
    with pytest.raises(AnalogyQAError) as caught:
        load_registry(path)
    return str(caught.value)


def test_an_unknown_key_is_refused_with_file_source_key_and_the_nearest_known(tmp_path):
    path = write_registry(tmp_path / "my.yaml", vec=entry(license="MIT"))
    fault = f"{path}: vec: unknown key license; did you mean licence? Known: title, "
    assert fault_of(path).startswith(fault)


def test_an_unknown_key_of_a_url_is_refused_with_the_nearest_known(tmp_path):
    urls = ["http://a/b", {"url": "http://a/b.zip", "membr": "b"}]
    path = write_registry(tmp_path / "my.yaml", vec=entry(urls=urls))
    fault = (
        f"{path}: vec: unknown key urls.1.membr; did you mean member? Known: url, member, format"
    )
    assert fault_of(path) == fault


def test_every_fault_of_a_registry_is_reported_at_once(tmp_path):
    path = write_registry(tmp_path / "my.yaml", a=entry(licence=None), b=entry(bytes=0))
    assert fault_of(path).splitlines() == [
        f"{path}: a: key licence is missing",
        f"{path}: b: bytes: 0 is not allowed: Input should be greater than or equal to 1",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sha256": None}, "give sha256"),
        ({"sha256": "ABC"}, "sha256.0: 'ABC' is not allowed"),
        ({"git_blob": "12"}, "git_blob: '12' is not allowed"),
        ({"sha256": ["unknown", "0" * 64]}, "sha256: unknown leaves no room for another hash"),
        ({"sha256": "unknown", "git_blob": "0" * 40}, "sha256: unknown leaves no room for another"),
        ({"file": "../outside"}, "file: '../outside' is not allowed: must be a relative path"),
        ({"file": "/etc/passwd"}, "must be a relative path"),
        ({"file": "a\\b"}, "must be a relative path"),
        ({"file": "C:/b"}, "must be a relative path"),
        ({"file": "a/\0"}, "must be a relative path"),
        ({"file": f"a/{'ü' * 101}"}, "must have no part of more than 200 bytes"),
        ({"urls": ["ftp://a/b"]}, "urls.0.url: 'ftp://a/b' is not allowed"),
        ({"urls": [{"url": "http://a", "member": "../b"}]}, "urls.0.member: '../b' is not"),
        ({"urls": [{"url": "http://a", "member": "/b"}]}, "urls.0.member: '/b' is not"),
        ({"urls": [{"url": "http://a", "format": "csv"}]}, "urls.0.format: 'csv' is not"),
        (
            {"urls": [{"url": "http://a", "member": "b", "format": "wikiqa-parquet"}]},
            "give member or format, not both",
        ),
    ],
)
def test_an_impossible_value_is_refused(tmp_path, changes, message):
    assert message in fault_of(write_registry(tmp_path / "my.yaml", it=entry(**changes)))


def test_two_sources_may_not_share_a_file(tmp_path):
    path = write_registry(tmp_path / "my.yaml", a=entry(), b=entry())
    assert fault_of(path) == f"{path}: b: file: data/file.txt is the file of a already"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no value"),
        (b"- a\n", "cannot be read as a YAML mapping (it is ['a'])"),
        (b"a: [\n", "cannot be read as a YAML mapping"),
        (b"a: \xff\n", "cannot be read as a YAML mapping"),
        (b"a: text\n", "a: Input should be a valid dictionary"),
    ],
)
def test_a_file_that_is_no_registry_is_refused(tmp_path, content, message):
    assert message in fault_of(put(tmp_path / "my.yaml", content))


def test_a_missing_registry_is_one_message(tmp_path):
    fault = fault_of(tmp_path / "my.yaml")
    assert fault.startswith(f"{tmp_path}/my.yaml: cannot be read")
    assert "No such file or directory" in fault


@pytest.mark.parametrize("it", REGISTRY.values(), ids=REGISTRY)
def test_every_source_says_its_size_unless_git_knows_it_or_nobody_does(it):
    assert it.bytes or it.git_blob or it.unverified


@pytest.mark.parametrize("it", REGISTRY.values(), ids=REGISTRY)
def test_a_converted_copy_can_be_verified(it):
    assert it.rows_sha256 or not any(download.format for download in it.urls)


def test_the_registry_has_the_sources_of_the_paper():
    assert {"wikiqa-train", "trecqa-train-all", "wiki-news-300d-1M"} < set(REGISTRY)


def test_the_registry_has_the_published_encoders_and_what_they_need():
    encoders = {"infersent1", "infersent2", "sent2vec-wiki-unigrams", "snli", "sick-train"}
    assert encoders | {"glove.840B.300d", "GoogleNews-vectors-negative300"} < set(REGISTRY)


# Where a source is


def test_mirrors_of_the_environment_come_first():
    environ = {"ANALOGYQA_MIRROR": os.pathsep.join(["/a", "", "b"])}
    assert mirrors_from(["c"], environ) == [Path("/a"), Path("b"), Path("c")]


def test_without_mirrors_there_are_none():
    assert mirrors_from([], {}) == []


def test_a_local_copy_is_sought_in_resources_before_the_mirrors(tmp_path, resources):
    mirrors = [tmp_path / "empty", tmp_path / "mirror"]
    assert local_copy(source(), resources, mirrors) is None
    in_mirror = put(tmp_path / "mirror/data/file.txt", b"")
    assert local_copy(source(), resources, mirrors) == in_mirror
    dropped_in = put(resources / "data/file.txt", b"")
    assert local_copy(source(), resources, mirrors) == dropped_in


@pytest.fixture
def alternatives():
    return {
        "web": Source(name="web", **entry(file="web", urls=["http://a/web"])),
        "rebuilt": Source(name="rebuilt", **entry(file="rebuilt")),
        "other": Source(name="other", **entry(file="other")),
    }


def test_of_alternatives_a_local_copy_wins_over_an_earlier_url(tmp_path, resources, alternatives):
    put(tmp_path / "rebuilt", b"")
    assert first_available(["web", "rebuilt"], alternatives, resources, [tmp_path]) == "rebuilt"


def test_of_alternatives_nowhere_at_hand_the_one_with_a_url_is_taken(resources, alternatives):
    assert first_available(["other", "web"], alternatives, resources, []) == "web"


def test_alternatives_that_cannot_be_had_name_every_place(resources, alternatives):
    with pytest.raises(AnalogyQAError) as caught:
        first_available(["rebuilt", "other"], alternatives, resources, [])
    assert f"put the file at {resources}/rebuilt or {resources}/other" in str(caught.value)


def test_an_unknown_source_names_the_nearest(resources, alternatives):
    with pytest.raises(AnalogyQAError, match="'rebuild' in the registry; did you mean rebuilt"):
        first_available(["rebuild"], alternatives, resources, [])


# Hashes


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_blob_id_is_that_of_git(tmp_path):
    path = put(tmp_path / "file", BODY)
    command = ["git", "hash-object", "--no-filters", str(path)]
    expected = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert fingerprint(path).git_blob == expected


def test_a_file_known_by_its_blob_id_alone_is_accepted(server, get):
    url = server.serve("/f", ok(BODY))
    assert get(source(sha256=None, git_blob=git_blob(BODY), urls=[url])).sha256 == sha256(BODY)


def test_a_right_sha256_does_not_excuse_a_wrong_blob_id(server, get):
    url = server.serve("/f", ok(BODY))
    with pytest.raises(AnalogyQAError, match=f"git blob {git_blob(BODY)}"):
        get(source(git_blob=git_blob(b""), urls=[url]))


def test_any_of_several_sha256_is_accepted(server, get):
    url = server.serve("/f", ok(BODY))
    assert get(source(sha256=[sha256(b"other"), sha256(BODY)], urls=[url])).origin == url


# Files of which no hash is published


@pytest.fixture
def unverified():
    """A source that states no hash and, unless told, no size."""
    return lambda **changes: source(**{"sha256": "unknown", "bytes": None, **changes})


def test_a_file_without_a_known_hash_is_taken_and_its_hash_recorded(
    server, resources, get, unverified
):
    url = server.serve("/f", ok(BODY))
    provenance = get(unverified(urls=[url]))
    assert (provenance.sha256, provenance.hash) == (sha256(BODY), "unverified")
    assert json.loads(sidecar(resources, unverified()).read_bytes())["hash"] == "unverified"


def test_a_dropped_in_file_without_a_known_hash_is_unverified_too(resources, get, unverified):
    put(resources / "data/file.txt", BODY)
    provenance = get(unverified())
    assert (provenance.origin, provenance.hash) == ("drop-in", "unverified")


def test_a_file_without_a_known_hash_must_have_the_stated_size(server, resources, get, unverified):
    url = server.serve("/f", ok(b"<html>"))
    with pytest.raises(AnalogyQAError, match="another file: 6 bytes"):
        get(unverified(bytes=len(BODY), urls=[url]))
    assert files_below(resources) == []


def test_the_message_about_a_missing_file_says_that_its_hash_is_unknown(get, unverified):
    with pytest.raises(AnalogyQAError, match="expected: sha256 unknown; size not known"):
        get(unverified())


@pytest.mark.parametrize("verify", [False, True])
def test_the_table_never_calls_an_unverified_file_right(resources, get, unverified, verify):
    put(resources / "data/file.txt", BODY)
    get(unverified())
    assert status_table({"it": unverified()}, resources, [], verify)[0].hash == "unverified"


# A file that is there, and mirrors


def test_a_file_already_there_is_verified_and_kept_untouched(resources, get):
    path = put(resources / "data/file.txt", BODY)
    before = path.stat()
    assert get(source()).origin == "drop-in"
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_fetching_again_remembers_the_origin_and_writes_nothing(server, resources, get):
    it = source(urls=[server.serve("/f", ok(BODY))])
    first = get(it)
    before = [path.stat().st_mtime_ns for path in sorted(resources.rglob("*"))]
    assert get(it) == first
    assert [path.stat().st_mtime_ns for path in sorted(resources.rglob("*"))] == before


def test_a_wrong_dropped_in_file_is_reported_and_left_in_place(resources, get):
    path = put(resources / "data/file.txt", b"wrong")
    with pytest.raises(AnalogyQAError) as caught:
        get(source())
    for part in (sha256(BODY), sha256(b"wrong"), "5 bytes", f"{len(BODY):,} bytes", "CC0", path):
        assert str(part) in str(caught.value)
    assert path.read_bytes() == b"wrong"


def test_a_mirror_is_copied_so_that_it_may_vanish(tmp_path, resources, get):
    original = put(tmp_path / "mirror/data/file.txt", BODY)
    assert get(source(), [tmp_path / "mirror"]).origin == "mirror"
    original.write_bytes(b"changed in place")
    original.unlink()
    path = resources / "data/file.txt"
    assert path.read_bytes() == BODY and not path.is_symlink()


def test_a_mirror_spares_the_web(server, tmp_path, get):
    put(tmp_path / "data/file.txt", BODY)
    get(source(urls=[server.serve("/f", ok(BODY))]), [tmp_path])
    assert server.ranges == []


def test_a_wrong_file_in_a_mirror_leaves_the_next_place(server, tmp_path, resources, get):
    put(tmp_path / "data/file.txt", b"wrong")
    url = server.serve("/f", ok(BODY))
    assert get(source(urls=[url]), [tmp_path]).origin == url
    assert files_below(resources) == ONLY_THE_FILE


def test_the_sidecar_has_no_date_and_no_path_of_this_machine(tmp_path, resources, get):
    put(tmp_path / "data/file.txt", BODY)
    get(source(), [tmp_path])
    assert json.loads(sidecar(resources, source()).read_text(encoding="utf-8")) == {
        "name": "it",
        "origin": "mirror",
        "sha256": sha256(BODY),
        "bytes": len(BODY),
        "licence": "CC0",
        "hash": "verified",
    }


def test_a_sidecar_of_an_older_version_stands(resources, get):
    put(resources / "data/file.txt", BODY)
    get(source())
    path = sidecar(resources, source())
    older = json.loads(path.read_bytes())
    del older["hash"]
    put(path, json.dumps(older).encode())
    get(source())
    assert json.loads(path.read_bytes()) == older


def test_an_unreadable_sidecar_is_written_anew(resources, get):
    put(resources / "data/file.txt", BODY)
    put(sidecar(resources, source()), b"{}")
    get(source())
    assert json.loads(sidecar(resources, source()).read_bytes())["origin"] == "drop-in"


# Downloads


def test_a_download_arrives_whole_and_alone(server, resources, get):
    url = server.serve("/f", ok(BODY))
    assert get(source(urls=[url])).origin == url
    assert (resources / "data/file.txt").read_bytes() == BODY
    assert files_below(resources) == ONLY_THE_FILE


def test_a_dropped_download_resumes_where_it_stopped(server, resources, get, waits):
    url = server.serve("/f", dropped(BODY, 200_000), ok(BODY))
    get(source(urls=[url]))
    first, second = server.ranges
    assert first is None and 0 < int(second.removeprefix("bytes=").removesuffix("-")) <= 200_000
    assert (resources / "data/file.txt").read_bytes() == BODY
    assert len(waits) == 1


def test_a_later_run_resumes_what_an_earlier_one_left(server, resources, get):
    it = source(urls=[server.serve("/f", dropped(BODY, 200_000), status(404))])
    with pytest.raises(AnalogyQAError):
        get(it)
    (left,) = files_below(resources)
    assert left.endswith(".part")
    server.serve("/f", ok(BODY))
    get(it)
    assert server.ranges[-1] == f"bytes={200_000 // verify.CHUNK * verify.CHUNK}-"
    assert files_below(resources) == ONLY_THE_FILE


def test_a_part_that_is_complete_is_not_downloaded_again(server, resources, get, monkeypatch):
    it = source(urls=[server.serve("/f", ok(BODY))])

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(archives, "_convert", killed)
        with pytest.raises(KeyboardInterrupt):
            get(it)
    get(it)
    assert server.ranges == [None, f"bytes={len(BODY)}-"]
    assert files_below(resources) == ONLY_THE_FILE


def test_a_server_that_ignores_range_is_read_from_the_start(server, resources, get):
    url = server.serve("/f", dropped(BODY, 200_000), ignoring_range(BODY))
    get(source(urls=[url]))
    assert server.ranges[1] is not None
    assert (resources / "data/file.txt").read_bytes() == BODY


def test_a_server_that_sends_another_range_is_asked_anew(server, resources, get):
    wrong = partial(BODY[5:], f"bytes 5-{len(BODY) - 1}/{len(BODY)}")
    get(source(urls=[server.serve("/f", dropped(BODY, 200_000), wrong, ok(BODY))]))
    assert server.ranges[2] is None
    assert (resources / "data/file.txt").read_bytes() == BODY


def test_a_file_that_became_shorter_meanwhile_is_downloaded_anew(server, resources, get):
    shorter = BODY[:1000]
    get(source(shorter, urls=[server.serve("/f", dropped(BODY, 200_000), ok(shorter))]))
    assert (resources / "data/file.txt").read_bytes() == shorter


def test_a_file_that_changed_meanwhile_is_downloaded_anew(server, resources, get):
    changed = BODY[::-1]
    get(source(changed, urls=[server.serve("/f", dropped(BODY, 200_000), ok(changed))]))
    assert server.ranges[-1] is None
    assert (resources / "data/file.txt").read_bytes() == changed


def test_a_download_that_stays_truncated_fails_after_the_last_attempt(
    server, resources, get, waits
):
    url = server.serve("/f", dropped(BODY, 0))
    with pytest.raises(AnalogyQAError, match=r"/f: .*Incomplete"):
        get(source(urls=[url]))
    assert len(server.ranges) == download.ATTEMPTS == len(waits) + 1
    assert not (resources / "data/file.txt").exists()


@pytest.mark.parametrize("code", [500, 502, 503, 408])
def test_a_passing_error_of_the_server_is_tried_again(server, get, waits, code):
    get(source(urls=[server.serve("/f", status(code), ok(BODY))]))
    assert waits == [1]


def test_each_wait_is_longer_than_the_one_before(server, get, waits):
    with pytest.raises(AnalogyQAError, match="HTTP 500"):
        get(source(urls=[server.serve("/f", status(500))]))
    assert waits == [1, 2, 4]


def test_a_server_with_too_many_requests_is_given_the_time_it_asks_for(server, get, waits):
    get(source(urls=[server.serve("/f", status(429, Retry_After="7"), ok(BODY))]))
    assert waits == [7]


def test_a_server_cannot_ask_for_a_wait_of_hours(server, get, waits):
    get(source(urls=[server.serve("/f", status(503, Retry_After="9999"), ok(BODY))]))
    assert waits == [download.LONGEST_WAIT]


def test_a_retry_after_that_is_no_time_is_passed_over(server, get, waits):
    get(source(urls=[server.serve("/f", status(429, Retry_After="soon"), ok(BODY))]))
    assert waits == [1]


def test_a_missing_page_is_not_tried_again_and_the_next_url_is(server, get, waits):
    second = server.serve("/second", ok(BODY))
    assert get(source(urls=[server.serve("/first", status(404)), second])).origin == second
    assert len(server.ranges) == 2 and waits == []


def test_nothing_of_a_failed_url_is_left_once_another_succeeds(server, resources, get):
    first = server.serve("/first", dropped(BODY, 200_000), status(403))
    get(source(urls=[first, server.serve("/second", ok(BODY))]))
    assert files_below(resources) == ONLY_THE_FILE


def test_a_server_that_is_away_is_a_failure_of_that_url(get, waits):
    with running_server() as gone:
        url = gone.url + "/f"
    with pytest.raises(AnalogyQAError, match="refused"):
        get(source(urls=[url]))
    assert len(waits) == download.ATTEMPTS - 1


@pytest.mark.parametrize("body", [b"<html>log in</html>", BODY + b"x", BODY[:-1], b""])
def test_a_wrong_download_leaves_nothing_behind(server, resources, get, body):
    with pytest.raises(AnalogyQAError, match=f"sha256 {sha256(body)}, {len(body):,} bytes"):
        get(source(urls=[server.serve("/f", ok(body))]))
    assert files_below(resources) == []
    assert len(server.ranges) == 1


def test_the_final_error_is_one_message_with_all_there_is_to_know(server, tmp_path, resources, get):
    missing = server.serve("/missing", status(404))
    wrong = server.serve("/wrong", ok(b"wrong"))
    with pytest.raises(AnalogyQAError) as caught:
        get(source(urls=[missing, wrong]), [tmp_path / "mirror"])
    assert str(caught.value).splitlines() == [
        "it: cannot get a test file",
        f"  expected: sha256 {sha256(BODY)}; {len(BODY):,} bytes",
        "  licence: CC0",
        "  tried:",
        f"    {tmp_path}/mirror/data/file.txt: not there",
        f"    {missing}: HTTP 404 Not Found",
        f"    {wrong}: another file: sha256 {sha256(b'wrong')}, 5 bytes",
        f"  remedy: put the file at {resources}/data/file.txt, or name a folder that holds "
        "data/file.txt in ANALOGYQA_MIRROR or under mirrors: in the config",
    ]


def test_a_source_without_any_place_says_so(get):
    with pytest.raises(AnalogyQAError, match="tried: no mirror given, no URL known"):
        get(source())


# A disk that refuses


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_refuses_the_download_is_one_message(server, get, monkeypatch, code):
    def refuse(path, *_args, **_kwargs):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(AnalogyQAError) as caught:
        get(source(urls=[server.serve("/f", ok(BODY))]))
    assert os.strerror(code) in str(caught.value) and "resources_dir" in str(caught.value)
    assert server.ranges == []


def test_a_disk_that_fills_up_keeps_the_part_and_is_not_tried_again(
    server, resources, get, monkeypatch
):
    url = server.serve("/f", ok(BODY))

    class FullDisk(download.tqdm):
        def update(self, n=1):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(download, "tqdm", FullDisk)
        with pytest.raises(AnalogyQAError, match=r"No space left on device.*room for data/file"):
            get(source(urls=[url]))
    assert len(server.ranges) == 1
    get(source(urls=[url]))
    assert server.ranges[1] == f"bytes={verify.CHUNK}-"


def test_a_disk_that_fills_up_under_a_copy_leaves_no_file(tmp_path, resources, get, monkeypatch):
    put(tmp_path / "data/file.txt", BODY)

    def fill_up(copy, temporary):
        Path(temporary).write_bytes(BODY[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy), None, str(temporary))

    monkeypatch.setattr(shutil, "copyfile", fill_up)
    with pytest.raises(
        AnalogyQAError, match=r"file\.txt: cannot be written .*No space left on device"
    ):
        get(source(), [tmp_path])
    assert files_below(resources) == []


# Archives


def member_of(url: str, member: str = "corpus/file.txt", **changes) -> Source:
    return source(urls=[{"url": url, "member": member}], **changes)


def test_a_member_is_taken_out_of_its_archive(server, resources, get):
    url = server.serve("/a.zip", ok(zipped("corpus/file.txt", BODY)))
    assert get(member_of(url)).origin == f"{url}#corpus/file.txt"
    assert (resources / "data/file.txt").read_bytes() == BODY
    assert files_below(resources) == ONLY_THE_FILE


@pytest.mark.parametrize("name", ["other.txt", "file.txt", "a/corpus/file.txt"])
def test_only_the_exact_name_counts_as_the_member(server, tmp_path, resources, get, name):
    url = server.serve("/a.zip", ok(zipped(name, BODY)))
    with pytest.raises(AnalogyQAError, match=r"the archive has no member corpus/file\.txt"):
        get(member_of(url))
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("cut", [0, 100, -1])
def test_a_truncated_archive_is_refused(server, tmp_path, get, cut):
    url = server.serve("/a.zip", ok(zipped("corpus/file.txt", BODY)[:cut]))
    with pytest.raises(AnalogyQAError, match="the archive is damaged"):
        get(member_of(url))
    assert files_below(tmp_path) == []


def test_an_archive_with_a_flipped_bit_is_refused(server, tmp_path, get):
    archive = bytearray(zipped("corpus/file.txt", BODY))
    archive[len(archive) // 2] ^= 1
    with pytest.raises(AnalogyQAError, match="the archive is damaged"):
        get(member_of(server.serve("/a.zip", ok(bytes(archive)))))
    assert files_below(tmp_path) == []


def test_a_wrong_member_is_refused(server, tmp_path, get):
    url = server.serve("/a.zip", ok(zipped("corpus/file.txt", b"wrong")))
    with pytest.raises(AnalogyQAError, match=f"another file: sha256 {sha256(b'wrong')}"):
        get(member_of(url))
    assert files_below(tmp_path) == []


# The parquet copy of WikiQA

RELEASED = (
    "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
    'Q1\twho was "first" ?\tD1\tFirst\tD1-0\tAda was the "first" .\t1\n'
    'Q1\twho was "first" ?\tD1\tFirst\tD1-1\tZoë was n\'t .\t0\n'
).encode()


def parquet(**changes) -> bytes:
    columns = {
        "question_id": ["Q1", "Q1"],
        "question": ['who was "first" ?'] * 2,
        "document_title": ["First", "First"],
        "answer": ['Ada was the "first" .', "Zoë was n't ."],
        "label": [1, 0],
        **changes,
    }
    buffer = io.BytesIO()
    pq.write_table(pa.table({k: v for k, v in columns.items() if v is not None}), buffer)
    return buffer.getvalue()


def wikiqa(tmp_path: Path, url: str) -> Source:
    rows = rows_sha256(put(tmp_path / "released.tsv", RELEASED))
    return source(RELEASED, rows_sha256=rows, urls=[{"url": url, "format": "wikiqa-parquet"}])


def test_the_parquet_copy_becomes_the_released_layout_without_ids(server, tmp_path, resources, get):
    get(wikiqa(tmp_path, server.serve("/p", ok(parquet()))))
    converted = (resources / "data/file.txt").read_bytes()
    assert converted == RELEASED.replace(b"D1-0", b"").replace(b"D1-1", b"").replace(b"D1", b"")


def test_a_converted_copy_is_accepted_when_found_again(server, tmp_path, get):
    it = wikiqa(tmp_path, server.serve("/p", ok(parquet())))
    assert get(it) == get(it)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": [1, 1]}, "another file"),
        ({"answer": ["Zoë was n't .", 'Ada was the "first" .']}, "another file"),
        ({"answer": ["a\tb", "c"]}, "a tab or line end inside a field of question Q1"),
        ({"answer": None}, "not the parquet copy of WikiQA"),
    ],
)
def test_another_parquet_file_is_refused(server, tmp_path, resources, get, changes, message):
    with pytest.raises(AnalogyQAError, match=message):
        get(wikiqa(tmp_path, server.serve("/p", ok(parquet(**changes)))))
    assert files_below(resources) == []


def test_a_damaged_parquet_file_is_refused(server, tmp_path, resources, get):
    with pytest.raises(AnalogyQAError, match="not the parquet copy of WikiQA"):
        get(wikiqa(tmp_path, server.serve("/p", ok(parquet()[:-20]))))
    assert files_below(resources) == []


def test_line_ends_do_not_change_the_hash_of_the_rows(tmp_path):
    lf = put(tmp_path / "lf.tsv", RELEASED)
    crlf = put(tmp_path / "crlf.tsv", RELEASED.replace(b"\n", b"\r\n"))
    assert rows_sha256(lf) == rows_sha256(crlf)


@pytest.mark.parametrize("content", [b"", b"a\tb\n", RELEASED + b"Q1\tshort\n"])
def test_a_file_of_another_layout_has_no_hash_of_rows(tmp_path, content):
    path = put(tmp_path / "file.tsv", content)
    assert rows_sha256(path) is None


# The table of `make sources`


def test_the_table_tells_the_four_states_apart(tmp_path, resources):
    registry = {
        name: Source(name=name, **entry(file=name, urls=urls))
        for name, urls in (("here", []), ("there", []), ("web", ["http://a/b"]), ("nowhere", []))
    }
    put(resources / "here", BODY)
    put(tmp_path / "mirror/there", b"wrong")
    rows = status_table(registry, resources, [tmp_path / "mirror"], verify=True)
    assert [(row.name, row.state, row.hash) for row in rows] == [
        ("here", "present", "ok"),
        ("there", "in mirror", "WRONG"),
        ("web", "to download", ""),
        ("nowhere", "drop in", ""),
    ]


def test_without_verify_a_fetched_file_is_told_from_an_unchecked_one(resources, get):
    put(resources / "data/file.txt", BODY)
    assert status_table({"it": source()}, resources, [])[0].hash == "not checked"
    get(source())
    assert status_table({"it": source()}, resources, [])[0].hash == "as fetched"


def run_cli(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "ANALOGYQA_MIRROR")}
    environment["PYTHONPATH"] = str(ROOT / "workflow_scripts")
    command = [sys.executable, "-m", "analogyqa.sources", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_printed_table_fits_80_columns_and_says_where_to_drop_files(tmp_path):
    write_registry(tmp_path / "config.yaml", resources_dir="downloads", output_dir="results")
    done = run_cli(tmp_path, "--registry", str(ROOT / "sources.yaml"))
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert all(name in done.stdout for name in REGISTRY)
    assert "  downloads/trecqa/TRAIN-ALL.rebuilt.xml\n" in done.stdout


def test_the_printed_table_explains_what_unverified_means(tmp_path):
    write_registry(tmp_path / "config.yaml", mirrors=["mirror"])
    write_registry(tmp_path / "sources.yaml", it=entry(sha256="unknown", bytes=None))
    put(tmp_path / "mirror/data/file.txt", BODY)
    done = run_cli(tmp_path, "--verify")
    assert done.returncode == 0
    assert "unverified: no hash of the file is published" in done.stdout


def test_verify_fails_on_a_wrong_file_and_names_it(tmp_path):
    write_registry(tmp_path / "config.yaml", mirrors=["mirror"])
    write_registry(tmp_path / "sources.yaml", it=entry())
    put(tmp_path / "mirror/data/file.txt", b"wrong")
    done = run_cli(tmp_path, "--verify")
    assert done.returncode == 1
    assert "remove or replace:\n  mirror/data/file.txt\n" in done.stdout


def test_a_missing_config_is_one_line(tmp_path):
    write_registry(tmp_path / "sources.yaml", it=entry())
    done = run_cli(tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "config.yaml: cannot be read as a YAML mapping" in done.stderr
