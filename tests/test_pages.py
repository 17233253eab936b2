"""Every path, link and make target that a page names exists, and its code blocks can be read.

tests/workflow/test_commands_of_pages.py runs the commands about the demo. Plug-ins and papers of
the pages are added to a copy of the library (test_extending.py, also in workflow/).
"""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from snakemake.cli import get_argument_parser
from typer.testing import CliRunner

from analogyqa import cli
from analogyqa.settings.schema import config_schema, paper_schema
from builders.pages import ROOT, code_blocks, commands_of
from builders.projects import repository_files

TRACKED = repository_files()
FOLDERS = {str(parent) for path in TRACKED for parent in Path(path).parents}
# The changelog names files that are gone.
PAGES = [name for name in TRACKED if name.endswith(".md") and name != "CHANGELOG.md"]
LINK = re.compile(r"\]\(([^)#\s]+)")
# A path between backticks, with a suffix that our files have.
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*\.(?:py|md|yaml|smk|sh|toml|lock))`")
FOLDER = re.compile(r"`([\w.-]+(?:/[\w.-]+)*)/`")
COMMAND = re.compile(r"`(make [^`\n]+)`")
TARGET = re.compile(r"(?<![\w-])make ([a-z][a-z-]*)\b")
TARGETS = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
# Files that a run makes, or that the reader of a page writes.
NOT_HERE = re.compile(
    r"(results|review|questions|tables)/.*|my\.yaml|(claims|ledger)\.md|encoders/l\w+\.py|corpora/nested\.py"
)


def is_named(name: str, known: Iterable[str]) -> bool:
    """Return whether a path, or the end of one, is known."""
    return any(f"/{path}".endswith(f"/{name}") for path in known)


@pytest.mark.parametrize("page", PAGES)
def test_everything_that_a_page_names_exists(page):
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
    assert {
        name for command in COMMAND.findall(text) for name in TARGET.findall(command)
    } <= TARGETS


def test_the_pages_are_read():
    assert len(PAGES) > 12 and "demo" in TARGETS
    assert any(PATH.findall((ROOT / page).read_text("utf-8")) for page in PAGES)


MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
# Programs of the system, whose options are not checked.
PROGRAMS = {
    "apt-get",
    "cd",
    "curl",
    "export",
    "find",
    "git",
    "grep",
    "mlflow",
    "printf",
    "source",
    "sudo",
}
PARTS = {**config_schema()["properties"], **paper_schema()["properties"]}


@pytest.mark.parametrize("page", PAGES)
def test_every_code_block_can_be_read(page):
    for block in code_blocks(ROOT / page):
        where = f"{page}:{block.line}"
        if block.language in ("python", "{code-cell}"):
            parse_python(block.text, where)
        elif block.language == "yaml":
            # The last is the name of a figure.
            assert set(yaml.safe_load(block.text)) <= {*PARTS, "figure2"}, where
        elif block.language in ("sh", ""):
            for words in commands_of(block.text):
                parse_command(words, where)
        else:
            directive = block.language.partition(" ")[0]
            assert directive in ("text", "{toctree}", "{include}", "{eval-rst}"), where


def parse_python(text: str, where: str) -> None:
    """Parse statements, or an entry of a dictionary."""
    is_entry = re.match(r'"\w+": \w+[(,]', text)
    ast.parse(f"{{{text}}}" if is_entry else text, where)


def parse_command(words: list[str], where: str) -> None:
    """Parse a command with the parser of its program."""
    program, *arguments = words
    if program == "make":
        assert {word for word in arguments if "=" not in word} <= TARGETS, where
        assert all(word.partition("=")[0] in MAKEFILE for word in arguments), where
    elif program == "snakemake":
        parsed = get_argument_parser().parse_args(arguments)
        files = [str(path) for path in parsed.configfile or []]
        assert [name for name in files if not (ROOT / name).is_file()] in ([], ["my.yaml"]), where
        assert all((ROOT / name / "config.yaml").is_file() for name in parsed.profile or []), where
    elif program == "analogyqa":
        # The parser accepts the arguments; `--help` then ends the command.
        done = CliRunner().invoke(cli.app, [*arguments, "--help"])
        assert done.exit_code == 0, f"{where}: {done.output}"
    elif program.endswith(("python", "pytest")):
        arguments = arguments[2:] if arguments[:1] == ["-m"] else arguments
        paths = [word for word in arguments if re.fullmatch(r"[\w./]+/[\w.]+", word)]
        assert [name for name in paths if not (ROOT / name).exists()] == [], where
    else:
        assert program in PROGRAMS or (ROOT / program).is_file(), f"{where}: {program}"
