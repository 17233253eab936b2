"""The ledger as pages: every published number beside ours, its verdict in colour and in sign."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pandas as pd

from analogyqa.report.html_pages import render
from analogyqa.report.ledger import (
    ENFORCED,
    HIGHER,
    INCONCLUSIVE,
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
from analogyqa.settings.coordinates import COST, SCORE
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import Paper
from analogyqa.settings.studies import PAPER

TITLE = "Published numbers and ours"
HOW_MANY = "How many published numbers, and what the agreement is worth"
# Blue, orange and grey are told apart with any colour vision. A miss is a miss in both directions.
SYMBOLS = {
    REPRODUCED: "🟦",
    HIGHER: "🟧",
    LOWER: "🟧",
    INCONCLUSIVE: "⬜",
    ENFORCED: "⬛",
    NOT_RUN: "➖",
    NOT_COMPARABLE: "✖",
}
# What stands behind a published value that has no mark in a table.
_OTHER_MARKS = {NOT_RUN: "–", NOT_COMPARABLE: "×"}
_KEY = {
    REPRODUCED: "one further run of ours may well be at the published value; where every seed "
    "gives the same, ours is equal at the printed digits",
    HIGHER: "ours lies above the published value, further than one run from another",
    LOWER: "ours lies below it, as far",
    INCONCLUSIVE: "one further run may be at the published value, and as well at the value of what "
    "the paper compares it with; or there is one seed only; or several points of an axis may be "
    "the best",
    ENFORCED: "the pipeline refuses data with another count, so the agreement is no evidence",
    NOT_RUN: "for the reason in the note",
    NOT_COMPARABLE: OTHER_DATA,
}
_EVIDENCE = (REPRODUCED, HIGHER, LOWER, INCONCLUSIVE)
_SETTINGS = (PAPER, TUNED, "")
_WITH_SUBSTITUTES, _REPEATED = "with a substitute", "printed before"
_READING = (
    "New evidence is what neither a substitute made nor the pipeline enforces. A value that is "
    f"printed more than once counts where it stands first; elsewhere it is {_REPEATED}.",
    f"{SUBSTITUTE}: made {_WITH_SUBSTITUTES} for a file that the paper names.",
    "A cell: mean ± standard deviation over seeds [one further run on the same questions] {other "
    "questions} (published) sign [note]. Counts have neither deviation nor interval; of the best "
    "point of an override it is the point that is best most often in a bootstrap.",
    "A score without ± has no run-to-run spread: every seed gave the same, as of a system that "
    "draws nothing. One further run lies nowhere else, so the published value is held against the "
    "rounding of what is printed. With one seed nothing is known of further runs.",
    "Settings: paper, the stated one; chosen, the one that the dev split prefers; none where "
    "nothing is trained.",
)


class _Cell(NamedTuple):
    """What a page shows of one row of the ledger; `note` is a number, 0 for none."""

    value: Value
    note: int = 0


class _Part(NamedTuple):
    """An artefact: its columns as printed, and for each row and setting the cell of each column."""

    title: str
    columns: list[str]
    rows: list[tuple[tuple[str, str], list[_Cell | None]]]


class _Page(NamedTuple):
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
    blocks = [verdict_counts(ledger, _sign)]
    for parts in page.parts.values():
        for part in parts:
            rows = [
                (list(labels), [Value(_marked(cell) if cell else "") for cell in cells])
                for labels, cells in part.rows
            ]
            blocks.append(Block(part.title, ["Row", "Setting"], part.columns, rows))
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
    return render(
        "ledger.html",
        title=TITLE,
        counts=verdict_counts(ledger, word_of),
        key=key_of_verdicts(),
        reading=_READING,
        papers=[
            (paper.paper, paper.citation, page.parts[paper.paper])
            for paper in papers
            if paper.paper in page.parts
        ],
        notes=page.notes,
    )


def key_of_verdicts() -> dict[str, dict[str, str]]:
    """Return verdict to its word with its sign, and to what it means."""
    return {
        verdict: {"word": word_of(verdict), "meaning": meaning} for verdict, meaning in _KEY.items()
    }


def verdict_counts(ledger: pd.DataFrame, sign: Callable[[str], str]) -> Block:
    """Return how many numbers have which verdict, a row for each paper and setting.

    Args:
        ledger: of columns LEDGER.
        sign: what a column calls its verdict.
    """
    heads = [f"New evidence: {sign(each)}" for each in _EVIDENCE]
    heads += [f"{_WITH_SUBSTITUTES}: {' / '.join(MARKS[each] for each in _EVIDENCE)}"]
    others = [each for each in SYMBOLS if each not in _EVIDENCE]
    heads += [*map(sign, others), _REPEATED]
    rows = []
    for paper, own in ledger.groupby("paper", sort=False):
        settings = sorted(own["hyperparameters"].unique(), key=_SETTINGS.index)
        rows += [
            (
                [paper, hyperparameters],
                _counts(own[own["hyperparameters"] == hyperparameters], others),
            )
            for hyperparameters in settings
        ]
    return Block(HOW_MANY, ["Paper", "Setting"], heads, rows)


def _lay_out(ledger: pd.DataFrame, papers: Iterable[Paper]) -> _Page:
    notes: dict[str, int] = {}
    parts: dict[str, list[_Part]] = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            here = ledger[ledger["paper"].eq(paper.paper) & ledger["artefact"].eq(name)]
            if len(here):
                place = re.sub(r"(\d+)", r" \1", name).capitalize()
                title = f"{place} of {paper.paper}: {artefact.title}"
                columns = list(artefact.panels if artefact.is_figure else artefact.columns)
                # Of a figure the points of its override stand here, and not what its panels show.
                best = f"best {next(iter(artefact.x), '')}"
                heads = [f"{best} by {panel}" if panel else best for panel in columns]
                rows = [
                    row
                    for label in here["row"].unique()
                    for row in _rows(here, label, columns, notes)
                ]
                parts.setdefault(paper.paper, []).append(
                    _Part(title, heads if artefact.is_figure else columns, rows)
                )
    return _Page(parts, list(notes))


def _counts(rows: pd.DataFrame, others: list[str]) -> list[Value]:
    """Count verdicts by what they are worth, each published value once."""
    once = rows[rows["repeats"] == ""]
    stands_in = once["substitute"] != ""

    def count(part: pd.DataFrame, verdict: str) -> Value:
        number = part["verdict"].eq(verdict).sum()
        return Value(str(number), verdict=verdict if number else "")

    values = [count(once[~stands_in], each) for each in _EVIDENCE]
    values.append(Value(" / ".join(count(once[stands_in], each).ours for each in _EVIDENCE)))
    values += [count(once, each) for each in others]
    return [*values, Value(str(len(rows) - len(once)))]


def _rows(
    ledger: pd.DataFrame, label: str, columns: list[str], notes: dict[str, int]
) -> list[tuple[tuple[str, str], list[_Cell | None]]]:
    """Return a printed row once for each setting; what has no setting stands in the first."""
    here = ledger[ledger["row"] == label]
    settings = [name for name in here["hyperparameters"].unique() if name] or [""]
    found = {
        (row["hyperparameters"] or settings[0], row["column"]): _cell(row, notes)
        for row in here.to_dict("records")
    }
    return [
        ((label, hyperparameters), [found.get((hyperparameters, column)) for column in columns])
        for hyperparameters in settings
    ]


def _cell(row: dict, notes: dict[str, int]) -> _Cell:
    text = cost_text if row["kind"] == COST else count_text
    value = full_text(row, questions=True) if row["kind"] == SCORE else text(row)
    stands_in = f"stands in: {row['substitute']}" if row["substitute"] else ""
    parts = [row["provenance"], stands_in, row["repeats"], row["reason"]]
    note = ". ".join(filter(None, parts))
    value = value._replace(verdict=row["verdict"])
    return _Cell(value, notes.setdefault(note, len(notes) + 1) if note else 0)


def word_of(verdict: str) -> str:
    """Return a verdict with its sign."""
    return f"{(MARKS | _OTHER_MARKS)[verdict]} {verdict}"


def _sign(verdict: str) -> str:
    mark = f" {MARKS[verdict]}" if verdict in MARKS else ""
    return f"{SYMBOLS[verdict]}{mark} {verdict}"


def _marked(cell: _Cell) -> str:
    note = f"[{cell.note}]" if cell.note else ""
    return " ".join(filter(None, [SYMBOLS[cell.value.verdict], *cell.value.parts, note]))
