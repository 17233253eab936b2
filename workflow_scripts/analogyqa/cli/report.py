"""`analogyqa report`."""

from pathlib import Path

from analogyqa.cli.options import CONFIG, ConfigOption
from analogyqa.files import write_text
from analogyqa.plan import load_papers
from analogyqa.settings.load import command_of, read_config


def report(config: ConfigOption = CONFIG) -> None:
    """Write report.html, one page with the results so far, into the output folder.

    Example: `analogyqa report --config sample/config.yaml`
    """
    from analogyqa.report.page import build_page

    settings = read_config(config)
    command = command_of([config], {})
    page = build_page(settings.output_dir, settings, load_papers(settings), command)
    path = Path(settings.output_dir, "report.html")
    write_text(path, page)
    print(path)
