"""The ledger as Markdown."""

import pandas as pd

from analogyqa.evaluation.published import LEDGER
from analogyqa.evaluation.summary import to_frame
from analogyqa.report.ledger_pages import to_markdown
from builders.report import cells_in_markdown, make_paper

OURS = ".600 ± .010 [.500, .700] {.400, .800}"
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
    defaults |= {"published": 0.5, **({} if verdict == "not run" else measured)}
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


def test_the_page_has_the_verdict_counts_and_the_rows_of_each_artefact():
    page = to_markdown(make_ledger(), [PAPER])
    rows = [row for row in cells_in_markdown(page) if not row[0].startswith("-")]
    assert rows[1:4] + rows[5:8] + rows[9:] == [
        ["tiny2020", "paper", "0", "1", "2", "0", "0 / 0 / 0 / 0", "0", "0", "0", "0"],
        ["tiny2020", "tuned", "1", "0", "0", "0", "0 / 0 / 0 / 0", "0", "0", "0", "0"],
        ["tiny2020", "", "0", "0", "0", "0", "0 / 0 / 0 / 0", "0", "2", "0", "0"],
        ["Who", "paper", "➖ not run (.500) [1]", f"🟧 {OURS} (.750) ↓ [2]"],
        ["Who", "tuned", "", f"🟦 {OURS} (.650) = [2]"],
        ["Comb.", "paper", "➖ not run (.500) [1]", f"🟧 {OURS} (.400) ↑ [2]"],
        ["WikiQA", "paper", "🟧 0.25 (0.5) ↓ [3]"],
    ]
    headings = [line for line in page.splitlines() if " of tiny2020: " in line]
    assert headings == [
        f"## Table 1 of tiny2020: {NASTY}",
        "## Figure 2 of tiny2020: Best dropout",
    ]
    assert f"- [1] no {NASTY}\n- [2] trained here\n" in page


def test_verdicts_are_counted_once_for_each_value():
    substituted = {"hyperparameters": "paper", "substitute": "ours for theirs"}
    added_rows = [
        make_row("Who", "Theirs", "higher", **substituted),
        make_row("Comb.", "Theirs", "inconclusive", **substituted),
        make_row("A", "Ours", "enforced", hyperparameters="paper"),
        make_row(
            "B", "Ours", "reproduced", hyperparameters="paper", repeats="printed in table0, too"
        ),
    ]
    page = to_markdown(make_ledger(*added_rows), [PAPER])
    head, *_ = cells_in_markdown(page)
    counts = next(row for row in cells_in_markdown(page) if row[:2] == ["tiny2020", "paper"])
    assert dict(zip(head[2:], counts[2:], strict=True)) == {
        "New evidence: 🟦 = reproduced": "0",
        "New evidence: 🟧 ↑ higher": "1",
        "New evidence: 🟧 ↓ lower": "2",
        "New evidence: ⬜ ? inconclusive": "0",
        "with a substitute: = / ↑ / ↓ / ?": "0 / 1 / 0 / 1",
        "⬛ ≡ enforced": "1",
        "➖ not run": "0",
        "✖ not comparable": "0",
        "printed before": "1",
    }
    assert "(.500) ↑† [" in page
    assert "substitute: ours for theirs" in page and "printed in table0, too" in page


def test_the_columns_of_a_figure_are_its_best_points():
    rows = cells_in_markdown(to_markdown(make_ledger(), [PAPER]))
    cells = {cell for row in rows for cell in row}
    assert "best dropout by MRR" in cells and "MRR" not in cells


def test_an_empty_ledger_has_no_tables():
    page = to_markdown(make_ledger().iloc[:0], [PAPER])
    assert "Published numbers and ours" in page
    assert "Table 1" not in page
    assert "Tiny" not in page
