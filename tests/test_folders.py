"""A folder that a run cannot write to is refused by one sentence."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.folders import folder_name, require_writable

NAMES = {
    **dict.fromkeys(["", " ", "null", "None"], "name a folder"),
    "results ": "ends with a space",
    "results/{x}": "reads {name} in a path as a wildcard",
    "results/\0": "NUL",
    "~/results": "~ only works in a shell",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_mistaken_folder_name_is_refused(name):
    with pytest.raises(ValueError) as caught:
        folder_name(name)
    assert NAMES[name] in str(caught.value)


@pytest.mark.parametrize("name", ["results", "/a b/ü/it's", "null/results", "..", "a~"])
def test_other_names_are_unchanged(name):
    assert folder_name(name) == name


SPELLINGS = ["./some/results", "some//results/", "some/./results/.", "some/x/../results"]


@pytest.mark.parametrize("spelling", [*SPELLINGS, "{here}/some/results", "{link}/some/results/"])
def test_spellings_of_a_folder_are_normalised(tmp_path, monkeypatch, spelling):
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to("here")
    monkeypatch.chdir(tmp_path / "link")
    monkeypatch.setenv("PWD", str(tmp_path / "link"))  # as a shell sets it
    folders = {name: tmp_path / name for name in ("here", "link")}
    assert folder_name(spelling.format(**folders)) == "some/results"
    assert folder_name(str(tmp_path)) == str(tmp_path)


@pytest.mark.parametrize("name", ["some/results", "a_link"])
def test_new_folders_and_links_are_accepted(tmp_path, name):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a_link").symlink_to("elsewhere")
    require_writable(tmp_path / name)
    assert len(list(tmp_path.rglob("*"))) == 2


@pytest.mark.parametrize("below", ["", "runs"])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Path.touch, r"is a file\. Remove it"),
        (lambda path: path.symlink_to(path), r"is a broken link to .* Remove the link"),
        (lambda path: path.symlink_to("nowhere"), r"a broken link to nowhere\."),
    ],
    ids=["a file", "a loop", "a dangling link"],
)
def test_unwritable_paths_are_errors(tmp_path, make, message, below):
    make(tmp_path / "results")
    for use in ("output_dir", "Snakemake's own files"):
        with pytest.raises(AnalogyQAError, match=rf"^{use}: .*results.*{message}"):
            require_writable(tmp_path / "results" / below, use)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x" * 300, r"its name is too long\. Shorten it"),
        ("read-only", r"output_dir: .*read-only.* is read-only"),
        ("full", r"the disk of .* has 4 KiB left\. Free some"),
    ],
)
def test_nothing_is_created_below_an_unwritable_folder(tmp_path, monkeypatch, name, message):
    if name == "read-only":  # root may write anywhere, so the system's answer is faked
        monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    if name == "full":
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=5000))
    with pytest.raises(AnalogyQAError, match=message):
        require_writable(tmp_path / name / "results")
    assert list(tmp_path.iterdir()) == []
