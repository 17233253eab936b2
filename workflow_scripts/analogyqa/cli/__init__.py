"""The command line: `analogyqa`, or `python -m analogyqa`.

Exit codes: 0, all is well; 1, a check found something wrong; 2, the command could not be carried
out, and a message says why; 130, interrupted; 141, the reader of its output has closed the pipe.
"""

import importlib.metadata
import sys
import traceback
from collections.abc import Callable
from typing import Annotated

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
from analogyqa.cli.run import demo, paper, restore
from analogyqa.errors import AnalogyQAError

app = typer.Typer(
    name="analogyqa",
    help="Reproduce papers on analogies, and ask where their numbers come from.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
GROUPS: dict[str, tuple[Callable, ...]] = {
    "Run": (demo, paper, plan, sources, doctor),
    "Look at results": (report, why, verify, compare, leaderboard, ui, import_),
    "Rank answers": (rank, explain),
    "Share": (archive, restore, export, schema),
}
PASS_OPTIONS_ON = {"ignore_unknown_options": True}  # to Snakemake
for group, commands in GROUPS.items():
    for command in commands:
        app.command(
            command.__name__.strip("_"),
            rich_help_panel=group,
            context_settings=PASS_OPTIONS_ON if command in (demo, paper) else None,
        )(command)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"analogyqa {importlib.metadata.version('analogyqa')}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_print_version, help="Print the version.")
]


@app.callback()
def _add_options(version: VersionOption = False) -> None:
    """Add the options without a command."""


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
