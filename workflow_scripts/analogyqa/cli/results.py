"""`analogyqa report`, `why`, `verify`, `explain`, `rank` and others: for output folders."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.filesize import decimal
from rich.table import Column, Table

from analogyqa.cli.options import (
    CONFIG,
    ConfigOption,
    ResultsArgument,
    ResultsOption,
    ask,
    complete_dataset,
    complete_measure,
    complete_run,
    complete_subset,
    complete_words,
    counted,
    load_run,
    results_folder,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.files import decode_text, read_bytes, split_lines, write_text
from analogyqa.report.stored import (
    PACKED,
    find_archives,
    is_archive,
    is_packed,
    read_configuration,
    unpack,
    unpacked,
)
from analogyqa.report.trace import find_number, origin, text_lines
from analogyqa.settings.load import from_here, snakemake_command

if TYPE_CHECKING:
    import pandas as pd

    from analogyqa.model import Model
    from analogyqa.schemas import Explanation


RunOption = Annotated[
    str,
    typer.Option(
        help="A run: its path below runs/, as in the example; or the folder of a saved model.",
        autocompletion=complete_run,
    ),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", help="A seed of the run; by default the first.")
]
QrelsOption = Annotated[
    Path | None, typer.Option(help="The qrels file of TREC run files: their correct candidates.")
]
MeasureOption = Annotated[
    str | None,
    typer.Option(
        help="A measure, such as mrr; for run files map, if none is named.",
        autocompletion=complete_measure,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]


def report(
    results: Annotated[
        Path | None,
        typer.Argument(help="An output folder, or an archive, which is unpacked beside itself."),
    ] = None,
    config: ConfigOption = CONFIG,
) -> None:
    """Write report.html, one page with the results so far, into the output folder.

    Example: `analogyqa report --config sample/config.yaml`
    """
    from analogyqa.report.page import build_page

    if results:
        folder = results
        if results.is_file():
            name = results.name.removesuffix(PACKED).removesuffix(".zip")
            folder = unpack(results, results.with_name(name))
        settings, papers, command = read_configuration(folder)
    else:
        settings, papers = load_run(config)
        folder, command = Path(settings.output_dir), snakemake_command([config], {})
    path = folder / "report.html"
    write_text(path, build_page(folder, settings, papers, command))
    print(path)


def why(
    words: Annotated[
        list[str],
        typer.Argument(
            help="A table or figure, and words that name one of its numbers: a row, a column, a "
            "system, a data set, a subset, a measure, p=20, tuned.",
            autocompletion=complete_words,
        ),
    ],
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say where a number comes from: command, seeds, inputs, commit, machine, log.

    Example: `analogyqa why table4 comb analogy --results results/demo`
    """

    def find(folder: Path) -> dict:
        config, papers, command = read_configuration(folder)
        return origin(folder, find_number(folder, config, papers, words), config, command)

    facts = ask(results, find)
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for key, value in facts.items():
        for line in text_lines(value) or [""]:
            print(f"{key:{width}}  {line}")
            key = ""


def verify(
    results: Annotated[
        list[Path],
        typer.Argument(help="Output folders of runs, archives of them, or folders of archives."),
    ],
    as_json: JsonOption = False,
) -> None:
    """Compute measures, ledger, claims and tables again, and compare them with the files.

    The scores of the demo are also compared with those that the repository expects. Exits with 1 if
    a file disagrees, or an archive is damaged. Example: `analogyqa verify results/demo`
    """
    rows: list[dict[str, str]] = []
    paths = [path for named in results for path in find_archives(named).values() or [named]]
    for path in paths:
        try:
            found, lines = _verified(path)
        except AnalogyQAError as error:
            is_packed_archive = path.is_file() and path.name.endswith((PACKED, ".zip"))
            if not (is_packed_archive or is_archive(path)):
                raise
            found, lines = [{"file": str(path), "what": str(error).removeprefix(f"{path}: ")}], []
        rows += found
        if as_json:
            continue
        for row in found:
            print("{file}: {what}".format(**row))
        print(f"{path}: {counted(len(found), 'difference', 'differences') if found else _NONE}")
        for line in lines:
            print(line)
    if as_json:
        print(json.dumps(rows, indent=2))
    if rows:
        raise typer.Exit(1)


_NONE = "no differences"


def _verified(path: Path) -> tuple[list[dict[str, str]], list[str]]:
    """Return the differences of a folder or archive, and what else there is to say about it."""
    from analogyqa.report import verify as verifying

    folder = unpacked(path)
    config, papers, _ = read_configuration(folder)
    found = [
        {"file": str(path / file.relative_to(folder)), "what": what}
        for file, what in verifying.verify(folder, config, papers)
    ]
    lines = []
    if not (folder / "ledger.csv").exists():
        waiting = counted(len(verifying.missing_runs(folder, config, papers)), "run is", "runs are")
        lines.append(f"{waiting} not finished; no tables are checked.")
    if not found and verifying.is_sample(folder):
        lines.append(f"The scores are those in {from_here(verifying.EXPECTED)}.")
    return found, lines


def compare(
    first: Annotated[
        Path, typer.Argument(help="An output folder or archive, or TREC runs with --qrels.")
    ],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    qrels: QrelsOption = None,
    measure: MeasureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the results of two output folders, or the TREC runs of two systems.

    Folders are compared cell by cell, with paired tests. This says what differs in configuration,
    data, packages and code, and exits with 1 if a cell differs.

    With --qrels, each system is a run file, or a folder with one for each seed. This prints both
    means, their difference with its interval, and a paired test over questions and seeds.

    Example: `analogyqa compare results/demo results/three`
    """
    from analogyqa.evaluation.significance import p_text
    from analogyqa.report.compare import ONLY_FIRST, ONLY_SECOND, compare_folders

    if qrels:
        _compare_runs(first, second, qrels, measure, as_json)
        return
    for path in (first, second):
        if path.is_file() and not is_packed(path):
            raise AnalogyQAError(f"{path} is no archive. For run files, name labels: --qrels FILE")
    folders = unpacked(first), unpacked(second)
    config, _, _ = read_configuration(folders[0])
    equal, different = compare_folders(*folders, config)
    if as_json:
        cells = [difference._asdict() for difference in different]
        print(json.dumps({"equal": equal, "different": cells}, indent=2))
    else:
        states = Counter(difference.state for difference in different)
        for cell, state, values, because in different:
            if state in (ONLY_FIRST, ONLY_SECOND):
                continue
            text = _CHANGED if values and (values["low"] or values["high"]) else _SAME
            p = p_text(values["p_value"], "= ") if values else ""
            print(f"{cell}: {text.format(**values, p=p) if values else state}")
            for reason in because:
                print(f"    {reason}")
        same = counted(equal, "cell has", "cells have")
        differing = len(different) - states[ONLY_FIRST] - states[ONLY_SECOND]
        print(f"{same} equal scores, {counted(differing, 'differs', 'differ')}")
        for state, folder in {ONLY_FIRST: first, ONLY_SECOND: second}.items():
            if states[state]:
                count = counted(states[state], "cell is", "cells are")
                print(f"{count} only in {folder} (--json shows which)")
    if different:
        raise typer.Exit(1)


def _compare_runs(
    first: Path, second: Path, qrels: Path, measure: str | None, as_json: bool
) -> None:
    from analogyqa.evaluation.significance import POWER, p_text
    from analogyqa.evaluation.systems import compare_systems
    from analogyqa.evaluation.trec import FILE_MEASURES, find_runs, measure_runs

    measure = measure or FILE_MEASURES[0]
    runs = measure_runs(find_runs([first, second]), qrels, measure)
    (name, scores), (other, other_scores) = runs.items()
    values = compare_systems(scores, other_scores)
    if as_json:
        counts = {"questions": scores.shape[1], "seeds": [len(scores), len(other_scores)]}
        print(json.dumps({"measure": measure, **values, **counts}, indent=2))
        return
    p = p_text(values["p_value"], "= ")
    print(f"{measure}: {name} {values['first']:.3f}, {other} {values['second']:.3f}")
    print("difference {difference:+.3f} [{low:+.3f}, {high:+.3f}], ".format(**values) + f"p {p}")
    print(
        f"{counted(scores.shape[1], 'question', 'questions')}; seeds: {len(scores)} and "
        f"{len(other_scores)}. A true difference of {values['detectable']:.3f} would be found with "
        f"probability {POWER}."
    )


_SAME = "the scores differ, but {measure} is the same: {first:.3f}"
_CHANGED = (
    "{measure} {first:.3f}, now {second:.3f}: {difference:+.3f} [{low:.3f}, {high:.3f}], p {p}"
)


def leaderboard(
    systems: Annotated[
        list[str],
        typer.Argument(
            help="A data set of an output folder, such as wikiqa; or a table of scores with the "
            "columns system, item, seed and value; or TREC runs with --qrels.",
            autocompletion=complete_dataset,
        ),
    ],
    subset: Annotated[
        str | None,
        typer.Option(
            help="The questions of a data set: a configured subset.", autocompletion=complete_subset
        ),
    ] = None,
    measure: MeasureOption = None,
    qrels: QrelsOption = None,
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rank systems, with the interval of each mean and rank, and groups that tests cannot separate.

    The systems are those that have run on a data set, those in a table of scores, or run files,
    each of a system; a folder of run files has one for each seed.

    Example: `analogyqa leaderboard wikiqa --subset comb --measure mrr --results results/demo`
    """
    from analogyqa.evaluation.systems import rank_systems, read_scores
    from analogyqa.evaluation.trec import FILE_MEASURES, find_runs, measure_runs
    from analogyqa.report.compare import build_leaderboard

    if qrels:
        measure = measure or FILE_MEASURES[0]
        places = rank_systems(measure_runs(find_runs(systems), qrels, measure))
    elif Path(systems[0]).is_file():
        _require_one(systems)
        places = rank_systems(read_scores(systems[0]))
    elif subset and measure:
        _require_one(systems)
        named = systems[0], subset, measure

        def build(folder: Path) -> "pd.DataFrame":
            return build_leaderboard(folder, *named, read_configuration(folder)[0])

        places = ask(results, build)
    else:
        raise AnalogyQAError(
            f"{systems[0]}: no such file. Name a table of scores; or run files and --qrels; or a "
            "data set, --subset and --measure"
        )
    if as_json:
        print(json.dumps(places.to_dict("records"), indent=2))
        return
    _print_places(places, measure or "mean")


def _require_one(names: list[str]) -> None:
    if len(names) > 1:
        raise AnalogyQAError(f"{names[1]}: run files need --qrels FILE; otherwise, name one thing")


FULL_WIDTH = 80  # columns of a terminal


def _print_places(places: "pd.DataFrame", measure: str) -> None:
    from analogyqa.evaluation.significance import p_text

    headings = ("group", measure, "95% interval", "rank", "first", "p", "detectable")
    console = Console()
    shown = headings if console.width >= FULL_WIDTH else headings[:4]
    columns = [Column(name, "", justify="right", no_wrap=name != measure) for name in shown]
    system = Column("system", overflow="fold", min_width=10)
    table = Table(system, *columns, box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for number, place in enumerate(places.itertuples()):
        interval = f"[{place.low:.3f}, {place.high:.3f}]"
        ranks = f"{place.rank_low} to {place.rank_high}"
        tests = (p_text(place.p_value), f"{place.detectable:.3f}") if number else ("", "")
        row = (str(place.group), f"{place.mean:.3f}", interval, ranks, f"{place.first:.0%}", *tests)
        table.add_row(place.system, *row[: len(shown)])
    console.print(table)
    if shown != headings:
        print(f"In {FULL_WIDTH} columns, or with --json: {', '.join(headings[4:])}.")
    print(
        "Group: its best system, and those not significantly different from that one (Holm). First:"
        " share of bootstrap draws over questions and seeds. p: of a paired test against the best. "
        "Detectable: the smallest difference from the best that would probably have been found."
    )


def export(
    results: ResultsArgument,
    to: Annotated[Path, typer.Option(help="A new folder.")],
) -> None:
    """Write the scores of all systems as TREC run files, with a qrels file for each subset.

    Each run file starts with the header of ir_metadata, as comments. Example: `analogyqa export
    results/demo --to runs`
    """
    from analogyqa.evaluation.trec import export_runs

    folder = unpacked(results)
    _, _, command = read_configuration(folder)
    for path in export_runs(folder, to, command):
        count = len([*path.with_suffix("").iterdir()])
        print(f"{path.with_suffix('')}: {counted(count, 'system', 'systems')}, labels in {path}")


def archive(
    results: Annotated[Path, typer.Argument(help="The output folder of a run.")],
    to: Annotated[
        Path | None,
        typer.Option(
            help="The file to write; by default RESULTS.crate.zip. NAME.tar.xz is half as large."
        ),
    ] = None,
) -> None:
    """Write results, configuration, records and code into an RO-Crate, without third-party data.

    Prints what is archived, and what is left out and why. Commands that look at results take the
    file instead of the folder. Example: `analogyqa archive results/demo --to demo.crate.zip`
    """
    from analogyqa.report.archive import sort_files, why_left_out, write_crate
    from analogyqa.report.verify import missing_runs
    from analogyqa.settings.load import REPOSITORY
    from analogyqa.sources.registry import load_registry

    results = results.resolve()  # a path such as . has no name
    config, papers, command = read_configuration(results)
    if missing := missing_runs(results, config, papers):
        others = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
        print(f"{missing[0]}{others} missing. To finish the run: {command}", file=sys.stderr)
    target = to or results.with_name(f"{results.name}.crate.zip")
    if target.is_dir():
        raise AnalogyQAError(f"{target} is a folder. Name a file: --to {target / results.name}.zip")
    contents = sort_files(results, config, papers.values())
    registry = load_registry(REPOSITORY / "sources.yaml")
    write_crate(results, contents, command, registry, target)
    print("Archived, with the code:")
    for folder, names in contents.archived().items():
        print(f"  {folder + '/*' if folder else ', '.join(names)} ({_size(results, names)})")
    print("Left out:")
    for pattern, names in contents.left_out.items():
        reason = why_left_out(pattern)[0]
        print(f"  {pattern or ', '.join(names)}: {reason} ({_size(results, names)})")
    print(f"{target}: {decimal(target.stat().st_size)}. README.md in it says how to check it.")


def _size(results: Path, names: list[str]) -> str:
    size = decimal(sum((results / name).stat().st_size for name in names))
    return f"{counted(len(names), 'file', 'files')}, {size}"


def explain(
    question_id: Annotated[str, typer.Argument(help="A question of test or dev, such as Q280.")],
    run: RunOption,
    results: ResultsOption = None,
    seed: SeedOption = None,
    output: Annotated[
        Path | None, typer.Option(help="Draw a picture into this file: .svg or .png.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Explain how a run ranked the answers to a question.

    A system that ranks by analogy has a picture: --output draws the shifts, question minus answer,
    of the candidates and the prototypes.

    Example: `analogyqa explain Q280 --run analogy/wikiqa/comb --results results/demo`
    """
    from analogyqa.report.explained import picture_format, save_picture

    if output:
        picture_format(output)
    model = _find_model(run, results, seed)
    explanation = model.explain_question(question_id)
    if output:
        save_picture(explanation, output)
    _show(explanation, as_json)


def _find_model(run: str, results: Path | None, seed: int | None) -> "Model":
    from analogyqa.model import Model
    from analogyqa.model.learned import MODEL

    if Path(run, MODEL).is_file():
        return Model.open(run)
    if results and results.is_file():
        raise AnalogyQAError(
            f"{results} is an archive, which has no sentences of the data and no weights. Bring "
            f"its cells back, and run the workflow: analogyqa restore {results}"
        )
    return Model.load(results_folder(results), run, seed)


def _show(explanation: "Explanation", as_json: bool) -> None:
    from analogyqa.report.explained import terminal_lines

    lines = terminal_lines(explanation)
    print(explanation.model_dump_json(indent=2) if as_json else "\n".join(lines))


def rank(
    run: RunOption,
    question: Annotated[str, typer.Option(help="The question.")],
    candidates: Annotated[str, typer.Option(help="A file with a candidate in each line, or -.")],
    results: ResultsOption = None,
    seed: SeedOption = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show the most similar prototypes and the deciding words."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Rank answers to a question of yours with a system of a finished run.

    Example: `analogyqa rank --run bm25/wikiqa/comb/default --question "who is it?" --candidates -
    --results results/demo`
    """
    from analogyqa.report.explained import unread_text

    data = sys.stdin.buffer.read() if candidates == "-" else read_bytes(candidates)
    name = "the standard input" if candidates == "-" else candidates
    lines = [line for _, line in split_lines(decode_text(data, name), name) if line.strip()]
    model = _find_model(run, results, seed)
    if explain:
        _show(model.explain(question, lines), as_json)
        return
    ranked = model.rank(question, lines)
    if as_json:
        print(ranked.to_json(orient="records", indent=2))
        return
    for place, row in enumerate(ranked.to_dict("records"), 1):
        print(f"{place:3}  {row['score']:.4f}  {row['candidate']}")
        if row["unknown"]:
            print(f"             ignored, as they have no vector: {row['unknown']}")
        if row.get("unread"):
            print(f"             {unread_text(row['unread'])}")
        if "prototype_question" in row:
            print(f"             like: {row['prototype_question']} {row['prototype_answer']}")
