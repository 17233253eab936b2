"""Files are whole or absent, and texts of users are checked."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_lines_are_composed_without_byte_order_mark_and_line_ends(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("\ufeffa\u2028b\x0bc\r\nd\r\ne\u0301".encode())
    assert list(read_lines(path)) == [(1, "a\u2028b\x0bc"), (2, "d"), (3, "\u00e9")]


@given(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])))
def test_a_line_has_only_the_line_ends_of_files(text):
    assert list(split_lines(f"{text}\nb\r\n", "it")) == [(1, text), (2, "b")]
