"""The ledger as Markdown."""

import pandas as pd

from analogyqa.evaluation.published import LEDGER
from analogyqa.evaluation.summary import to_frame
from analogyqa.evaluation.verdicts import OUR_DATA, PAPER_DATA
from analogyqa.report.ledger_pages import to_markdown
from builders.report import make_paper

NASTY = 'A <script>alert("c")</script> & | d'
PAPER = make_paper(
    {
        "table1": {
            "title": NASTY,
            "cells": {"dataset": "wikiqa", "measure": "mrr"},
            "columns": {"Theirs": {"system": "ghost"}, "Ours": {"system": "analogy"}},
            "rows": {"Who": {"subset": "who"}, "Comb.": {"subset": "comb"}},
            "published": {"Who": [0.1, 0.75], "Comb.": [0.2, 0.4]},
        },
        "figure2": {
            "title": "Best dropout",
            "cells": {"system": "analogy", "subset": "comb", "measure": "mrr"},
            "x": {"dropout": [0, 0.25, 0.5]},
            "lines": {"WikiQA": {"dataset": "wikiqa"}},
            "panels": {"MRR": {}},
            "best": {"WikiQA": [0.5]},
        },
    }
)


def make_row(row: str, column: str, verdict: str, **values) -> dict:
    defaults = {"paper": "tiny2020", "artefact": "table1", "measure": "mrr", "kind": "score"}
    measured = {"mean": 0.6, "sd": 0.01, "run_low": 0.5, "run_high": 0.7, "n_seeds": 2}
    measured |= {"ci_low": 0.4, "ci_high": 0.8}
    defaults |= {"data": PAPER_DATA, "published": 0.5, **({} if verdict == "not run" else measured)}
    return defaults | {"row": row, "column": column, "verdict": verdict} | values


def make_ledger(*added_rows: dict) -> pd.DataFrame:
    trained = {"provenance": "trained here"}
    best = {"artefact": "figure2", "kind": "best", "mean": 0.25, "sd": None, "published": 0.5}
    rows = [
        make_row("Who", "Theirs", "not run", reason=f"no {NASTY}"),
        make_row("Who", "Ours", "lower", hyperparameters="paper", published=0.75, **trained),
        make_row("Who", "Ours", "reproduced", hyperparameters="tuned", published=0.65, **trained),
        make_row("Comb.", "Theirs", "not run", reason=f"no {NASTY}"),
        make_row("Comb.", "Ours", "higher", hyperparameters="paper", published=0.4, **trained),
        make_row("WikiQA", "MRR", "lower", hyperparameters="paper", reason="equal means", **best),
        *added_rows,
    ]
    return to_frame(rows, LEDGER)


def test_the_page_is_as_reviewed(golden):
    """Each value counts once, by its verdict and whether a substitute made it."""
    substituted = {"hyperparameters": "paper", "substitute": "ours for theirs"}
    repeats = {"hyperparameters": "paper", "repeats": "printed in table0, too"}
    ledger = make_ledger(
        make_row("C", "Theirs", "higher", **substituted),
        make_row("D", "Theirs", "inconclusive", **substituted),
        make_row("A", "Ours", "enforced", hyperparameters="paper"),
        make_row("B", "Ours", "reproduced", **repeats),
        make_row("E", "Theirs", "not comparable", data=OUR_DATA),
    )
    golden(to_markdown(ledger, [PAPER]), "ledger.md")


def test_an_empty_ledger_has_no_tables():
    page = to_markdown(make_ledger().iloc[:0], [PAPER])
    assert "Published numbers and ours" in page
    assert "Table 1" not in page
    assert "Tiny" not in page
