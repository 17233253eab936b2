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

from analogyqa.cli.options import CONFIG, ConfigOption, counted, load_run
from analogyqa.errors import AnalogyQAError
from analogyqa.files import decode_text, read_bytes, split_lines, write_text
from analogyqa.report.stored import read_configuration
from analogyqa.report.trace import find_number, origin, text_lines
from analogyqa.settings.load import from_here, read_config, snakemake_command

if TYPE_CHECKING:
    from analogyqa.schemas import Explanation


ResultsOption = Annotated[
    Path | None,
    typer.Option("--results", help="The output folder; by default that of config.yaml."),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", help="A seed of the run; by default the first.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]


def _results_folder(given: Path | None) -> Path:
    """Return the given output folder, or else that of config.yaml."""
    return given or Path(read_config(CONFIG).output_dir)


def report(config: ConfigOption = CONFIG) -> None:
    """Write report.html, one page with the results so far, into the output folder.

    Example: `analogyqa report --config sample/config.yaml`
    """
    from analogyqa.report.page import build_page

    settings, papers = load_run(config)
    path = Path(settings.output_dir, "report.html")
    command = snakemake_command([config], {})
    write_text(path, build_page(settings.output_dir, settings, papers, command))
    print(path)


def why(
    words: Annotated[
        list[str],
        typer.Argument(
            help="A table or figure, and words that name one of its numbers: a row, a column, a "
            "system, a data set, a subset, a measure, p=20, tuned."
        ),
    ],
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say where a number comes from: command, seeds, inputs, commit, machine, log.

    Example: `analogyqa why table4 comb analogy --results results/demo`
    """
    folder = _results_folder(results)
    config, papers, command = read_configuration(folder)
    number = find_number(folder, config, papers, words)
    facts = origin(folder, number, command)
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for key, value in facts.items():
        for line in text_lines(value) or [""]:
            print(f"{key:{width}}  {line}")
            key = ""


def verify(
    results: Annotated[Path, typer.Argument(help="The output folder of a run.")],
    as_json: JsonOption = False,
) -> None:
    """Compute measures, ledger, claims and tables again, and compare them with the files.

    The scores of the demo are also compared with those that the repository expects. Exits with 1 if
    a file disagrees. Example: `analogyqa verify results/demo`
    """
    from analogyqa.report import verify as verifying

    config, papers, _ = read_configuration(results)
    differences = list(verifying.verify(results, config, papers))
    if as_json:
        rows = [{"file": str(file), "what": what} for file, what in differences]
        print(json.dumps(rows, indent=2))
    else:
        for file, what in differences:
            print(f"{file}: {what}")
        if not (results / "ledger.csv").exists():
            waiting = len(verifying.missing_runs(results, config, papers))
            print(f"{counted(waiting, 'run is', 'runs are')} not finished; no tables are checked.")
        count = counted(len(differences), "difference", "differences")
        print(f"{results}: {count if differences else 'no differences'}")
        if not differences and verifying.is_sample(results):
            print(f"The scores are those in {from_here(verifying.EXPECTED)}.")
    if differences:
        raise typer.Exit(1)


def compare(
    first: Annotated[Path, typer.Argument(help="An output folder.")],
    second: Annotated[Path, typer.Argument(help="Another output folder.")],
    as_json: JsonOption = False,
) -> None:
    """Compare the results of two output folders, cell by cell, with paired tests.

    Says what differs in configuration, data, packages and code. Exits with 1 if a cell differs.
    Example: `analogyqa compare results/demo results/three`
    """
    from analogyqa.evaluation.significance import p_text
    from analogyqa.report.compare import ONLY_FIRST, ONLY_SECOND, compare_folders

    config, _, _ = read_configuration(first)
    equal, different = compare_folders(first, second, config)
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


_SAME = "the scores differ, but {measure} is the same: {first:.3f}"
_CHANGED = (
    "{measure} {first:.3f}, now {second:.3f}: {difference:+.3f} [{low:.3f}, {high:.3f}], p {p}"
)


def leaderboard(
    dataset: Annotated[str, typer.Argument(help="A data set, such as wikiqa.")],
    subset: Annotated[str, typer.Option(help="Its questions: a subset of the configuration.")],
    measure: Annotated[str, typer.Option(help="How systems are compared.")],
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rank all systems on a data set, with the interval of each rank.

    Example: `analogyqa leaderboard wikiqa --subset comb --measure mrr --results results/demo`
    """
    from analogyqa.evaluation.significance import p_text
    from analogyqa.report.compare import build_leaderboard

    folder = _results_folder(results)
    config, _, _ = read_configuration(folder)
    places = build_leaderboard(folder, dataset, subset, measure, config)
    if as_json:
        print(json.dumps(places.to_dict("records"), indent=2))
        return
    headings = (measure, "rank", "first in", "p against the best", "detectable")
    columns = [Column("system"), *(Column(heading, justify="right") for heading in headings)]
    table = Table(*columns, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, place in enumerate(places.itertuples()):
        system = f"{place.system} *" if place.in_top_group else place.system
        ranks = f"{place.rank_low} to {place.rank_high}"
        tests = p_text(place.p_value), f"{place.detectable:.3f}"
        tests = tests if number else ("", "")
        table.add_row(system, f"{place.mean:.3f}", ranks, f"{place.first:.0%}", *tests)
    Console().print(table)
    print(
        "*: the best, or not significantly different from it (Holm). First in: share of bootstrap "
        "draws over questions and seeds. Detectable: the smallest difference from the best that "
        "would probably have been found."
    )


def archive(
    results: Annotated[Path, typer.Argument(help="The output folder of a run.")],
    to: Annotated[
        Path | None, typer.Option(help="The file to write; by default RESULTS.crate.zip.")
    ] = None,
) -> None:
    """Write results, configuration, records and code into an RO-Crate, without third-party data.

    Prints what is archived, and what is left out and why. `analogyqa verify` works on the unpacked
    archive. Example: `analogyqa archive results/demo --to demo.crate.zip`
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
    contents = sort_files(results, papers.values())
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
    run: Annotated[str, typer.Option(help="A run below runs/, such as analogy/wikiqa/comb.")],
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
    from analogyqa.model import Model
    from analogyqa.report.explained import picture_format, save_picture

    if output:
        picture_format(output)
    model = Model.load(_results_folder(results), run, seed)
    explanation = model.explain_question(question_id)
    if output:
        save_picture(explanation, output)
    _show(explanation, as_json)


def _show(explanation: "Explanation", as_json: bool) -> None:
    from analogyqa.report.explained import terminal_lines

    lines = terminal_lines(explanation)
    print(explanation.model_dump_json(indent=2) if as_json else "\n".join(lines))


def rank(
    run: Annotated[
        str, typer.Option(help="A run below runs/, such as analogy/wikiqa/comb/default.")
    ],
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
    from analogyqa.model import Model

    data = sys.stdin.buffer.read() if candidates == "-" else read_bytes(candidates)
    name = "the standard input" if candidates == "-" else candidates
    lines = [line for _, line in split_lines(decode_text(data, name), name) if line.strip()]
    model = Model.load(_results_folder(results), run, seed)
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
        if "prototype_question" in row:
            print(f"             like: {row['prototype_question']} {row['prototype_answer']}")
