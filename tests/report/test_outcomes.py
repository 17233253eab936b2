"""The outcomes of a paper as sentences and as one line."""

import pandas as pd

from analogyqa.evaluation.claims import CLAIMS
from analogyqa.evaluation.published import LEDGER
from analogyqa.evaluation.summary import to_frame
from analogyqa.evaluation.verdicts import OUR_DATA
from analogyqa.report.outcomes import findings, headline, totals
from builders.report import make_paper

PAPER = make_paper()
NUMBER = {"paper": "tiny2020", "artefact": "table4", "kind": "score", "column": "MRR"}
CLAIM = {"paper": "tiny2020", "role": "secondary", "ours": False, "kind": "score"}


def make_ledger(*rows: dict) -> pd.DataFrame:
    return to_frame([NUMBER | {"row": str(n)} | row for n, row in enumerate(rows)], LEDGER)


def make_claims(*rows: dict) -> pd.DataFrame:
    return to_frame([CLAIM | {"claim": str(n)} | row for n, row in enumerate(rows)], CLAIMS)


LEDGER_OF_RUN = make_ledger(
    {"verdict": "reproduced", "published": 0.7, "mean": 0.71, "run_low": 0.6, "run_high": 0.8},
    {"verdict": "higher", "published": 0.7, "mean": 0.8, "run_low": 0.75, "run_high": 0.85},
    {"verdict": "lower", "published": 0.9, "mean": 0.6, "run_low": 0.5, "run_high": 0.65},
    {"verdict": "lower", "published": 0.9, "hyperparameters": "tuned"},
    {"verdict": "reproduced", "repeats": "also printed in table1 of tiny2020 (A, MRR)"},
    # A number that another paper prints, too, counts for both.
    {"verdict": "inconclusive", "repeats": "also printed in table1 of other2019 (A, MRR)"},
    {"verdict": "not run", "published": 0.5, "reason": "no run a/b/c/d"},
    {"verdict": "not run", "published": 0.5, "reason": "no run a/b/c/e"},
    {"verdict": "not run", "published": 0.5, "reason": "no data"},
    {"verdict": "did not learn", "published": 0.5, "mean": 0.5},
    {"verdict": "not comparable", "published": 0.5, "mean": 0.4, "data": OUR_DATA},
    {"verdict": "not run", "published": 0.5, "reason": "no data", "data": OUR_DATA},
    {"verdict": "lower", "published": 1200, "mean": 12, "kind": "count", "artefact": "table1"},
)
CLAIMS_OF_RUN = make_claims(
    {"role": "primary", "claim": "a", "text": "a is best", "verdict": "holds", "effect": 0.1}
    | {"low": 0.05, "high": 0.15, "p_value": 0.01},
    {"role": "primary", "claim": "a", "text": "a is best", "verdict": "fails", "p_value": 0.01},
    {"verdict": "fails"},
    {"verdict": "not run"},
    {"verdict": "did not learn"},
    {"verdict": "not run", "ours": True},
)


def test_the_sentences_and_the_line_are_as_reviewed(golden):
    """Each number counts once, and each claim by the protocol of the paper."""
    names = {"a": "holds", "b": "fails", "c": "holds"}
    claims = [{"role": "primary", "text": text, "verdict": at} for text, at in names.items()]
    once = make_ledger({"verdict": "reproduced"})
    lines = [
        *headline(PAPER, LEDGER_OF_RUN, CLAIMS_OF_RUN),
        *findings(PAPER, LEDGER_OF_RUN, CLAIMS_OF_RUN),
        *headline(PAPER, once, make_claims(*claims)),
        totals([PAPER], LEDGER_OF_RUN, CLAIMS_OF_RUN),
        totals([PAPER], LEDGER_OF_RUN[LEDGER_OF_RUN["data"].eq(OUR_DATA)], make_claims()),
    ]
    golden("\n".join(lines), "outcomes.txt")


def test_empty_results_give_no_sentence():
    assert findings(PAPER, make_ledger(), make_claims()) == []
    assert headline(PAPER, make_ledger(), make_claims()) == []
