"""Options and texts that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from analogyqa.cells import load_papers
from analogyqa.report.stored import CONFIGURATION, read_stored
from analogyqa.settings.load import read_config
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import NOT_SELECTED, Config, leave_out, not_selected

ConfigOption = Annotated[Path, typer.Option("--config", help="The configuration of the run.")]
CONFIG = Path("config.yaml")


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
