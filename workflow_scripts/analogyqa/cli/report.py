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

    run = load_run(config)
    folder, command = run.config.output_dir, command_of([config], {})
    page = build_page(folder, run.config, run.papers, command)
    path = Path(folder, "report.html")
    write_text(path, page)
    print(path)
