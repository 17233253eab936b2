"""A record names the commit of its own checkout, or says that it is unknown."""

import os
import subprocess
from pathlib import Path

import pytest

from analogyqa.runs.record import CommitUnknownError, code_commit, find_commit


@pytest.fixture(autouse=True)
def clear_cache():
    find_commit.cache_clear()


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    return completed.stdout.strip()


def make_repository(folder: Path) -> str:
    """Make a repository with one file of code and return its commit."""
    (folder / "workflow_scripts").mkdir(parents=True)
    (folder / "workflow_scripts" / "code.py").write_text("")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "m")
    return git(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("file", "ending"),
    [
        ("notes.txt", ""),
        ("workflow_scripts/code.py", "-dirty"),  # is changed
        ("workflow_scripts/new.py", "-dirty"),
    ],
)
def test_changed_or_added_code_is_marked_dirty(tmp_path, file, ending):
    head = make_repository(tmp_path)
    (tmp_path / file).write_text("changed")
    assert code_commit(tmp_path) == f"{head}{ending}"


def test_a_repository_around_the_checkout_does_not_count(tmp_path):
    make_repository(tmp_path)
    (tmp_path / "unpacked").mkdir()
    assert code_commit(tmp_path / "unpacked") == "unknown"
    with pytest.raises(CommitUnknownError, match=str(tmp_path)):
        find_commit(tmp_path / "unpacked")


def test_environment_variables_of_git_are_ignored(tmp_path, monkeypatch):
    head = make_repository(tmp_path / "checkout")
    make_repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert code_commit(tmp_path / "checkout") == head


def test_without_git_the_commit_is_unknown(tmp_path, monkeypatch):
    make_repository(tmp_path)
    monkeypatch.setenv("PATH", "")
    assert code_commit(tmp_path) == "unknown"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can change the owner of a folder")
@pytest.mark.parametrize("is_declared_safe", [False, True])
def test_the_commit_of_another_users_checkout_is_known_if_declared_safe(
    tmp_path, monkeypatch, is_declared_safe
):
    head = make_repository(tmp_path)
    for path in (tmp_path, tmp_path / ".git"):
        os.chown(path, 12345, 12345)
    if is_declared_safe:  # as a container does
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path))
    else:
        with pytest.raises(CommitUnknownError, match="dubious ownership"):
            find_commit(tmp_path)
    assert code_commit(tmp_path) == (head if is_declared_safe else "unknown")
