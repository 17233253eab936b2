"""Options and texts that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from analogyqa.experiments.experiment import Experiment, load_experiment
from analogyqa.settings.load import read_config, read_values

ConfigOption = Annotated[Path, typer.Option("--config", help="The configuration of the run.")]
CONFIG = Path("config.yaml")
ResultsOption = Annotated[
    Path | None,
    typer.Option("--results", help="The output folder; by default that of config.yaml."),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", help="A seed of the run; by default the first.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]


def counted(count: int, one: str, several: str) -> str:
    """Return a count with its noun: "1 file" or "2 files"."""
    return f"{count} {one if count == 1 else several}"


def load_run(config: Path) -> Experiment:
    """Return the run that a configuration file configures, without what cannot run here."""
    values, files = read_values(config)
    return load_experiment(values, files)


def results_folder(given: Path | None) -> Path:
    """Return the given output folder, or else that of config.yaml."""
    return given or Path(read_config(CONFIG).output_dir)
