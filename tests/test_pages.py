"""Every path, link and make target that a page names exists."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TRACKED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    cwd=ROOT, capture_output=True, text=True, check=True,
).stdout.splitlines()  # fmt: skip
FOLDERS = {str(parent) for path in TRACKED for parent in Path(path).parents}
# The changelog names files that are gone.
PAGES = [name for name in TRACKED if name.endswith(".md") and name != "CHANGELOG.md"]
LINK = re.compile(r"\]\(([^)#\s]+)")
# A path between backticks, with a suffix that our files have.
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*\.(?:py|md|yaml|smk|sh|toml|lock))`")
FOLDER = re.compile(r"`([\w.-]+(?:/[\w.-]+)*)/`")
COMMAND = re.compile(r"`([^`\n]+)`|^    (.+)$", re.MULTILINE)
TARGET = re.compile(r"(?<![\w-])make ([a-z][a-z-]*)\b")
TARGETS = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
# Files that a run makes, or that the reader of a page writes.
NOT_HERE = re.compile(
    r"(results|review|questions|tables)/.*|my\.yaml|(claims|ledger)\.md|encoders/l\w+\.py|corpora/json_lines\.py"
)


def is_named(name: str, known: Iterable[str]) -> bool:
    """Return whether a path, or the end of one, is known."""
    return any(f"/{path}".endswith(f"/{name}") for path in known)


@pytest.mark.parametrize("page", PAGES)
def test_everything_that_a_page_names_is_there(page):
    text = (ROOT / page).read_text("utf-8")
    links = {link for link in LINK.findall(text) if "://" not in link}
    missing = {link for link in links if not (ROOT / page).parent.joinpath(link).exists()}
    # Tables of a paper's page link to a report that each run makes.
    assert {link for link in missing if not link.endswith("report.html")} == set()
    paths = {path for path in PATH.findall(text) if not NOT_HERE.fullmatch(path)}
    assert {path for path in paths if not is_named(path, TRACKED)} == set()
    # Other folders than those of the checkout are made by runs.
    folders = {name for name in FOLDER.findall(text) if name.split("/")[0] in FOLDERS}
    assert {name for name in folders if not is_named(name, FOLDERS)} == set()
    commands = [command for pair in COMMAND.findall(text) for command in pair]
    assert {name for command in commands for name in TARGET.findall(command)} <= TARGETS


def test_the_pages_are_read():
    assert len(PAGES) > 12
    assert any(PATH.findall((ROOT / page).read_text("utf-8")) for page in PAGES)
    assert "demo" in TARGETS
