"""Every path, link and make target that a page names exists."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TRACKED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    cwd=ROOT, capture_output=True, text=True, check=True,
).stdout.splitlines()  # fmt: skip
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


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_link_has_a_target(page):
    links = [link for link in LINK.findall(text_of(page)) if "://" not in link]
    missing = [link for link in links if not (ROOT / page).parent.joinpath(link).exists()]
    # Tables of a paper's page link to a report that each run makes.
    assert [link for link in missing if not link.endswith("report.html")] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_path_is_there(page):
    named = {path for path in PATH.findall(text_of(page)) if not NOT_HERE.fullmatch(path)}
    assert {
        path for path in named if not any(f"/{each}".endswith(f"/{path}") for each in TRACKED)
    } == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_folder_is_there(page):
    """Other folders than those of the checkout are made by runs."""
    folders = {str(parent) for path in TRACKED for parent in Path(path).parents}
    named = {name for name in FOLDER.findall(text_of(page)) if name.split("/")[0] in folders}
    assert [
        name for name in named if not any(f"/{each}".endswith(f"/{name}") for each in folders)
    ] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_make_target_is_there(page):
    commands = [text for pair in COMMAND.findall(text_of(page)) for text in pair]
    assert {name for text in commands for name in TARGET.findall(text)} <= TARGETS


def test_the_pages_are_read():
    assert len(PAGES) > 12
    assert any(PATH.findall(text_of(page)) for page in PAGES)
    assert "demo" in TARGETS
