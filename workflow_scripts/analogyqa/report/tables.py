"""The tables of the papers: our values next to the published ones."""

from collections.abc import Callable

import pandas as pd

from analogyqa.cells import Cell, cells_by_hyperparameters, extra_systems
from analogyqa.evaluation.comparing import top_group
from analogyqa.evaluation.number_kinds import TableEntry, our_values
from analogyqa.evaluation.results import Results
from analogyqa.evaluation.summary import LEDGER, Summaries, Values, to_frame
from analogyqa.evaluation.verdicts import NOT_COMPARABLE
from analogyqa.report.legend import for_data, printed_as
from analogyqa.report.table_formats import Block, Table, Value, short_text, value_text
from analogyqa.report.table_notes import table_notes
from analogyqa.settings.artefacts import CITED, Artefact, Published
from analogyqa.settings.coordinates import SCORE, Coordinates
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import FEW_QUESTIONS, OWN, Paper
from analogyqa.settings.run import Config

IN_PAPER, NOT_IN_PAPER = "paper", "not in the paper"  # the values of `block`
_FIRST = ("paper", "artefact", "block", "row", "column", "system", "ranked_by")
FRAME = dict.fromkeys(_FIRST, "str") | LEDGER | {"top_group": "boolean"}


def build_table(
    paper: Paper, name: str, ledger: pd.DataFrame, config: Config, results: Results
) -> Table:
    """Return a table of a paper, such as `table4`, from its rows of the ledger.

    Systems that the paper lacks have a block of their own.
    """
    rows = [
        *_paper_rows(paper, name, ledger, config, results),
        *_other_rows(paper, name, config, results),
    ]
    frame = to_frame([{"paper": paper.paper, "artefact": name, **row} for row in rows], FRAME)
    if paper.artefacts[name].top_group:
        frame["top_group"] = _top_groups(frame, paper.artefacts[name], config, results.values)
    return table_of_frame(paper, name, frame, results.by_cell, config)


def table_of_frame(
    paper: Paper, name: str, frame: pd.DataFrame, summaries: Summaries, config: Config
) -> Table:
    """Return a table of a paper from its csv: columns FRAME, a row for each value."""
    artefact = paper.artefacts[name]
    rows = [
        row | _display_facts(row, artefact, config, summaries) | {"csv_row": number}
        for number, row in enumerate(frame.to_dict("records"))
    ]
    if not config.comparable:
        rows = [_without_published(row) for row in rows if row["kind"] != CITED]
    is_own = paper.paper == OWN
    source = f"Published: {paper.citation}" if config.comparable and not is_own else paper.citation
    return Table(
        title=artefact.title if is_own else for_data(artefact.title, config),
        blocks=_blocks(artefact, rows),
        notes=[*table_notes(artefact, rows, config), *(_few(rows) if is_own else []), source],
        printed_as=printed_as(paper, name),
        frame=frame,
    )


def _few(rows: list[dict]) -> list[str]:
    """Return a warning if some values are means over a few questions or pairs."""
    counts = [row["n_items"] for row in rows if pd.notna(row["n_items"])]
    if min(counts, default=FEW_QUESTIONS) >= FEW_QUESTIONS:
        return []
    return [
        f"Means over fewer than {FEW_QUESTIONS} test questions say little, and so do intervals."
    ]


def _top_groups(
    frame: pd.DataFrame, artefact: Artefact, config: Config, values: Values
) -> pd.Series:
    """Return whether each score is in the top group of its column.

    If the columns are systems, the groups are those of the rows.
    """
    top = pd.Series(pd.NA, frame.index, dtype="boolean")
    scores = frame[(frame["kind"] == SCORE) & frame["mean"].notna()]
    for _, part in scores.groupby("column" if artefact.systems_in == "row" else "row"):
        runs, paths = {}, {}
        for number, row in part.to_dict("index").items():
            cell = _cell(row, artefact, config)
            paths[number] = cell.path
            runs[cell.path] = values(cell, row["measure"])
        in_top = top_group(runs, config)
        top[list(paths)] = [path in in_top for path in paths.values()]
    return top


def _paper_rows(
    paper: Paper, name: str, ledger: pd.DataFrame, config: Config, results: Results
) -> list[dict]:
    """Return a row for each value and set of hyperparameters.

    A published value has the rows of the ledger; values that are only cited, or not printed, have
    none there.
    """
    in_table = ledger[(ledger["paper"] == paper.paper) & (ledger["artefact"] == name)]
    judged: dict[tuple[str, str], list[dict]] = {}
    for row in in_table.to_dict("records"):
        judged.setdefault((row["row"], row["column"]), []).append(row)
    artefact, rows = paper.artefacts[name], []
    for number in artefact.numbers():
        values = judged.get((number.row, number.column))
        if values is None and number.kind != CITED:
            values = our_values(TableEntry(number, artefact, paper), config, results)
        labels = _labels(IN_PAPER, number.row, number.column, number.coordinates, config)
        for value in values or [{"published": number.published, "kind": number.kind}]:
            rows.append(labels | value)
    return rows


def _other_rows(paper: Paper, name: str, config: Config, results: Results) -> list[dict]:
    """Return the rows of the systems that the paper lacks."""
    artefact, rows = paper.artefacts[name], []
    for system in extra_systems(config, paper, name):
        for row, column, coordinates in artefact.cells_of(config.systems[system].title):
            coordinates = coordinates | Coordinates(system=system)
            number = Published(row, column, coordinates, None, coordinates.kind)
            labels = _labels(NOT_IN_PAPER, row, column, coordinates, config)
            values = our_values(TableEntry(number, artefact, paper), config, results)
            rows += [labels | value for value in values]
    return rows


def _labels(block: str, row: str, column: str, coordinates: Coordinates, config: Config) -> dict:
    system = config.systems.get(coordinates.system)
    ranked_by = system.ranker.name if system else ""
    labels = {"block": block, "row": row, "column": column}
    return labels | {"system": coordinates.system, "ranked_by": ranked_by}


def _display_facts(
    row: dict, artefact: Artefact, config: Config, summaries: Summaries
) -> dict[str, object]:
    """Return what a row of FRAME needs to be shown.

    These are `run`, the summary row of its score or None; `path`, the folder of that run; `name`,
    the system as the table calls it; and `system_at`, the name with tuned hyperparameters.
    """
    run, path = None, ""
    if row["kind"] == SCORE and pd.notna(row["mean"]):
        cell = _cell(row, artefact, config)
        run, path = summaries.get((cell, row["measure"])), cell.with_run(config).path
    name = row[artefact.systems_in or "column"]
    if row["system"] in config.systems and not artefact.systems_in:
        name = config.systems[row["system"]].title
    system_at = f"{name} (tuned on dev)" if row["hyperparameters"] == TUNED else name
    return {"run": run, "path": path, "name": name, "system_at": system_at}


def _without_published(row: dict) -> dict:
    """Return a row of FRAME as it is shown if our data are not the paper's."""
    verdict = "" if row["verdict"] == NOT_COMPARABLE else row["verdict"]
    return row | {"published": None, "verdict": verdict}


def coordinates_of(row: dict, artefact: Artefact) -> Coordinates:
    """Return the coordinates of a row of FRAME."""
    if row["block"] == IN_PAPER:
        return artefact.coordinates(row["row"], row["column"])
    label = {"column": row["column"]} if artefact.systems_in == "row" else {"row": row["row"]}
    return artefact.coordinates(**label) | Coordinates(system=row["system"])


def _cell(row: dict, artefact: Artefact, config: Config) -> Cell:
    """Return the cell of a row of FRAME."""
    coordinates = coordinates_of(row, artefact)
    return cells_by_hyperparameters(coordinates, config)[row["hyperparameters"]]


def _blocks(artefact: Artefact, rows: list[dict]) -> list[Block]:
    """Lay out the values as in the paper; systems that it lacks are rows of the last block."""
    paper, others = (
        [row for row in rows if row["block"] == block] for block in (IN_PAPER, NOT_IN_PAPER)
    )
    stated = [row for row in paper if row["hyperparameters"] != TUNED]
    tuned = [row for row in paper if row["hyperparameters"] == TUNED]
    system = {"System": "name", "ranked by": "ranked_by"}
    other_system = system | {"System": "system_at"}
    if artefact.systems_in == "row":
        labels, last = system, ("Not in the paper", others, other_system, "column", value_text)
    else:
        heading = "Not in the paper: mean {other questions}"
        labels, last = {"": "row"}, (heading, others, other_system, "row", short_text)
    blocks = [
        ("In the paper" if tuned or others else "", stated, labels, "column", value_text),
        ("In the paper, hyperparameters tuned on dev", tuned, labels, "column", value_text),
        last,
    ]
    return [_block(*block) for block in blocks if block[1]]


def _block(
    heading: str,
    rows: list[dict],
    labels: dict[str, str],
    across: str,
    text: Callable[[dict], Value],
) -> Block:
    """Return a block with a column for each distinct value of the key `across`, in their order."""
    columns = list(dict.fromkeys(row[across] for row in rows))
    # Two systems may have the same title, so the system is a part of the key.
    key = [*labels.values(), *(["system"] if "System" in labels else [])]
    cells: dict[tuple, dict[str, Value]] = {}
    for row in rows:
        cells.setdefault(tuple(row[name] for name in key), {})[row[across]] = text(row)._replace(
            verdict=row["verdict"],
            run=row["path"],
            bold=row["top_group"] is True,
            row=None if row["kind"] == CITED else row["csv_row"],
        )
    lines = [
        (list(names[: len(labels)]), [values.get(column, Value("")) for column in columns])
        for names, values in cells.items()
    ]
    return Block(heading, list(labels), columns, lines)
