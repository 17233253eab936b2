"""The command line: `analogyqa`, or `python -m analogyqa`.

Exit codes: 0, all is well; 1, a check found something wrong; 2, the command could not be carried
out, and a message says why; 130, interrupted; 141, the reader of its output has closed the pipe.
"""

import sys
import traceback
from collections.abc import Callable

import typer

from analogyqa.cli.mlflow_ui import import_, ui
from analogyqa.cli.prepare import doctor, plan, schema, sources
from analogyqa.cli.results import (
    archive,
    compare,
    explain,
    export,
    leaderboard,
    rank,
    report,
    verify,
    why,
)
from analogyqa.cli.run import demo, paper
from analogyqa.errors import AnalogyQAError

app = typer.Typer(
    name="analogyqa",
    help="Reproduce papers on analogies, and ask where their numbers come from.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
COMMANDS: tuple[Callable, ...] = (
    *(sources, plan, report, why, verify, compare, leaderboard, rank, explain),
    *(archive, export, doctor, schema, ui),
)
for command in COMMANDS:
    app.command()(command)
for command in (demo, paper):  # they pass options on to Snakemake
    app.command(context_settings={"ignore_unknown_options": True})(command)
app.command("import")(import_)


def main() -> None:
    """Run the command line."""
    try:
        try:
            app(prog_name="analogyqa")
        finally:
            sys.stdout.flush()  # output that cannot be written decides the exit code
    except AnalogyQAError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except Exception:
        traceback.print_exc()  # a defect; Python's exit code, 1, would mean that a check failed
        sys.exit(2)
