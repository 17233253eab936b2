"""`analogyqa demo` and `analogyqa paper`."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from analogyqa.cli.options import CONFIG
from analogyqa.errors import AnalogyQAError
from analogyqa.settings.load import read_config
from analogyqa.surroundings import require_cache

SAMPLE = Path("sample/config.yaml")
TABLE = Path("results/demo/tables/sample/table4.md")
# A value of `--config` in one argument with the option.
_JOINED = re.compile(r"(?:--config=|-C=?)(.+)")

CoresOption = Annotated[str, typer.Option(help="The number of CPU cores to use.")]
PlainOption = Annotated[
    bool, typer.Option("--plain", help="Print a line for each job, also on a terminal.")
]
SnakemakeArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="ARGUMENTS", help="Passed on to Snakemake."),
]


def demo(
    cores: CoresOption = "all", plain: PlainOption = False, arguments: SnakemakeArguments = None
) -> None:
    """Run the whole pipeline on the bundled sample, which needs no other data.

    Example: `analogyqa demo --cores 2 --dry-run`
    """
    _run_snakemake(cores, plain, ["--configfile", str(SAMPLE)], arguments or [])
    if not arguments:
        print(f"\n{TABLE.read_text('utf-8')}")
        _say_where_results_are(SAMPLE)


def paper(
    papers: Annotated[
        str, typer.Option(help="The papers, separated by spaces; by default those of config.yaml.")
    ] = "",
    cores: CoresOption = "all",
    plain: PlainOption = False,
    arguments: SnakemakeArguments = None,
) -> None:
    """Make every table and figure of the papers, as config.yaml says.

    Example: `analogyqa paper --papers lwda2019 --cores 8 --dry-run`
    """
    passed = list(arguments or [])
    options = ["--config", f"papers={papers}"] if papers else []
    for index in reversed(range(len(passed))) if papers else ():
        if joined := _JOINED.fullmatch(passed[index]):
            options.append(joined[1])
            del passed[index]
            break  # Snakemake reads only the last --config.
        if passed[index] in ("--config", "-C"):
            passed.insert(index + 1, options.pop())
            options = []
            break
    _run_snakemake(cores, plain, options, passed)
    if not arguments:
        _say_where_results_are(CONFIG)


def _run_snakemake(cores: str, plain: bool, options: list[str], arguments: list[str]) -> None:
    """Run Snakemake in the working folder; exit with 2 if it fails, after it has said why.

    `options` are ours; `arguments` are those of the user, which may be targets.
    """
    if not Path("Snakefile").is_file():
        raise AnalogyQAError(f"{Path.cwd()} has no Snakefile. Start in a checkout of analogyqa")
    require_cache()
    display = ["--logger", "analogyqa"] if sys.stderr.isatty() and not plain else []
    command = [sys.executable, "-m", "snakemake", *display, "--quiet", "rules", *options]
    # An option with a single value comes last: the others would take targets for values.
    process = subprocess.Popen([*command, "--cores", cores, *arguments])
    # Snakemake ends its jobs before it stops. The terminal sends Ctrl-C to it, too.
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: process.terminate()),
    }
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if status:
        raise typer.Exit(2)


def _say_where_results_are(config: Path) -> None:
    page = Path(read_config(config).output_dir, "report.html")
    option = "" if config == CONFIG else f" --config {config}"
    print(f"All results on one page: {page}. To browse the runs: analogyqa ui{option}")
