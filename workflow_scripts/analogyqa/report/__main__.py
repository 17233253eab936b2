"""`python -m analogyqa.report`: write the report of the results so far."""

import sys
from pathlib import Path

import typer

from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_text
from analogyqa.plan import load_papers
from analogyqa.report.page import build_page
from analogyqa.settings.load import read_config

_config_option = typer.Option("config.yaml", help="The configuration of the run.")


def main(config: Path = _config_option) -> None:
    """Write report.html, with the results so far, into the output folder of a run."""
    try:
        settings = read_config(config)
        command = f"snakemake --cores all --configfile {config}"
        page = build_page(settings.output_dir, settings, load_papers(settings), command)
        path = Path(settings.output_dir, "report.html")
        write_text(path, page)
    except AnalogyQAError as error:
        sys.exit(f"error: {error}")
    print(path)


if __name__ == "__main__":
    typer.run(main)
