"""Which output folder or archive a command asks."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from analogyqa.cli import options
from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_text
from analogyqa.report.stored import CONFIGURATION

RUNS = ("a", "b", "c")


def answer(folder: Path) -> str:
    """Return the name of a run, which a question is about; run `a` has no answer."""
    name = (folder / CONFIGURATION).read_text("utf-8")
    if name == "a":
        raise AnalogyQAError("a has no such number")
    return name


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Work in a folder with an archive of each run, and without a run of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(options, "read_config", lambda path: SimpleNamespace(output_dir="own"))
    for name in RUNS:
        write_text(Path(name, CONFIGURATION), name)
        shutil.make_archive(str(options.PUBLISHED / name), "xztar", name)
    return options.PUBLISHED


def test_the_first_published_run_with_an_answer_is_named(published, capsys):
    assert options.ask(None, answer) == "b"
    assert str(published / "b.tar.xz") in capsys.readouterr().err


def test_a_run_of_ones_own_and_a_named_archive_come_first(published, capsys):
    assert options.ask(published / "c.tar.xz", answer) == "c"
    write_text(Path("own", CONFIGURATION), "own")
    assert options.ask(None, answer) == "own"
    assert capsys.readouterr().err == ""


def test_a_question_without_an_answer_says_why(published):
    for name in RUNS[1:]:
        (published / f"{name}.tar.xz").unlink()
    with pytest.raises(AnalogyQAError, match="a has no such number"):
        options.ask(None, answer)
    (published / "damaged.zip").write_text("no archive")
    with pytest.raises(AnalogyQAError, match=r"damaged\.zip: not an archive"):
        options.ask(published / "damaged.zip", answer)
