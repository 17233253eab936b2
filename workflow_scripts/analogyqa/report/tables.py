"""The tables of the papers, with ours beside the published values."""

from collections.abc import Callable

import pandas as pd

from analogyqa.plan import Cell, cells_by_hyperparameters, extra_systems, holding_cell, why_no_run
from analogyqa.report.comparing import top_group
from analogyqa.report.ledger import (
    NOT_RUN,
    OTHER_DATA,
    AllCounts,
    cost_of,
    count_of,
    measured,
    no_run,
)
from analogyqa.report.summary import LEDGER, Found, Values, by_cell, typed
from analogyqa.report.table_formats import (
    IN_PAPER,
    NOT_IN_PAPER,
    Block,
    Table,
    Value,
    cited_text,
    cost_text,
    count_text,
    full_text,
    short_text,
)
from analogyqa.report.table_notes import notes_of
from analogyqa.runs.cost import Costs
from analogyqa.settings.coordinates import COST, COUNT, SCORE, Coordinates
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import CITED, OWN, Artefact, Paper
from analogyqa.settings.run import Config

_FIRST = ("paper", "artefact", "block", "row", "column", "system", "ranked_by")
FRAME = dict.fromkeys(_FIRST, "str") | LEDGER | {"top_group": "boolean"}


def build_table(
    paper: Paper,
    name: str,
    ledger: pd.DataFrame,
    summary: pd.DataFrame,
    config: Config,
    counts: AllCounts | None = None,
    costs: Costs | None = None,
    values: Values | None = None,
) -> Table:
    """Return a table of a paper; further systems come in a block of their own.

    Args:
        paper: the published values.
        name: which of its tables, such as `table4`.
        ledger: of columns LEDGER.
        summary: of columns SUMMARY, for what the paper has no value of.
        config: what the runs were made with.
        counts, costs: as in the ledger.
        values: as `summary.values_of` returns it, for a table that marks its top groups.
    """
    found, counts = by_cell(summary) | (costs or {}), counts or {}
    rows = _rows_of_paper(paper, name, ledger, config, found, counts)
    rows += _rows_not_in_paper(paper, name, config, found, counts)
    frame = typed([{"paper": paper.paper, "artefact": name, **row} for row in rows], FRAME)
    if paper.artefacts[name].top_group and values:
        frame["top_group"] = _top_groups(frame, paper.artefacts[name], config, values)
    return table_of_frame(paper, name, frame, summary, config)


def table_of_frame(
    paper: Paper, name: str, frame: pd.DataFrame, summary: pd.DataFrame, config: Config
) -> Table:
    """Return a table of a paper from its csv.

    Args:
        paper, name, summary, config: as of `build_table`.
        frame: a row for each value, columns FRAME.
    """
    artefact, found = paper.artefacts[name], by_cell(summary)
    shown = [row | _more_about(row, artefact, config, found) for row in frame.to_dict("records")]
    title, place = artefact.title, f"Table {name.removeprefix('table')} of {paper.paper}"
    source = f"Published: {paper.citation}"
    if paper.paper == OWN:
        place, source = "", paper.citation
    elif not config.comparable:
        title = f"{title} ({OTHER_DATA})"
    return Table(
        label=f"tab:{paper.paper}-{name}",
        title=title,
        blocks=_blocks(artefact, shown),
        notes=[*notes_of(artefact, shown, config), source],
        frame=frame,
        place=place,
    )


def _top_groups(
    frame: pd.DataFrame, artefact: Artefact, config: Config, values: Values
) -> pd.Series:
    """Return, for each row that shows a score, whether it is in the top group of its column.

    Where the columns are systems, of its row.
    """
    top = pd.Series(pd.NA, frame.index, dtype="boolean")
    shown = frame[(frame["kind"] == SCORE) & frame["mean"].notna()]
    for _, part in shown.groupby("column" if artefact.systems_in == "row" else "row"):
        runs, paths = {}, {}
        for number, row in part.to_dict("index").items():
            cell = _cell(row, artefact, config)
            paths[number] = cell.path
            runs[cell.path] = values(cell, row["measure"])
        in_top = top_group(runs, config)
        top[list(paths)] = [path in in_top for path in paths.values()]
    return top


def _rows_of_paper(
    paper: Paper,
    name: str,
    ledger: pd.DataFrame,
    config: Config,
    found: Found,
    counts: AllCounts,
) -> list[dict]:
    """Return a row for each value and setting: as in the ledger, cited, or without a published."""
    own = ledger[(ledger["paper"] == paper.paper) & (ledger["artefact"] == name)]
    judged: dict[tuple[str, str], list[dict]] = {}
    for row in own.to_dict("records"):
        judged.setdefault((row["row"], row["column"]), []).append(row)
    rows = []
    for number in paper.artefacts[name].numbers():
        values = judged.get((number.row, number.column))
        if values is None and number.kind in (SCORE, COST, COUNT):
            values = _ours(number.coordinates, config, found, counts)
        described = _described(IN_PAPER, number.row, number.column, number.coordinates, config)
        for value in values or [{"published": number.published, "kind": number.kind}]:
            rows.append(described | value)
    return rows


def _rows_not_in_paper(
    paper: Paper, name: str, config: Config, found: Found, counts: AllCounts
) -> list[dict]:
    rows = []
    for system in extra_systems(config, paper, name):
        for row, column, coordinates in paper.artefacts[name].cells_of(
            config.systems[system].title
        ):
            coordinates = coordinates | Coordinates(system=system)
            described = _described(NOT_IN_PAPER, row, column, coordinates, config)
            rows += [described | value for value in _ours(coordinates, config, found, counts)]
    return rows


def _described(block: str, row: str, column: str, coordinates: Coordinates, config: Config) -> dict:
    system = config.systems.get(coordinates.system or "")
    described = {"block": block, "row": row, "column": column}
    return described | {
        "system": coordinates.system or "",
        "ranked_by": system.ranker.name if system else "",
    }


def _ours(coordinates: Coordinates, config: Config, found: Found, counts: AllCounts) -> list[dict]:
    """Return our values at a place, by setting, where nothing is published."""
    if reason := why_no_run(coordinates, config):
        return [{"kind": coordinates.kind, "verdict": NOT_RUN, "reason": reason}]
    if coordinates.kind == COUNT:
        return [
            count_of(coordinates, config, counts)
            | {"kind": COUNT, "measure": measured(coordinates)}
        ]
    if coordinates.kind == COST:
        return [
            cost_of(coordinates, config, found) | {"kind": COST, "measure": measured(coordinates)}
        ]
    return [
        found.get((cell, coordinates.measure), {"verdict": NOT_RUN, "reason": no_run(cell)})
        | {"kind": SCORE, "hyperparameters": hyperparameters}
        for hyperparameters, cell in cells_by_hyperparameters(coordinates, config).items()
    ]


def _more_about(row: dict, artefact: Artefact, config: Config, found: Found) -> dict[str, object]:
    """Return what a row does not say itself.

    That is `run`, the summary of what it shows, and `path`, the folder of that; `name`, what the
    table calls its system, and `system_at`, the name with a setting that was chosen.
    """
    run, path = None, ""
    if row["kind"] == SCORE and pd.notna(row["mean"]):
        cell = _cell(row, artefact, config)
        run, path = found.get((cell, row["measure"])), holding_cell(config, cell).path
    name = row[artefact.systems_in or "column"]
    if row["system"] in config.systems and not artefact.systems_in:
        name = config.systems[row["system"]].title
    at = f"{name} (tuned on dev)" if row["hyperparameters"] == TUNED else name
    return {"run": run, "path": path, "name": name, "system_at": at}


def _cell(row: dict, artefact: Artefact, config: Config) -> Cell:
    """Return the cell of a row of FRAME."""
    if row["block"] == IN_PAPER:
        coordinates = artefact.coordinates(row["row"], row["column"])
    else:
        in_rows = artefact.systems_in == "row"
        at = {"column": row["column"]} if in_rows else {"row": row["row"]}
        coordinates = artefact.coordinates(**at) | Coordinates(system=row["system"])
    return cells_by_hyperparameters(coordinates, config)[row["hyperparameters"]]


def _blocks(artefact: Artefact, rows: list[dict]) -> list[Block]:
    """Lay the values out as in the paper; systems that it lacks are rows of the last block."""
    paper, others = (
        [row for row in rows if row["block"] == block] for block in (IN_PAPER, NOT_IN_PAPER)
    )
    stated = [row for row in paper if row["hyperparameters"] != TUNED]
    chosen = [row for row in paper if row["hyperparameters"] == TUNED]
    system = {"System": "name", "ranked by": "ranked_by"}
    other = system | {"System": "system_at"}
    if artefact.systems_in == "row":
        place, of_others = system, ("Not in the paper", others, other, "column", _text)
    else:
        heading = "Not in the paper: mean {other questions}"
        place, of_others = {"": "row"}, (heading, others, other, "row", short_text)
    blocks = [
        ("In the paper" if chosen or others else "", stated, place, "column", _text),
        ("In the paper at the setting tuned on dev", chosen, place, "column", _text),
        of_others,
    ]
    return [_block(*block) for block in blocks if block[1]]


def _text(row: dict) -> Value:
    texts = {SCORE: full_text, COUNT: count_text, COST: cost_text, CITED: cited_text}
    return texts[row["kind"]](row)


def _block(
    heading: str,
    rows: list[dict],
    labels: dict[str, str],
    across: str,
    text: Callable[[dict], Value],
) -> Block:
    """Spread the values over the distinct entries of the column `across`, in their order."""
    columns = list(dict.fromkeys(row[across] for row in rows))
    # A row of systems is known by its system too: two may bear the same title.
    key = [*labels.values(), *(["system"] if "System" in labels else [])]
    cells: dict[tuple, dict[str, Value]] = {}
    for row in rows:
        cells.setdefault(tuple(row[name] for name in key), {})[row[across]] = text(row)._replace(
            verdict=row["verdict"], run=row["path"], bold=row["top_group"] is True
        )
    lines = [
        (list(names[: len(labels)]), [values.get(column, Value("")) for column in columns])
        for names, values in cells.items()
    ]
    return Block(heading, list(labels), columns, lines)
