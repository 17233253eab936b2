"""The commands of docs/ about the demo, run in a checkout with a finished demo.

Their blocks name the demo or the sample; tests/test_pages.py parses all others. A block of text
shows lines that the block before it prints; numbers may differ on another machine. A block of YAML
is the file my.yaml of the commands after it.
"""

import os
import re
import shutil
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

from builders.pages import ROOT, Block, code_blocks
from builders.projects import run_program

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

NUMBER = re.compile(r"-?\d*\.?\d+")
DEMO = re.compile(r"\bdemo\b|\bsample/")
# What a page needs of LangChain, for machines without it.
LANGCHAIN = """
from pydantic import BaseModel


class Document(BaseModel):
    page_content: str


class BaseDocumentCompressor(BaseModel):
    pass
"""
PROGRAMS = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}


def is_run(block: Block) -> bool:
    return block.language in PROGRAMS and DEMO.search(block.text) is not None


PAGES = [
    pytest.param(page, id=page.stem, marks=[pytest.mark.draw] * (page.stem == "command-line"))
    for page in sorted(ROOT.glob("docs/*.md"))
    if any(map(is_run, code_blocks(page)))
]


@pytest.fixture(scope="module")
def checkout(demo, tmp_path_factory) -> Path:
    """A copy of the checkout with the demo, in which `make demo` has nothing to do."""
    folder = tmp_path_factory.mktemp("pages") / "checkout"
    shutil.copytree(demo, folder, ignore=shutil.ignore_patterns("trained"))
    for path in filter(Path.is_file, folder.rglob("*")):
        if not path.is_relative_to(folder / "results"):
            os.utime(path, (0, 0))  # older than the results
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "envs" / "install.sh").write_text("")  # `make` must not install into it
    # Only by this variable, `make` finds the library of the copy.
    makefile = folder / "Makefile"
    makefile.write_text(makefile.read_text("utf-8").replace("unexport PYTHONPATH", "unexport"))
    if not find_spec("langchain_core"):
        (folder / "langchain_core").mkdir()
        (folder / "langchain_core" / "documents.py").write_text(LANGCHAIN)
    return folder


def run(block: Block, folder: Path) -> str:
    """Run a block; return what it prints."""
    # `compare` ends with 1 if there are differences between folders.
    status = int(block.text.startswith("analogyqa compare") and "--qrels" not in block.text)
    return run_program(*PROGRAMS[block.language], block.text, checkout=folder, status=status)


def without_numbers(line: str) -> str:
    return NUMBER.sub("0", " ".join(line.split()))


@pytest.mark.timeout(3600)  # the demo may have to run first
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_do_what_it_says(page, checkout):
    blocks = [*code_blocks(page), Block("", "", 0)]
    for block, following in pairwise(blocks):
        if block.language == "yaml":
            (checkout / "my.yaml").write_text(block.text)
        if is_run(block):
            printed = [without_numbers(line) for line in run(block, checkout).splitlines()]
            expected = following.text.splitlines() if following.language == "text" else []
            missing = [line for line in expected if without_numbers(line) not in printed]
            assert missing == [], f"{page}:{following.line}: not printed"
