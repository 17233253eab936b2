"""A small corpus, the tables of a cell on it, and projects to run Snakemake in."""

import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from filelock import FileLock
from hypothesis import settings

from analogyqa.evaluation import significance
from analogyqa.runs.record import code_commit
from analogyqa.training.data import CellData, CellFiles, load_cell
from builders.cells import COMB, Question, corpus_table, toy_questions, trained_system, write_tables
from builders.golden import Golden
from builders.papers import Papers
from builders.projects import REPOSITORY, SMALL_RUN, Project, clean_environment, copy_checkout

# How long an example takes says more about the machine than about the code. `make test` draws the
# same few examples each time, `make test-all` new ones at their full count.
settings.register_profile("few", deadline=None, max_examples=15, derandomize=True)
settings.register_profile("full", deadline=None)
settings.load_profile("few")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write the golden files")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with a reviewed file in the folder `golden` next to the test."""
    return Golden(request.path.parent / "golden", request.config.getoption("accept"))


@pytest.fixture
def fewer_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let comparisons draw 1,000 permutations instead of 10,000, which is faster."""
    fewer = partial(significance.compare_paired, samples=1000)
    monkeypatch.setattr(significance, "compare_paired", fewer)


@pytest.fixture
def report_count(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Show a line of text, such as how many cases were tried, at the end of pytest's output."""
    return partial(record_property, "count")


@pytest.fixture
def limit_file_size() -> Callable[[int], AbstractContextManager]:
    """Limit the size of files, which fails like a full disk."""

    @contextmanager
    def limited(size: int) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = (report for reports in terminalreporter.stats.values() for report in reports)
    properties = {
        f"{report.nodeid}: {line}"
        for report in reports
        for name, line in getattr(report, "user_properties", ())
        if name == "count"
    }
    if properties:
        terminalreporter.section("counts")
        terminalreporter.write("\n".join([*sorted(properties), ""]))


@pytest.fixture(scope="session")
def make_corpus() -> Callable[[Iterable[Question]], pd.DataFrame]:
    return corpus_table


@pytest.fixture(scope="session")
def corpus() -> pd.DataFrame:
    """Seven training and five dev and test questions of each type, and some of no type."""
    return corpus_table(toy_questions())


@pytest.fixture(scope="session")
def write_cell_files(corpus: pd.DataFrame) -> Callable[..., CellFiles]:
    """Write the tables of one seed of a cell to a folder that several tests share."""
    return partial(write_tables, corpus)


@pytest.fixture
def cell_files(corpus: pd.DataFrame, tmp_path: Path) -> Callable[..., CellFiles]:
    """Write the tables of one seed of a cell to a folder of the test."""
    return partial(write_tables, corpus, tmp_path / "tables")


@pytest.fixture
def cell(cell_files: Callable[..., CellFiles]) -> CellData:
    """Seed 0 of all three types with 3 prototypes of each."""
    return load_cell(cell_files(), COMB, trained_system(), lowercase=True)


@pytest.fixture
def papers(tmp_path: Path) -> Papers:
    """A folder with the paper `small`."""
    return Papers(tmp_path / "papers")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project that has not run yet."""
    return Project(tmp_path / "project").create()


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[..., Path]:
    """Let the first worker of pytest-xdist make a folder, which all of them share."""
    base = tmp_path_factory.getbasetemp()

    def make_once(name: str, make: Callable[[Path], None]) -> Path:
        folder = (base if worker_id == "master" else base.parent) / name
        folder.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not (folder / "complete").exists():
                make(folder)
                (folder / "complete").touch()
        return folder

    return make_once


@pytest.fixture(scope="session")
def finished(make_once: Callable[..., Path]) -> Project:
    """A project whose whole pipeline has run; copy it before changing anything or running in it."""

    def run_all(folder: Path) -> None:
        Project(folder / "project").create().make()

    return Project(make_once("finished", run_all) / "project")


@pytest.fixture(scope="session")
def finished_checkout(make_once: Callable[..., Path]) -> Path:
    """A checkout whose folder `work` has a finished small project; copy it before use."""

    def run_small(folder: Path) -> None:
        checkout = copy_checkout(folder / "checkout")
        project = Project(checkout / "work").create(**SMALL_RUN)
        project.make("--snakefile", str(checkout / "Snakefile"))

    return make_once("code", run_small) / "checkout"


@pytest.fixture(scope="session")
def demo(make_once: Callable[..., Path]) -> Path:
    """A checkout with a finished demo: a copy of this one's if this commit made it."""

    def run_demo(folder: Path) -> None:
        checkout = copy_checkout(folder / "checkout")
        here = REPOSITORY / "results" / "demo"
        record = here / "runs" / "analogy" / "wikiqa" / "comb" / "default" / "run.json"
        is_whole = (here / "mlflow.imported.json").exists() and record.exists()
        if is_whole and json.loads(record.read_text("utf-8"))["git_commit"] == code_commit():
            # The trained word vectors take 400 MB.
            ignored = shutil.ignore_patterns("trained")
            shutil.copytree(here, checkout / "results" / "demo", ignore=ignored)
        else:
            command = [sys.executable, "-m", "analogyqa", "demo", "--cores", "2"]
            subprocess.run(command, cwd=checkout, env=clean_environment(checkout), check=True)

    return make_once("demo", run_demo) / "checkout"
