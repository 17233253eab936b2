"""The ledger as a page: every published number next to ours, with a verdict."""

from collections.abc import Iterable
from itertools import product

import pandas as pd

from analogyqa.evaluation.verdicts import HIGHER, INCONCLUSIVE, LOOKS, LOWER, MARKS, REPRODUCED
from analogyqa.report.table_formats import Block, Table, Value, value_text
from analogyqa.report.table_formats import to_markdown as table_to_markdown
from analogyqa.report.table_notes import INTERVALS, SUBSTITUTES, cell_legend, heading
from analogyqa.settings.artefacts import Artefact
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
    blocks = [_verdict_counts(ledger)]
    notes: dict[str, int] = {}
    citations: dict[str, None] = {}
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            judged = ledger[ledger["paper"].eq(paper.paper) & ledger["artefact"].eq(name)]
            if not judged.empty:
                title = heading(paper, name, artefact.title)
                blocks.append(_artefact_block(title, artefact, judged, notes))
                citations[paper.citation] = None
    all_notes = [
        *(f"{_sign(verdict)}: {look.meaning}" for verdict, look in LOOKS.items()),
        *LEGEND,
        *(f"[{number}] {note}" for note, number in notes.items()),
        *citations,
    ]
    return table_to_markdown(Table(TITLE, blocks, all_notes))


def _verdict_counts(ledger: pd.DataFrame) -> Block:
    """Return the number of each verdict, by paper and hyperparameters; each value counts once."""
    others = [verdict for verdict in LOOKS if verdict not in _EVIDENCE]
    heads = [
        *(f"New evidence: {_sign(verdict)}" for verdict in _EVIDENCE),
        f"{_WITH_SUBSTITUTES}: {' / '.join(MARKS[verdict] for verdict in _EVIDENCE)}",
        *map(_sign, others),
        _REPEATED,
    ]
    lines = []
    for paper, name in product(ledger["paper"].unique(), _HYPERPARAMETERS):
        rows = ledger[ledger["paper"].eq(paper) & ledger["hyperparameters"].eq(name)]
        once = rows[rows["repeats"] == ""]
        has_substitute = once["substitute"] != ""
        new, substituted, every = (
            {verdict: str(part["verdict"].eq(verdict).sum()) for verdict in LOOKS}
            for part in (once[~has_substitute], once[has_substitute], once)
        )
        counts = [new[verdict] for verdict in _EVIDENCE]
        counts.append(" / ".join(substituted[verdict] for verdict in _EVIDENCE))
        counts += [*(every[verdict] for verdict in others), str(len(rows) - len(once))]
        if len(rows):
            lines.append(([paper, name], list(map(Value, counts))))
    return Block(HOW_MANY, ["Paper", "Hyperparameters"], heads, lines)


def _artefact_block(
    title: str, artefact: Artefact, judged: pd.DataFrame, notes: dict[str, int]
) -> Block:
    """Return the block of a table or figure, and add its notes, each with its number.

    A printed row is there once for each set of hyperparameters. A value without hyperparameters is
    in the first of them.
    """
    columns = heads = list(artefact.panels if artefact.is_figure else artefact.columns)
    if artefact.is_figure:
        # The ledger has the best points of a figure, not what its panels show.
        best = f"best {next(iter(artefact.x), '')}"
        heads = [f"{best} by {panel}" if panel else best for panel in columns]
    rows = []
    for label, part in judged.groupby("row", sort=False):
        names = list(dict.fromkeys(filter(None, part["hyperparameters"]))) or [""]
        values = {
            (row["hyperparameters"] or names[0], row["column"]): _value(row, notes)
            for row in part.to_dict("records")
        }
        for name in names:
            cells = [values.get((name, column), Value("")) for column in columns]
            rows.append(([str(label), name], cells))
    return Block(title, ["Row", "Hyperparameters"], heads, rows)


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
