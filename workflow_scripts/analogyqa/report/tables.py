"""The tables of the papers: our values next to the published ones."""

from collections.abc import Callable
from typing import NamedTuple

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
from analogyqa.report.summary import LEDGER, Summaries, Values, by_cell, typed
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
    """Return a table of a paper; systems that the paper lacks have a block of their own.

    Args:
        paper: the published values.
        name: the table, such as `table4`.
        ledger: columns LEDGER.
        summary: columns SUMMARY, for values that the paper lacks.
        config: the configuration of the runs.
        counts, costs: as in `build_ledger`.
        values: as `summary.values_of` returns it; needed if the table marks its top groups.
    """
    ours = _Ours(config, by_cell(summary), counts or {}, costs or {})
    rows = [*_paper_rows(paper, name, ledger, ours), *_other_rows(paper, name, ours)]
    frame = typed([{"paper": paper.paper, "artefact": name, **row} for row in rows], FRAME)
    if paper.artefacts[name].top_group and values:
        frame["top_group"] = _top_groups(frame, paper.artefacts[name], config, values)
    return table_of_frame(paper, name, frame, summary, config)


def table_of_frame(
    paper: Paper, name: str, frame: pd.DataFrame, summary: pd.DataFrame, config: Config
) -> Table:
    """Return a table of a paper from its csv.

    Args:
        paper, name, summary, config: as in `build_table`.
        frame: columns FRAME, a row for each value.
    """
    artefact, summaries = paper.artefacts[name], by_cell(summary)
    shown = [
        row | _display_facts(row, artefact, config, summaries) for row in frame.to_dict("records")
    ]
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
    """Return whether each score is in the top group of its column.

    If the columns are systems, the groups are those of the rows.
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


class _Ours(NamedTuple):
    """Our values: summary rows by cell and measure, counts by data set, and costs."""

    config: Config
    summaries: Summaries
    counts: AllCounts
    costs: Costs

    def rows_at(self, coordinates: Coordinates) -> list[dict]:
        """Return our values at some coordinates, one for each set of hyperparameters."""
        kind = coordinates.kind
        if reason := why_no_run(coordinates, self.config):
            return [{"kind": kind, "verdict": NOT_RUN, "reason": reason}]
        if kind == COUNT:
            row = count_of(coordinates, self.config, self.counts)
            return [row | {"kind": kind, "measure": measured(coordinates)}]
        if kind == COST:
            row = cost_of(coordinates, self.config, self.costs)
            return [row | {"kind": kind, "measure": measured(coordinates)}]
        return [
            self.summaries.get(
                (cell, coordinates.measure), {"verdict": NOT_RUN, "reason": no_run(cell)}
            )
            | {"kind": SCORE, "hyperparameters": hyperparameters}
            for hyperparameters, cell in cells_by_hyperparameters(coordinates, self.config).items()
        ]


def _paper_rows(paper: Paper, name: str, ledger: pd.DataFrame, ours: _Ours) -> list[dict]:
    """Return a row for each value and set of hyperparameters.

    A published value has the rows of the ledger; values that are only cited, or not printed, have
    none there.
    """
    in_table = ledger[(ledger["paper"] == paper.paper) & (ledger["artefact"] == name)]
    judged: dict[tuple[str, str], list[dict]] = {}
    for row in in_table.to_dict("records"):
        judged.setdefault((row["row"], row["column"]), []).append(row)
    rows = []
    for number in paper.artefacts[name].numbers():
        values = judged.get((number.row, number.column))
        if values is None and number.kind in (SCORE, COST, COUNT):
            values = ours.rows_at(number.coordinates)
        labels = _labels(IN_PAPER, number.row, number.column, number.coordinates, ours.config)
        for value in values or [{"published": number.published, "kind": number.kind}]:
            rows.append(labels | value)
    return rows


def _other_rows(paper: Paper, name: str, ours: _Ours) -> list[dict]:
    """Return the rows of the systems that the paper lacks."""
    rows, config = [], ours.config
    for system in extra_systems(config, paper, name):
        cells = paper.artefacts[name].cells_of(config.systems[system].title)
        for row, column, coordinates in cells:
            coordinates = coordinates | Coordinates(system=system)
            labels = _labels(NOT_IN_PAPER, row, column, coordinates, config)
            rows += [labels | value for value in ours.rows_at(coordinates)]
    return rows


def _labels(block: str, row: str, column: str, coordinates: Coordinates, config: Config) -> dict:
    system = config.systems.get(coordinates.system or "")
    labels = {"block": block, "row": row, "column": column}
    return labels | {
        "system": coordinates.system or "",
        "ranked_by": system.ranker.name if system else "",
    }


def _display_facts(
    row: dict, artefact: Artefact, config: Config, summaries: Summaries
) -> dict[str, object]:
    """Return what a row of FRAME needs to be shown.

    Returns: `run`, the summary row of its score or None; `path`, the folder of that run; `name`,
        the system as the table calls it; `system_at`, the name with tuned hyperparameters.
    """
    run, path = None, ""
    if row["kind"] == SCORE and pd.notna(row["mean"]):
        cell = _cell(row, artefact, config)
        run, path = summaries.get((cell, row["measure"])), holding_cell(config, cell).path
    name = row[artefact.systems_in or "column"]
    if row["system"] in config.systems and not artefact.systems_in:
        name = config.systems[row["system"]].title
    system_at = f"{name} (tuned on dev)" if row["hyperparameters"] == TUNED else name
    return {"run": run, "path": path, "name": name, "system_at": system_at}


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
    """Lay out the values as in the paper; systems that it lacks are rows of the last block."""
    paper, others = (
        [row for row in rows if row["block"] == block] for block in (IN_PAPER, NOT_IN_PAPER)
    )
    stated = [row for row in paper if row["hyperparameters"] != TUNED]
    tuned = [row for row in paper if row["hyperparameters"] == TUNED]
    system = {"System": "name", "ranked by": "ranked_by"}
    other_system = system | {"System": "system_at"}
    if artefact.systems_in == "row":
        labels, last = system, ("Not in the paper", others, other_system, "column", _text)
    else:
        heading = "Not in the paper: mean {other questions}"
        labels, last = {"": "row"}, (heading, others, other_system, "row", short_text)
    blocks = [
        ("In the paper" if tuned or others else "", stated, labels, "column", _text),
        ("In the paper, hyperparameters tuned on dev", tuned, labels, "column", _text),
        last,
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
    """Return a block with a column for each distinct value of the key `across`, in their order."""
    columns = list(dict.fromkeys(row[across] for row in rows))
    # Two systems may have the same title, so the system is a part of the key.
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
