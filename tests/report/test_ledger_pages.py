"""The ledger as Markdown."""

import pandas as pd

from analogyqa.evaluation.claims import CLAIMS
from analogyqa.evaluation.published import FRAME, IN_PAPER, LEDGER, NOT_IN_PAPER
from analogyqa.evaluation.summary import to_frame
from analogyqa.evaluation.verdicts import OUR_DATA, PAPER_DATA
from analogyqa.report.ledger_pages import claims_in_short, compared_scores, to_markdown
from analogyqa.report.table_formats import markdown_table
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
    },
    first={
        "claim": "ours | leads",
        "where": "Table 1",
        "cells": {"dataset": "wikiqa", "subset": "comb", "measure": "mrr"},
        "comparisons": [{"better": {"system": "analogy"}, "worse": {"system": "ghost"}}],
    },
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


def test_scores_are_compared_side_by_side_or_below_each_other(golden):
    """Only what the paper prints and we have is shown, with the hyperparameters of the paper."""
    one_seed = {"run_low": 0.6, "run_high": 0.6}
    substituted = {"substitute": "ours for theirs"}
    rows = [
        make_row("Who", "Theirs", "higher", **substituted),
        make_row("Who", "Ours", "lower", hyperparameters="paper", published=0.75),
        make_row("Who", "Ours", "reproduced", hyperparameters="tuned"),
        make_row("Comb.", "Theirs", "not run"),
        make_row("Comb.", "Ours", "not comparable", data=OUR_DATA, **one_seed, **substituted),
        make_row("Comb.", "Theirs", "", kind="cited"),
        make_row("Comb.", "New", "", published=None),
    ]
    frame = to_frame([{"block": IN_PAPER} | row for row in rows], FRAME)
    more = make_row("Comb.", "Third", "did not learn", n_learned=1, n_trained=2)
    others = [{"block": IN_PAPER} | more, {"block": NOT_IN_PAPER} | more | {"row": "Who"}]
    wide = pd.concat([frame, to_frame(others, FRAME)])
    tables = [compared_scores(shown, PAPER.artefacts["table1"]) for shown in (frame, wide)]
    claim = {"paper": "tiny2020", "claim": "first", "text": "ours | leads", "kind": "score"}
    claim |= {"role": "secondary", "protocol": "cross-validated", "n_items": 391}
    decided = {"effect": -0.08, "low": -0.15, "high": -0.01, "p_value": 0.02, "verdict": "fails"}
    claims = to_frame([claim | decided, claim | {"verdict": "not run"}], CLAIMS)
    tables.append(claims_in_short(claims, PAPER))
    golden("\n\n".join(map(markdown_table, tables)), "in_short.md")
