"""The ledger as pages: every published number beside ours, its verdict in colour and in sign."""

import re
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import pandas as pd

from analogyqa.report.ledger import HIGHER, LOWER, NOT_COMPARABLE, NOT_RUN, OTHER_DATA, REPRODUCED
from analogyqa.report.table_formats import MARKS, Block, Table, Value, count_text, full_text
from analogyqa.report.table_formats import to_markdown as table_to_markdown
from analogyqa.settings.paper import Paper

TITLE = "Published numbers and ours"
# Blue, orange and grey are told apart with any colour vision. A miss is a miss in both directions.
SYMBOLS = {REPRODUCED: "🟦", HIGHER: "🟧", LOWER: "🟧", NOT_RUN: "➖", NOT_COMPARABLE: "⬜"}
_KEY = {
    REPRODUCED: "the published value lies in our interval, or equals our count",
    HIGHER: "ours lies above the published value",
    LOWER: "ours lies below the published value",
    NOT_RUN: "for the reason in the note",
    NOT_COMPARABLE: OTHER_DATA,
}
_READING = (
    "A cell: mean ± standard deviation over seeds [interval over seeds and questions] (published) "
    "sign [note]. Counts and best numbers of prototypes have neither deviation nor interval.",
    "Settings: paper, the stated one; chosen, the one that the dev split prefers; none where "
    "nothing is trained.",
)
_STYLE = """
:root { color-scheme: light dark; --hit: #cfe6f7; --miss: #ffd8b0; --none: #e9e9e9; }
@media (prefers-color-scheme: dark) { :root { --hit: #10456b; --miss: #7a3d00; --none: #3a3a3a; } }
body { font: 1rem/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; }
main { padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1.5rem 0; }
caption { font-weight: 600; padding: .3rem 0; text-align: left; white-space: nowrap; }
th, td { border: 1px solid #8888; padding: .3rem .6rem; text-align: left; }
td { font-variant-numeric: tabular-nums; white-space: nowrap; }
.reproduced { background: var(--hit); }
.higher, .lower { background: var(--miss); }
.not-run, .not-comparable { background: var(--none); }
""".strip()


class _Cell(NamedTuple):
    """What a page shows of one row of the ledger; `note` is a number, 0 for none."""

    verdict: str
    value: Value
    note: int


class _Part(NamedTuple):
    """An artefact: its columns as printed, and for each row and setting the cell of each column."""

    title: str
    columns: list[str]
    rows: list[tuple[str, str, list[_Cell | None]]]


class _Page(NamedTuple):
    counts: list[tuple[str, str, dict[str, int]]]
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
    blocks = [
        Block(
            "How many",
            ["Paper", "Setting"],
            [_sign(verdict) for verdict in SYMBOLS],
            [
                ([paper, setting], [Value(str(counts[verdict])) for verdict in SYMBOLS])
                for paper, setting, counts in page.counts
            ],
        )
    ]
    for paper, parts in page.parts.items():
        for part in parts:
            rows = [
                ([row, setting], [Value(_marked(cell)) if cell else Value("") for cell in cells])
                for row, setting, cells in part.rows
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
    papers = list(papers)
    page = _lay_out(ledger, papers)
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        '<head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{TITLE}</title>",
        f"<style>\n{_STYLE}\n</style></head>",
        "<body><main>",
        f"<h1>{TITLE}</h1>",
        *_html_table(
            "How many",
            ["Paper", "Setting", *map(_word, SYMBOLS)],
            [
                ([paper, setting], [_html_cell(name, str(counts[name])) for name in SYMBOLS])
                for paper, setting, counts in page.counts
            ],
        ),
        "<ul>",
        *(
            f'<li><span class="{_class(name)}">{escape(_word(name))}</span>: {escape(meaning)}</li>'
            for name, meaning in _KEY.items()
        ),
        *(f"<li>{escape(note)}</li>" for note in _READING),
        "</ul>",
    ]
    for paper in papers:
        if paper.paper not in page.parts:
            continue
        lines += [f"<h2>{escape(paper.paper)}</h2>", f"<p>{escape(paper.citation)}</p>"]
        for part in page.parts[paper.paper]:
            rows = [
                ([row, setting], [_html_number(cell) if cell else "<td></td>" for cell in cells])
                for row, setting, cells in part.rows
            ]
            lines += _html_table(part.title, ["Row", "Setting", *part.columns], rows)
    lines += ["<h2>Notes</h2>", "<ol>"]
    lines += [
        f'<li id="note{number}">{escape(note)}</li>' for number, note in enumerate(page.notes, 1)
    ]
    lines += ["</ol>", "</main></body>", "</html>"]
    return "\n".join(lines) + "\n"


def _lay_out(ledger: pd.DataFrame, papers: Iterable[Paper]) -> _Page:
    counts = [
        (*names, {verdict: int(part["verdict"].eq(verdict).sum()) for verdict in SYMBOLS})
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
                columns = list(artefact.columns)
                rows = [
                    row for label in artefact.rows for row in _rows(here, label, columns, notes)
                ]
                parts.setdefault(paper.paper, []).append(_Part(title, columns, rows))
    return _Page(counts, parts, list(notes))


def _rows(
    ledger: pd.DataFrame, label: str, columns: list[str], notes: dict[str, int]
) -> list[tuple[str, str, list[_Cell | None]]]:
    """Return a printed row once for each setting; what has no setting stands in the first."""
    here = ledger[ledger["row"] == label]
    settings = [name for name in here["setting"].unique() if name] or [""]
    found = {
        (row["setting"] or settings[0], row["column"]): _cell(row, notes)
        for row in here.to_dict("records")
    }
    return [
        (label, setting, [found.get((setting, column)) for column in columns])
        for setting in settings
    ]


def _cell(row: dict, notes: dict[str, int]) -> _Cell:
    value = full_text(row) if row["metric"] in ("map", "mrr") else count_text(row)
    note = ". ".join(filter(None, [row["provenance"], row["reason"]]))
    return _Cell(row["verdict"], value, notes.setdefault(note, len(notes) + 1) if note else 0)


def _word(verdict: str) -> str:
    return f"{MARKS.get(verdict, '')} {verdict}".strip()


def _sign(verdict: str) -> str:
    return f"{SYMBOLS[verdict]} {_word(verdict)}"


def _marked(cell: _Cell) -> str:
    note = f"[{cell.note}]" if cell.note else ""
    return " ".join(filter(None, [SYMBOLS[cell.verdict], *cell.value, note]))


def _html_table(
    caption: str, heads: list[str], rows: list[tuple[list[str], list[str]]]
) -> list[str]:
    """Return a table; `rows` are texts of row heads, and cells that are HTML already."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = [
        "<tr>"
        + "".join(f'<th scope="row">{escape(text)}</th>' for text in labels)
        + "".join(cells)
        + "</tr>"
        for labels, cells in rows
    ]
    return [
        f'<div class="wide"><table><caption>{escape(caption)}</caption>',
        f"<thead><tr>{head}</tr></thead>",
        "<tbody>",
        *body,
        "</tbody></table></div>",
    ]


def _html_number(cell: _Cell) -> str:
    note = f'<sup><a href="#note{cell.note}">{cell.note}</a></sup>' if cell.note else ""
    return _html_cell(cell.verdict, " ".join(filter(None, cell.value)), note)


def _html_cell(verdict: str, text: str, note: str = "") -> str:
    return f'<td class="{_class(verdict)}">{escape(text)}{note}</td>'


def _class(verdict: str) -> str:
    return verdict.replace(" ", "-")
