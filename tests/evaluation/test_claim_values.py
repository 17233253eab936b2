"""Claims about norms and costs: the compared values, and the verdicts."""

import numpy as np
import pandas as pd
import pytest

from analogyqa.cells import Cell, claim_cells, claim_sides, norm_cells, systems_with_costs
from analogyqa.evaluation.claims import judge_claims, question_norms, with_norms_and_costs
from analogyqa.report.ledger_pages import claims_table
from analogyqa.report.table_formats import to_markdown
from analogyqa.runs.cost import STEPS, Cost, Costs
from analogyqa.schemas import INSIDE, write_table
from builders.report import HYPERBOLIC, make_paper, repository_config

CONFIG = repository_config()
HYPERQA = Cell("hyperqa", "trecqa", "all")
NORMS = {
    "claim": "questions are longer",
    "where": "Figure 5",
    "cells": {"system": "hyperqa", "dataset": "trecqa", "subset": "all"},
    "comparisons": [{"better": {"norm": "question"}, "worse": {"norm": "answer"}}],
}
FASTER = {
    "claim": "ten times faster",
    "where": "Table 7",
    "cells": {"dataset": "wikiqa", "subset": "all", "cost": "seconds_per_epoch"},
    "times": 10,
    "comparisons": [{"better": {"system": "hyperqa"}, "worse": {"system": "ap-bilstm"}}],
}


def inside(*rows: tuple[str, str, int, float]) -> pd.DataFrame:
    """Return an INSIDE table of rows (kind, question, label, norm)."""
    frame = pd.DataFrame(rows, columns=["kind", "question_id", "label", "norm"])
    return frame.assign(id="i", text="t", words=[[]] * len(rows), vector=[[]] * len(rows))


def make_norms(longer_by: float, questions: int = 20) -> pd.DataFrame:
    rows = []
    for number in range(questions):
        answer = 5 + number / questions
        rows.append(("question", f"q{number:02}", -1, answer + longer_by + 0.1 * (number % 3)))
        rows.append(("candidate", f"q{number:02}", 1, answer))
    return inside(*rows)


def make_costs(times: float, noise: float = 0.01) -> Costs:
    """Return costs in which a step of AP-BiLSTM takes `times` as long as one of HyperQA."""
    logs = np.random.default_rng(0).normal(0, noise, (2, STEPS))
    hyperqa, ap_bilstm = np.exp(logs - logs.mean(axis=1, keepdims=True)) * [[0.01], [0.01 * times]]
    return {
        ("wikiqa", "all", "hyperqa"): Cost(9, 50, hyperqa.tolist(), "m"),
        ("wikiqa", "all", "ap-bilstm"): Cost(9, 50, ap_bilstm.tolist(), "m"),
    }


def judge(claim: dict, norms: pd.DataFrame, costs: Costs, folder) -> tuple[dict, str]:
    """Return the row of a judged claim, and the page with its verdict."""
    path = folder / HYPERQA.path / "inside.parquet"
    path.parent.mkdir(parents=True)
    write_table(norms, INSIDE, path)
    values = with_norms_and_costs(lambda cell, measure: None, [path], costs)
    paper = make_paper(one=claim)
    verdicts, _ = judge_claims([paper], CONFIG, values, {})
    (row,) = verdicts.to_dict("records")
    return row, to_markdown(claims_table(verdicts, [paper], CONFIG))


class TestNorms:
    def test_a_question_has_its_norm_and_the_mean_norm_of_its_right_answers(self):
        norms = question_norms(
            inside(
                ("question", "a", -1, 3.0),
                ("candidate", "a", 1, 1.0),
                ("candidate", "a", 1, 2.0),
                ("candidate", "a", 0, 9.0),
                ("question", "without", -1, 4.0),
                ("word", None, -1, 7.0),
            )
        )
        assert norms.to_dict("index") == {"a": {"question": 3.0, "answer": 1.5}}

    @pytest.mark.parametrize(
        ("longer_by", "verdict"), [(1, "holds"), (-1, "fails"), (-0.1, "undecided")]
    )
    def test_norms_are_compared_by_question(self, tmp_path, longer_by, verdict):
        row, page = judge(NORMS, make_norms(longer_by), {}, tmp_path)
        assert (row["verdict"], row["kind"], row["n_items"]) == (verdict, "norm", 20)
        assert row["effect"] == pytest.approx(longer_by + 0.1 * np.mean([n % 3 for n in range(20)]))
        # The margin within which scores are equivalent does not apply to norms.
        assert row["equivalent"] == "no" and pd.isna(row["detectable"])
        assert f"| {row['effect']:+.3f} [" in page


class TestCosts:
    @pytest.mark.parametrize(
        ("factor", "times", "verdict"),
        [(10, 30, "holds"), (10, 3, "fails"), (10, 10, "undecided"), (10, 0.1, "fails"),
         (1, 1.5, "holds")],
    )  # fmt: skip
    def test_costs_are_compared_by_step_and_the_ratio_decides(
        self, tmp_path, factor, times, verdict
    ):
        row, page = judge(FASTER | {"times": factor}, make_norms(0), make_costs(times), tmp_path)
        assert (row["verdict"], row["kind"], row["protocol"]) == (verdict, "cost", "steps")
        assert row["effect"] == pytest.approx(times, rel=0.02)
        assert row["low"] < times * 1.02 and row["high"] > times * 0.98
        assert row["evidence"].startswith(f"hyperqa 0.5, ap-bilstm {0.5 * times:.3g} (")
        assert f"{row['effect']:.3g} times [" in page
        assert "interleaved training steps" in page

    def test_a_claim_about_unmeasured_costs_is_not_run(self, tmp_path):
        row, _ = judge(FASTER, make_norms(0), {}, tmp_path)
        assert row["verdict"] == "not run"


class TestRequiredRuns:
    def test_claims_about_norms_need_a_run_and_claims_about_costs_need_none(self):
        paper = make_paper(norms=NORMS, costs=FASTER)
        assert norm_cells(CONFIG, paper) == [HYPERQA]
        assert claim_cells(CONFIG, paper) == [HYPERQA]
        assert systems_with_costs(claim_sides(paper.claims.values()), CONFIG) == {
            ("wikiqa", "all"): ["hyperqa", "ap-bilstm"]
        }

    def test_hyperqa_has_claims_about_scores_norms_and_costs(self):
        claims = HYPERBOLIC.claims.values()
        assert {claim.kind for claim in claims} == {"score", "norm", "cost"}
