"""The tables of the papers, with ours beside the published values."""

from collections.abc import Callable

import pandas as pd

from analogyqa.plan import cells_by_setting, extra_systems, why_not
from analogyqa.report.ledger import NOT_RUN, OTHER_DATA, no_run
from analogyqa.report.summary import LEDGER, Found, by_cell, typed
from analogyqa.report.table_formats import (
    IN_PAPER,
    NOT_IN_PAPER,
    Block,
    Table,
    Value,
    cited_text,
    count_text,
    full_text,
    short_text,
)
from analogyqa.report.table_notes import names_of, notes_of
from analogyqa.settings.axes import CHOSEN
from analogyqa.settings.paper import CITED, OWN, QUESTIONS, SCORE, Artefact, Paper, Where
from analogyqa.settings.run import Config

_FIRST = ("paper", "artefact", "block", "row", "column", "system", "ranked_by")
_FRAME = dict.fromkeys(_FIRST, "str") | LEDGER


def build_table(
    paper: Paper, name: str, ledger: pd.DataFrame, summary: pd.DataFrame, config: Config
) -> Table:
    """Return a table of a paper; further systems come in a block of their own.

    Args:
        paper: the published values.
        name: which of its tables, such as `table4`.
        ledger: of columns LEDGER.
        summary: of columns SUMMARY, for what the paper has no value of.
        config: what the runs were made with.
    """
    artefact, found = paper.artefacts[name], by_cell(summary)
    start = {"paper": paper.paper, "artefact": name}
    rows = _rows_of_paper(paper, name, ledger, config, found)
    rows += _rows_not_in_paper(paper, name, config, found)
    frame = typed([start | row for row in rows], _FRAME)
    number = name.removeprefix("table")
    title = f"Table {number} of {paper.paper}: {artefact.title}"
    if paper.paper == OWN:
        title = artefact.title
    elif not config.comparable:
        title = f"{title} ({OTHER_DATA})"
    return Table(
        label=f"tab:{paper.paper}-{name}",
        title=title,
        blocks=_blocks(artefact, frame),
        notes=[*notes_of(artefact, frame, config, found), f"Published: {paper.citation}"],
        frame=frame,
    )


def _rows_of_paper(
    paper: Paper, name: str, ledger: pd.DataFrame, config: Config, found: Found
) -> list[dict]:
    """Return a row for each value and setting: as in the ledger, cited, or without a published."""
    artefact = paper.artefacts[name]
    own = ledger[(ledger["paper"] == paper.paper) & (ledger["artefact"] == name)]
    judged: dict[tuple[str, str], list[dict]] = {}
    for row in own.to_dict("records"):
        judged.setdefault((row["row"], row["column"]), []).append(row)
    rows = []
    for number in artefact.numbers():
        place = (number.row, number.column)
        if place in judged:
            values = judged[place]
        elif number.kind == CITED:
            values = [{"published": number.published, "kind": CITED}]
        else:
            values = _ours(number.where, config, found)
        system = number.where.system or ""
        ranker = config.systems[system].ranker if system in config.systems else ""
        described = {"block": IN_PAPER, "system": system, "ranked_by": ranker}
        rows += [
            {"row": number.row, "column": number.column, **described, **value} for value in values
        ]
    return rows


def _ours(where: Where, config: Config, found: Found) -> list[dict]:
    """Return our values at a place, by setting, where nothing is published."""
    if reason := why_not(where, config):
        return [{"kind": SCORE, "verdict": NOT_RUN, "reason": reason}]
    return [
        found.get((cell, where.measure), {"verdict": NOT_RUN, "reason": no_run(cell)})
        | {"kind": SCORE, "setting": setting}
        for setting, cell in cells_by_setting(where, config).items()
    ]


def _rows_not_in_paper(paper: Paper, name: str, config: Config, found: Found) -> list[dict]:
    artefact, rows = paper.artefacts[name], []
    for system in extra_systems(config, paper, name):
        section = config.systems[system]
        described = {"block": NOT_IN_PAPER, "system": system, "ranked_by": section.ranker}
        for row, column, where in artefact.cells_of(section.title):
            place = {"row": row, "column": column, **described}
            values = _ours(where | Where(system=system), config, found)
            rows += [value | place for value in values]
    return rows


def _blocks(artefact: Artefact, frame: pd.DataFrame) -> list[Block]:
    """Lay the values out as in the paper; systems that it lacks are rows of the last block."""
    if (frame["kind"] == QUESTIONS).all():
        return [_block("", frame, {"": "row"}, "column", count_text)]
    frame = frame.assign(system_at=_systems(artefact, frame))
    paper = frame[frame["block"] == IN_PAPER]
    others = frame[frame["block"] == NOT_IN_PAPER]
    system = {"System": "system_at", "ranked by": "ranked_by"}
    if artefact.systems_in_rows:
        blocks = [
            _block("In the paper" if len(others) else "", paper, system, "column", _text),
            _block("Not in the paper", others, system, "column", _text),
        ]
    elif not artefact.has_systems:
        blocks = [_block("", paper, {"": "row"}, "column", _text)]
    else:
        chosen, types = paper["setting"] == CHOSEN, {"": "row"}
        blocks = [
            _block("At the paper's setting", paper[~chosen], types, "column", _text),
            _block("At the setting chosen on dev", paper[chosen], types, "column", _text),
            _block("Not in the paper: mean [interval]", others, system, "row", short_text),
        ]
    return [block for block in blocks if block.rows]


def _text(row: dict) -> Value:
    return cited_text(row) if row["kind"] == CITED else full_text(row)


def _block(
    heading: str,
    frame: pd.DataFrame,
    labels: dict[str, str],
    across: str,
    text: Callable[[dict], Value],
) -> Block:
    """Spread the values over the distinct entries of the column `across`, in their order."""
    columns = list(frame[across].unique())
    # A row of systems is known by its system too: two may bear the same title.
    key = [*labels.values(), *(["system"] if "system_at" in labels.values() else [])]
    cells: dict[tuple, dict[str, Value]] = {}
    for row in frame.to_dict("records"):
        cells.setdefault(tuple(row[name] for name in key), {})[row[across]] = text(row)
    rows = [
        (list(names[: len(labels)]), [values.get(column, Value("")) for column in columns])
        for names, values in cells.items()
    ]
    return Block(heading, list(labels), columns, rows)


def _systems(artefact: Artefact, frame: pd.DataFrame) -> list[str]:
    """Return the system of each row, with its setting when it has been trained."""
    return [
        f"{name}, {setting} setting" if setting else name
        for name, setting in zip(names_of(artefact, frame), frame["setting"], strict=True)
    ]
