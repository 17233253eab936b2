"""Options and texts that several commands have."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from analogyqa.cells import load_papers
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import find_records
from analogyqa.measures import MEASURES
from analogyqa.report.stored import (
    CONFIGURATION,
    find_archives,
    read_configuration,
    read_stored,
    unpacked,
)
from analogyqa.settings.load import read_config
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import NOT_SELECTED, Config, leave_out, not_selected

ConfigOption = Annotated[Path, typer.Option("--config", help="The configuration of the run.")]
CONFIG = Path("config.yaml")

ResultsOption = Annotated[
    Path | None,
    typer.Option(
        "--results",
        help="An output folder, or the archive of one; by default that of config.yaml, or else the "
        "published runs.",
    ),
]
ResultsArgument = Annotated[
    Path, typer.Argument(help="The output folder of a run, or the archive of one.")
]
PUBLISHED = Path("results/published")
_Answer = TypeVar("_Answer")


def results_folder(given: str | Path | None) -> Path:
    """Return the given output folder or the unpacked archive, or else the folder of config.yaml."""
    return unpacked(Path(given or read_config(CONFIG).output_dir))


def ask(given: Path | None, question: Callable[[Path], _Answer]) -> _Answer:
    """Return the answer of an output folder: the given one, or else that of config.yaml.

    If that has no run, this is the answer of the first published run that has one, which a line on
    the error stream says. Raises the AnalogyQAError of the folder, or one with those of all
    published runs.
    """
    own = given or Path(read_config(CONFIG).output_dir)
    published = find_archives(PUBLISHED)
    if given or not published or (own / CONFIGURATION).exists():
        return question(results_folder(own))
    errors = [f"{own} has no run, and no published run has an answer:"]
    for name, archive in published.items():
        try:
            answer = question(unpacked(archive))
        except AnalogyQAError as error:
            errors.append(f"  {name}: {error}")
            continue
        print(f"From the published run, {archive}, as {own} has no run:", file=sys.stderr)
        return answer
    raise AnalogyQAError("\n".join(errors))


def complete(list_names: Callable[[Path], list[str]]) -> Callable[[typer.Context, str], list[str]]:
    """Return the completion of a word by names that are listed in the output folder.

    This is the folder of an option `--results` before the word, or else that of config.yaml.
    """

    def names(context: typer.Context, incomplete: str) -> list[str]:
        try:
            listed = list_names(results_folder(context.params.get("results")))
        except (AnalogyQAError, OSError):  # a shell would show its message amid the command
            return []
        return sorted({name for name in listed if name.startswith(incomplete)})

    return names


def _part(number: int) -> Callable[[Path], list[str]]:
    """Return what lists a part of the paths of runs: 0, systems; 1, data sets; 2, subsets."""
    return lambda results: [run.split("/")[number] for run in find_records(results)]


def _words(results: Path) -> list[str]:
    """Return words that name a number: tables, figures, measures, and the parts of runs."""
    _, papers, _ = read_configuration(results)
    artefacts = [name for paper in papers.values() for name in paper.artefacts]
    parts = [part for run in find_records(results) for part in run.split("/")[:3]]
    return [*artefacts, *MEASURES, *parts]


complete_run = complete(lambda results: [*find_records(results)])
complete_words = complete(_words)
complete_dataset, complete_subset = complete(_part(1)), complete(_part(2))
complete_measure = complete(lambda _: [*MEASURES])


def counted(count: int, one: str, several: str) -> str:
    """Return a count with its noun: "1 file" or "2 files"."""
    return f"{count} {one if count == 1 else several}"


def load_run(path: Path) -> tuple[Config, dict[str, Paper]]:
    """Return the configuration in a file, without what its run has left out, and its papers.

    The data need not be here, as for results of another machine.
    """
    config = read_config(path)
    left_out: dict[str, str] = {}
    if Path(config.output_dir, CONFIGURATION).exists():
        stored = read_stored(config.output_dir).left_out
        left_out = {name: why for name, why in stored.items() if why != NOT_SELECTED}
    config = leave_out(config, left_out | not_selected(config))
    return config, load_papers(config)
