"""`analogyqa demo`, `paper` and `restore`, which run Snakemake."""

import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from analogyqa.cli.options import CONFIG, counted
from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_json
from analogyqa.report.stored import read_stored, store_configuration, unpacked
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


def restore(
    archive: Annotated[Path, typer.Argument(help="An archive of results.")],
    results: Annotated[
        Path | None, typer.Argument(help="The folder; by default the one that was archived.")
    ] = None,
    cores: CoresOption = "all",
) -> None:
    """Bring the finished cells of an archive back into a results folder.

    The run then goes on where it was archived: it makes only what is missing, or was made with
    other settings or code. This command first makes the corpora, vectors, prototypes and quadruples
    again, from which the cells were made. Example: `analogyqa restore demo.crate.zip`
    """
    from analogyqa.restore import copy_results, files_to_make, find_results, refuse_changed
    from analogyqa.workflow import load_workflow

    folder = unpacked(archive)
    stored = read_stored(folder)
    values = stored.values | ({"output_dir": str(results)} if results else {})
    workflow = load_workflow([], values)
    target = Path(workflow.globals["RESULTS"])
    found, refused = find_results(workflow, folder)
    if missing := files_to_make(found.values()):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            write_json(file.name, values)
            options = ["--configfile", file.name]
            _run_snakemake(cores, True, options, ["--keep-going", "--", *missing])
    kept, changed = refuse_changed(found, target)
    copied = copy_results(kept, target)
    store_configuration(target, values, stored.left_out, stored.command)
    by_reason: dict[str, list[str]] = {}
    for name, reason in (refused | changed).items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"Not restored: {names[0]}{others}: {reason}", file=sys.stderr)
    print(
        f"{target}: {counted(len(copied), 'result is', 'results are')} back, "
        f"{len(kept) - len(copied)} were there, {len(refused | changed)} are not restored"
    )
    print(f"To go on: {stored.command}")


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
