"""The ledger as a page: every published number next to ours, with a verdict."""

from collections.abc import Iterable
from itertools import chain

import pandas as pd

from analogyqa.evaluation.verdicts import HIGHER, INCONCLUSIVE, LOOKS, LOWER, MARKS, REPRODUCED
from analogyqa.report.table_formats import Block, Table, Value, value_text
from analogyqa.report.table_formats import to_markdown as table_to_markdown
from analogyqa.report.table_notes import INTERVALS, SUBSTITUTES, cell_legend, heading
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import Paper
from analogyqa.settings.studies import PAPER

TITLE = "Published numbers and ours"
HOW_MANY = "Published numbers by verdict"
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


def to_markdown(ledger: pd.DataFrame, papers: Iterable[Paper]) -> str:
    """Return the ledger as GitHub Markdown, with a table for each artefact.

    Papers without a row in the ledger are left out.
    """
    papers = list(papers)
    blocks, numbered_notes = _lay_out(ledger, papers)
    notes = [
        *(f"{_sign(verdict)}: {look.meaning}" for verdict, look in LOOKS.items()),
        *LEGEND,
        *(f"[{number}] {note}" for number, note in enumerate(numbered_notes, 1)),
        *(paper.citation for paper in papers if paper.paper in blocks),
    ]
    counts = _verdict_counts(ledger)
    return table_to_markdown(Table(TITLE, [counts, *chain.from_iterable(blocks.values())], notes))


def _verdict_counts(ledger: pd.DataFrame) -> Block:
    """Return the number of each verdict, by paper and hyperparameters."""
    heads = [f"New evidence: {_sign(verdict)}" for verdict in _EVIDENCE]
    heads += [f"{_WITH_SUBSTITUTES}: {' / '.join(MARKS[verdict] for verdict in _EVIDENCE)}"]
    others = [verdict for verdict in LOOKS if verdict not in _EVIDENCE]
    heads += [*map(_sign, others), _REPEATED]
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

    def count(part: pd.DataFrame, verdict: str) -> str:
        return str(part["verdict"].eq(verdict).sum())

    counts = [count(once[~has_substitute], verdict) for verdict in _EVIDENCE]
    counts.append(" / ".join(count(once[has_substitute], verdict) for verdict in _EVIDENCE))
    counts += [count(once, verdict) for verdict in others]
    return [*map(Value, counts), Value(str(len(rows) - len(once)))]


def _lay_out(
    ledger: pd.DataFrame, papers: Iterable[Paper]
) -> tuple[dict[str, list[Block]], list[str]]:
    """Return the blocks of each paper in the ledger, one for each artefact, and their notes."""
    notes: dict[str, int] = {}
    blocks: dict[str, list[Block]] = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            judged = ledger[ledger["paper"].eq(paper.paper) & ledger["artefact"].eq(name)]
            if judged.empty:
                continue
            columns = heads = list(artefact.panels if artefact.is_figure else artefact.columns)
            if artefact.is_figure:
                # The ledger has the best points of a figure, not what its panels show.
                best = f"best {next(iter(artefact.x), '')}"
                heads = [f"{best} by {panel}" if panel else best for panel in columns]
            rows = [
                row
                for _, part in judged.groupby("row", sort=False)
                for row in _rows(part.to_dict("records"), columns, notes)
            ]
            title = heading(paper, name, artefact.title)
            block = Block(title, ["Row", "Hyperparameters"], heads, rows)
            blocks.setdefault(paper.paper, []).append(block)
    return blocks, list(notes)


def _rows(
    printed: list[dict], columns: list[str], notes: dict[str, int]
) -> list[tuple[list[str], list[Value]]]:
    """Return a printed row once for each set of hyperparameters.

    A value without hyperparameters is in the first of them.
    """
    names = list(dict.fromkeys(filter(None, (row["hyperparameters"] for row in printed)))) or [""]
    values = {
        (row["hyperparameters"] or names[0], row["column"]): _value(row, notes) for row in printed
    }
    return [
        ([printed[0]["row"], name], [values.get((name, column), Value("")) for column in columns])
        for name in names
    ]


def _value(row: dict, notes: dict[str, int]) -> Value:
    """Return a value as one text, with the symbol of its verdict and the number of its note."""
    value = value_text(row, both_intervals=True)
    substitute = f"substitute: {row['substitute']}" if row["substitute"] else ""
    parts = [row["provenance"], substitute, row["repeats"], row["reason"]]
    note = ". ".join(filter(None, parts))
    number = f"[{notes.setdefault(note, len(notes) + 1)}]" if note else ""
    return Value(" ".join(filter(None, [LOOKS[row["verdict"]].colour, *value.parts, number])))


def _sign(verdict: str) -> str:
    """Return a verdict with its colour and its mark."""
    mark = f" {MARKS[verdict]}" if verdict in MARKS else ""
    return f"{LOOKS[verdict].colour}{mark} {verdict}"
