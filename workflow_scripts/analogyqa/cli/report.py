"""`analogyqa report`."""

from pathlib import Path

from analogyqa.cli.options import CONFIG, ConfigOption, load_run
from analogyqa.files import write_text
from analogyqa.settings.load import command_of


def report(config: ConfigOption = CONFIG) -> None:
    """Write report.html, one page with the results so far, into the output folder.

    Example: `analogyqa report --config sample/config.yaml`
    """
    from analogyqa.report.page import build_page

    settings, papers = load_run(config)
    command = command_of([config], {})
    page = build_page(settings.output_dir, settings, papers, command)
    path = Path(settings.output_dir, "report.html")
    write_text(path, page)
    print(path)
