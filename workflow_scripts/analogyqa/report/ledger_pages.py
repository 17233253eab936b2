"""The ledger as pages: every published number next to ours, with a verdict."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pandas as pd

from analogyqa.report.html_pages import render
from analogyqa.report.kinds import KINDS
from analogyqa.report.legend import INTERVALS, MEANINGS, SUBSTITUTES, cell_legend
from analogyqa.report.table_formats import (
    MARKS,
    Block,
    Table,
    Value,
    full_text,
)
from analogyqa.report.table_formats import to_markdown as table_to_markdown
from analogyqa.report.verdicts import (
    ENFORCED,
    HIGHER,
    INCONCLUSIVE,
    LOWER,
    NOT_COMPARABLE,
    NOT_RUN,
    REPRODUCED,
)
from analogyqa.settings.coordinates import SCORE
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import Paper
from analogyqa.settings.studies import PAPER

TITLE = "Published numbers and ours"
HOW_MANY = "Published numbers by verdict"
# Blue, orange and grey differ for any colour vision. Misses in both directions have one colour.
SYMBOLS = {
    REPRODUCED: "🟦",
    HIGHER: "🟧",
    LOWER: "🟧",
    INCONCLUSIVE: "⬜",
    ENFORCED: "⬛",
    NOT_RUN: "➖",
    NOT_COMPARABLE: "✖",
}
# Signs of the verdicts that have no mark in a table.
_OTHER_MARKS = {NOT_RUN: "–", NOT_COMPARABLE: "×"}
_EVIDENCE = (REPRODUCED, HIGHER, LOWER, INCONCLUSIVE)
_HYPERPARAMETERS = (PAPER, TUNED, "")
_WITH_SUBSTITUTES, _REPEATED = "with a substitute", "printed before"
LEGEND = (
    cell_legend(" (published) mark [note]", both_intervals=True),
    INTERVALS,
    SUBSTITUTES,
    f"New evidence: neither made {_WITH_SUBSTITUTES} nor enforced. A value that is printed several "
    f"times counts once; its other places are {_REPEATED}.",
    "Counts: no deviation and no interval. Best point of a curve: the point that is best most "
    "often in a bootstrap.",
    "Hyperparameters: paper, as printed; tuned, chosen on dev; empty if nothing is trained.",
)


class _Cell(NamedTuple):
    """What a page shows of one row of the ledger; `note` is the number of its note, 0 for none."""

    value: Value
    note: int = 0


class _Part(NamedTuple):
    """An artefact: its columns, and the cells of each printed row by hyperparameters."""

    title: str
    columns: list[str]
    rows: list[tuple[tuple[str, str], list[_Cell | None]]]


class _Page(NamedTuple):
    parts: dict[str, list[_Part]]
    notes: list[str]


def to_markdown(ledger: pd.DataFrame, papers: Iterable[Paper]) -> str:
    """Return the ledger as GitHub Markdown, with a table for each artefact.

    Args:
        ledger: columns LEDGER.
        papers: give the titles; papers without a row in the ledger are left out.
    """
    papers = list(papers)
    page = _lay_out(ledger, papers)
    blocks = [verdict_counts(ledger, _sign)]
    for parts in page.parts.values():
        for part in parts:
            rows = [
                (list(labels), [Value(_text(cell) if cell else "") for cell in cells])
                for labels, cells in part.rows
            ]
            blocks.append(Block(part.title, ["Row", "Hyperparameters"], part.columns, rows))
    notes = [
        *(f"{_sign(verdict)}: {meaning}" for verdict, meaning in MEANINGS.items()),
        *LEGEND,
        *(f"[{number}] {note}" for number, note in enumerate(page.notes, 1)),
        *(paper.citation for paper in papers if paper.paper in page.parts),
    ]
    return table_to_markdown(Table("ledger", TITLE, blocks, notes, ledger))


def to_html(ledger: pd.DataFrame, papers: Iterable[Paper]) -> str:
    """Return the ledger as one self-contained HTML file; arguments as in `to_markdown`."""
    page = _lay_out(ledger, papers := list(papers))
    return render(
        "ledger.html",
        title=TITLE,
        counts=verdict_counts(ledger, verdict_with_sign),
        verdicts=verdict_meanings(),
        legend=LEGEND,
        papers=[
            (paper.paper, paper.citation, page.parts[paper.paper])
            for paper in papers
            if paper.paper in page.parts
        ],
        notes=page.notes,
    )


def verdict_meanings() -> list[tuple[str, str, str]]:
    """Return each verdict, the verdict with its sign, and its meaning."""
    return [(verdict, verdict_with_sign(verdict), MEANINGS[verdict]) for verdict in MEANINGS]


def verdict_counts(ledger: pd.DataFrame, sign: Callable[[str], str]) -> Block:
    """Return the number of each verdict, by paper and hyperparameters.

    Args:
        ledger: columns LEDGER.
        sign: returns the head of a verdict's column.
    """
    heads = [f"New evidence: {sign(verdict)}" for verdict in _EVIDENCE]
    heads += [f"{_WITH_SUBSTITUTES}: {' / '.join(MARKS[verdict] for verdict in _EVIDENCE)}"]
    others = [verdict for verdict in SYMBOLS if verdict not in _EVIDENCE]
    heads += [*map(sign, others), _REPEATED]
    rows = [
        ([paper, name], _counts(part[part["hyperparameters"] == name], others))
        for paper, part in ledger.groupby("paper", sort=False)
        for name in _HYPERPARAMETERS
        if part["hyperparameters"].eq(name).any()
    ]
    return Block(HOW_MANY, ["Paper", "Hyperparameters"], heads, rows)


def _counts(rows: pd.DataFrame, others: list[str]) -> list[Value]:
    """Count the verdicts by their evidence, and each published value once."""
    once = rows[rows["repeats"] == ""]
    has_substitute = once["substitute"] != ""

    def count(part: pd.DataFrame, verdict: str) -> Value:
        number = part["verdict"].eq(verdict).sum()
        return Value(str(number), verdict=verdict if number else "")

    values = [count(once[~has_substitute], verdict) for verdict in _EVIDENCE]
    counts = (count(once[has_substitute], verdict).ours for verdict in _EVIDENCE)
    values.append(Value(" / ".join(counts)))
    values += [count(once, verdict) for verdict in others]
    return [*values, Value(str(len(rows) - len(once)))]


def _lay_out(ledger: pd.DataFrame, papers: Iterable[Paper]) -> _Page:
    notes: dict[str, int] = {}
    parts: dict[str, list[_Part]] = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            judged = ledger[ledger["paper"].eq(paper.paper) & ledger["artefact"].eq(name)]
            if judged.empty:
                continue
            number = re.sub(r"(\d+)", r" \1", name).capitalize()
            columns = list(artefact.panels if artefact.is_figure else artefact.columns)
            rows = [
                row
                for label in judged["row"].unique()
                for row in _rows(judged, label, columns, notes)
            ]
            if artefact.is_figure:
                # The ledger has the best points of a figure, not what its panels show.
                best = f"best {next(iter(artefact.x), '')}"
                columns = [f"{best} by {panel}" if panel else best for panel in columns]
            title = f"{number} of {paper.paper}: {artefact.title}"
            parts.setdefault(paper.paper, []).append(_Part(title, columns, rows))
    return _Page(parts, list(notes))


def _rows(
    ledger: pd.DataFrame, label: str, columns: list[str], notes: dict[str, int]
) -> list[tuple[tuple[str, str], list[_Cell | None]]]:
    """Return a printed row once for each set of hyperparameters.

    A value without hyperparameters is in the first of them.
    """
    rows = ledger[ledger["row"] == label]
    names = [name for name in rows["hyperparameters"].unique() if name] or [""]
    cells = {
        (row["hyperparameters"] or names[0], row["column"]): _cell(row, notes)
        for row in rows.to_dict("records")
    }
    return [((label, name), [cells.get((name, column)) for column in columns]) for name in names]


def _cell(row: dict, notes: dict[str, int]) -> _Cell:
    text = KINDS[row["kind"]].text
    value = full_text(row, questions=True) if row["kind"] == SCORE else text(row)
    substitute = f"substitute: {row['substitute']}" if row["substitute"] else ""
    parts = [row["provenance"], substitute, row["repeats"], row["reason"]]
    note = ". ".join(filter(None, parts))
    value = value._replace(verdict=row["verdict"])
    return _Cell(value, notes.setdefault(note, len(notes) + 1) if note else 0)


def verdict_with_sign(verdict: str) -> str:
    return f"{(MARKS | _OTHER_MARKS)[verdict]} {verdict}"


def _sign(verdict: str) -> str:
    """Return a verdict with its colour and its mark."""
    mark = f" {MARKS[verdict]}" if verdict in MARKS else ""
    return f"{SYMBOLS[verdict]}{mark} {verdict}"


def _text(cell: _Cell) -> str:
    note = f"[{cell.note}]" if cell.note else ""
    return " ".join(filter(None, [SYMBOLS[cell.value.verdict], *cell.value.parts, note]))
