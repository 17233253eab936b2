"""`analogyqa plan`."""

import subprocess
import sys

import typer

from analogyqa.cli.options import CONFIG, ConfigOption
from analogyqa.planning import Timings, print_plan, read_listing
from analogyqa.settings.load import read_config
from analogyqa.surroundings import require_cache

_DRY_RUN = ("-m", "snakemake", "--cores", "8", "--profile", "slurm", "--dry-run")


def plan(config: ConfigOption = CONFIG) -> None:
    """Print the jobs that a run on Slurm would submit, and what they will probably cost.

    Nothing is submitted. Example: `analogyqa plan --config sample/config.yaml`
    """
    settings = read_config(config)
    require_cache()
    command = [sys.executable, *_DRY_RUN, "--configfile", str(config)]
    listing = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if listing.returncode:
        raise typer.Exit(2)  # Snakemake has said why
    timings = Timings(
        settings.output_dir, lambda cell: len(settings.seeds_at(cell.subset, cell.overrides))
    )
    print_plan(read_listing(listing.stdout), timings)
