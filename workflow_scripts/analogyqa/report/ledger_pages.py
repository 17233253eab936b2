"""The ledger as pages: every published number beside ours, its verdict in colour and in sign."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd
from jinja2 import Environment, PackageLoader

from analogyqa.report.ledger import (
    CANNOT_TELL,
    ENFORCED,
    HIGHER,
    LOWER,
    NOT_COMPARABLE,
    NOT_RUN,
    OTHER_DATA,
    REPRODUCED,
)
from analogyqa.report.table_formats import (
    MARKS,
    SUBSTITUTE,
    Block,
    Table,
    Value,
    cost_text,
    count_text,
    full_text,
)
from analogyqa.report.table_formats import to_markdown as table_to_markdown
from analogyqa.settings.paper import Paper
from analogyqa.settings.where import COST, SCORE

TITLE = "Published numbers and ours"
HOW_MANY = "How many published numbers, and what the agreement is worth"
# Blue, orange and grey are told apart with any colour vision. A miss is a miss in both directions.
SYMBOLS = {
    REPRODUCED: "🟦",
    HIGHER: "🟧",
    LOWER: "🟧",
    CANNOT_TELL: "⬜",
    ENFORCED: "⬛",
    NOT_RUN: "➖",
    NOT_COMPARABLE: "⬜",
}
_KEY = {
    REPRODUCED: "one further run of ours may well be at the published value",
    HIGHER: "ours lies above the published value, further than one run from another",
    LOWER: "ours lies below it, further than one run from another",
    CANNOT_TELL: "one further run may be at the published value, and as well at the value of what "
    "the paper compares it with; or there is one seed only; or several points of an axis may be "
    "the best",
    ENFORCED: "the pipeline refuses data with another count, so the agreement is no evidence",
    NOT_RUN: "for the reason in the note",
    NOT_COMPARABLE: OTHER_DATA,
}
_EVIDENCE = (REPRODUCED, HIGHER, LOWER, CANNOT_TELL)
_WITH_STAND_INS, _REPEATED = "with a stand-in", "printed before"
_READING = (
    "New evidence is what neither a stand-in made nor the pipeline enforces. A value that is "
    f"printed more than once counts where it stands first; elsewhere it is {_REPEATED}.",
    f"{SUBSTITUTE}: made {_WITH_STAND_INS} for a file that the paper names.",
    "A cell: mean ± standard deviation over seeds [one further run on the same questions] {other "
    "questions} (published) sign [note]. Counts have neither deviation nor interval; of the best "
    "point of an axis it is the point that is best most often in a bootstrap.",
    "Settings: paper, the stated one; chosen, the one that the dev split prefers; none where "
    "nothing is trained.",
)


class _Cell(NamedTuple):
    """What a page shows of one row of the ledger; `note` is a number, 0 for none."""

    verdict: str
    value: Value
    note: int = 0


class _Part(NamedTuple):
    """An artefact: its columns as printed, and for each row and setting the cell of each column."""

    title: str
    columns: list[str]
    rows: list[tuple[tuple[str, str], list[_Cell | None]]]


class _Page(NamedTuple):
    heads: list[str]
    counts: list[tuple[tuple[str, str], list[_Cell]]]
    parts: dict[str, list[_Part]]
    notes: list[str]


def to_markdown(ledger: pd.DataFrame, papers: Iterable[Paper]) -> str:
    """Return the ledger as GitHub Markdown, a table for each artefact of each paper.

    Args:
        ledger: of columns LEDGER.
        papers: the titles; one without a row in the ledger is left out.
    """
    papers = list(papers)
    page = _lay_out(ledger, papers)
    counts = [(list(names), [cell.value for cell in cells]) for names, cells in page.counts]
    blocks = [Block(HOW_MANY, ["Paper", "Setting"], page.heads, counts)]
    for paper, parts in page.parts.items():
        for part in parts:
            rows = [
                (list(labels), [Value(_marked(cell) if cell else "") for cell in cells])
                for labels, cells in part.rows
            ]
            blocks.append(Block(f"{paper}, {part.title}", ["Row", "Setting"], part.columns, rows))
    notes = [
        *(f"{_sign(verdict)}: {meaning}" for verdict, meaning in _KEY.items()),
        *_READING,
        *(f"[{number}] {note}" for number, note in enumerate(page.notes, 1)),
        *(paper.citation for paper in papers if paper.paper in page.parts),
    ]
    return table_to_markdown(Table("ledger", TITLE, blocks, notes, ledger))


def to_html(ledger: pd.DataFrame, papers: Iterable[Paper]) -> str:
    """Return the ledger as one HTML file that needs no other, as `to_markdown`."""
    page = _lay_out(ledger, papers := list(papers))
    templates = Environment(
        loader=PackageLoader("analogyqa.report"), autoescape=True, keep_trailing_newline=True
    )
    return templates.get_template("ledger.html").render(
        title=TITLE,
        how_many=HOW_MANY,
        heads=page.heads,
        words={verdict: _word(verdict) for verdict in SYMBOLS},
        key=_KEY,
        reading=_READING,
        counts=page.counts,
        papers=[
            (paper.paper, paper.citation, page.parts[paper.paper])
            for paper in papers
            if paper.paper in page.parts
        ],
        notes=page.notes,
    )


def _lay_out(ledger: pd.DataFrame, papers: Iterable[Paper]) -> _Page:
    heads = [f"New evidence: {_sign(each)}" for each in _EVIDENCE]
    heads += [f"{_WITH_STAND_INS}: {' / '.join(MARKS[each] for each in _EVIDENCE)}"]
    others = [each for each in SYMBOLS if each not in _EVIDENCE]
    heads += [*map(_sign, others), _REPEATED]
    counts = [
        (names, _counts(part, others))
        for names, part in ledger.groupby(["paper", "setting"], sort=False)
    ]
    notes: dict[str, int] = {}
    parts: dict[str, list[_Part]] = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            here = ledger[ledger["paper"].eq(paper.paper) & ledger["artefact"].eq(name)]
            if len(here):
                place = re.sub(r"(\d+)", r" \1", name).capitalize()
                title = f"{place}: {artefact.title}"
                columns = list(artefact.panels if artefact.is_figure else artefact.columns)
                rows = [
                    row
                    for label in here["row"].unique()
                    for row in _rows(here, label, columns, notes)
                ]
                parts.setdefault(paper.paper, []).append(_Part(title, columns, rows))
    return _Page(heads, counts, parts, list(notes))


def _counts(rows: pd.DataFrame, others: list[str]) -> list[_Cell]:
    """Count verdicts by what they are worth, each published value once."""
    once = rows[rows["repeats"] == ""]
    stands_in = once["substitute"] != ""

    def count(part: pd.DataFrame, verdict: str) -> str:
        return str(part["verdict"].eq(verdict).sum())

    cells = [_Cell(each, Value(count(once[~stands_in], each))) for each in _EVIDENCE]
    with_stand_ins = " / ".join(count(once[stands_in], each) for each in _EVIDENCE)
    cells.append(_Cell("", Value(with_stand_ins)))
    cells += [_Cell(each, Value(count(once, each))) for each in others]
    return [*cells, _Cell("", Value(str(len(rows) - len(once))))]


def _rows(
    ledger: pd.DataFrame, label: str, columns: list[str], notes: dict[str, int]
) -> list[tuple[tuple[str, str], list[_Cell | None]]]:
    """Return a printed row once for each setting; what has no setting stands in the first."""
    here = ledger[ledger["row"] == label]
    settings = [name for name in here["setting"].unique() if name] or [""]
    found = {
        (row["setting"] or settings[0], row["column"]): _cell(row, notes)
        for row in here.to_dict("records")
    }
    return [
        ((label, setting), [found.get((setting, column)) for column in columns])
        for setting in settings
    ]


def _cell(row: dict, notes: dict[str, int]) -> _Cell:
    text = cost_text if row["kind"] == COST else count_text
    value = full_text(row, questions=True) if row["kind"] == SCORE else text(row)
    stands_in = f"stands in: {row['substitute']}" if row["substitute"] else ""
    parts = [row["provenance"], stands_in, row["repeats"], row["reason"]]
    note = ". ".join(filter(None, parts))
    return _Cell(row["verdict"], value, notes.setdefault(note, len(notes) + 1) if note else 0)


def _word(verdict: str) -> str:
    return f"{MARKS.get(verdict, '')} {verdict}".strip()


def _sign(verdict: str) -> str:
    return f"{SYMBOLS[verdict]} {_word(verdict)}"


def _marked(cell: _Cell) -> str:
    note = f"[{cell.note}]" if cell.note else ""
    return " ".join(filter(None, [SYMBOLS[cell.verdict], *cell.value, note]))
