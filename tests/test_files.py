"""Files are whole or absent, and texts of users are checked."""

import codecs
import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path, read_lines, split_lines, write_json, write_text


def test_atomic_path_renames_the_temporary_file(tmp_path):
    path = tmp_path / "deep" / "file"
    with atomic_path(path) as temporary:
        temporary.write_text("new")
        assert temporary.parent == path.parent  # so on the same file system
        assert not path.exists()
        written = temporary.stat().st_ino
    assert path.stat().st_ino == written  # renamed, because half of a copy could be read
    assert path.read_text() == "new"
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_keeps_the_old_file(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(error), atomic_path(path) as temporary:
        temporary.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_write_text_keeps_line_ends(tmp_path):
    write_text(tmp_path / "file", "ü\r\n\n")
    assert (tmp_path / "file").read_bytes() == b"\xc3\xbc\r\n\n"


def test_json_keys_are_sorted(tmp_path):
    write_json(tmp_path / "a", {"b": 1, "a": "é"})
    write_json(tmp_path / "b", {"a": "é", "b": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert json.loads((tmp_path / "a").read_text("utf-8")) == {"a": "é", "b": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("é\n".encode() + b"\xe9\n", "line 2: not UTF-8"),
        (b"a\nb\0c\n", "line 2: a NUL character"),
        ("a\nb\n".encode("utf-16-le"), "line 1: a NUL character"),
        (b"a\rb\r", "line 1: a carriage return"),
        (b"a\nb\rc\n", "line 2: a carriage return inside the line"),
    ],
)
def test_invalid_characters_are_errors(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(AnalogyQAError, match=f"file, {message}"):
        list(read_lines(path))


def test_lines_are_composed_without_byte_order_mark_and_line_ends(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("\ufeffa\u2028b\x0bc\r\nd\r\ne\u0301".encode())
    assert list(read_lines(path)) == [(1, "a\u2028b\x0bc"), (2, "d"), (3, "\u00e9")]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (gzip.compress(b"a\tb\n", mtime=0), "gzip"),
        (b"PK\x03\x04rest", "Excel workbook"),
        (b"PAR1rest", "Parquet"),
        ("a\tb\n".encode("utf-16"), "UTF-16"),
        (codecs.BOM_UTF16_BE + "a\tb\n".encode("utf-16-be"), "UTF-16"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"\n <!DOCTYPE html>\n", "HTML page"),
        (codecs.BOM_UTF8 + b"<HTML>", "HTML page"),
    ],
)
def test_a_file_that_is_no_text_is_recognised(tmp_path, content, what):
    path = tmp_path / "file.tsv"
    path.write_bytes(content)
    with pytest.raises(AnalogyQAError, match=f"file.tsv: this is an? {what}|this is .*{what}"):
        list(read_lines(path))


@given(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])))
def test_a_line_has_only_the_line_ends_of_files(text):
    assert list(split_lines(f"{text}\nb\r\n", "it")) == [(1, text), (2, "b")]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(AnalogyQAError, match=r"nothing\.tsv: cannot be read"):
        list(read_lines(tmp_path / "nothing.tsv"))
