"""The claims as tables: the primary claims, and all claims of each paper."""

from collections.abc import Iterable

import pandas as pd

from analogyqa.evaluation.claims import (
    CLAIM_MARKS,
    EQUIVALENT,
    FOLDS,
    STEPS,
    UNDECIDED,
    effect_text,
)
from analogyqa.evaluation.significance import POWER, significance_level
from analogyqa.evaluation.verdicts import OTHER_DATA
from analogyqa.report.table_formats import Block, Table, Value
from analogyqa.report.table_notes import LEARNT, PAIRED_TEST, percent
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

PRIMARY = "Primary claims"  # a heading that papers/publish.py reads
LABELS = ["Claim", "Where", "Judged on", "Verdict"]
COLUMNS = [
    "Effect", "p-value", "Items", "Seeds", "Detectable", "Power", "Needed", "Evidence",
]  # fmt: skip
FORMS = {
    "p_value": "{p_value:.2g}",
    "n_items": "{n_items}",
    "n_seeds": "{n_seeds}",
    "detectable": "{detectable:.3f}",
    "power": "{power:.0%} at {paper_effect:+.3f}",
    "items_needed": "{items_needed:.0f}",
}
LEGEND = (
    PAIRED_TEST,
    "Evidence: for each comparison both means over questions and seeds, their difference, and the "
    "one-sided p-value of the claimed direction. Costs are compared by interleaved training steps "
    "of both systems.",
    "Verdict: a claim holds if as many of its comparisons as it needs are true, and fails if so "
    "many are reversed that it cannot hold (partial conjunction). If the claim names a tolerance, "
    "a comparison is true down to it.",
    "Correction: none for primary claims; Holm's for all secondary claims of a paper with the same "
    "hyperparameters. Our own claims are corrected separately.",
    "Effect: that of the deciding comparison; for costs, how many times cheaper the better side "
    "is.",
    "Items: questions, or the pairs that analogies ask for; all sentence pairs that templates make "
    "of one pair of words are one item.",
    f"{EQUIVALENT.capitalize()}: one comparison of scores, not decided, whose difference is below "
    "half of the published one, or below the margin that the claim names, by two one-sided tests. "
    f"{UNDECIDED.capitalize()}: all others.",
    f"Detectable: the smallest true difference that these data find with probability {POWER:.0%}. "
    "Power: the probability of finding the paper's own difference if it is true. Needed: the "
    f"items for a power of {POWER:.0%}; empty if no number suffices with so few seeds.",
    "Cross-validated: all questions of the subset; each fold is tested by systems trained on the "
    "others, with the paper's hyperparameters. This is not the paper's protocol.",
    LEARNT,
    "Tuned on dev: each system with the hyperparameters that its dev split prefers. A claim has "
    "no such row if one of its trained systems is not tuned.",
)


def claims_table(frame: pd.DataFrame, papers: Iterable[Paper], config: Config) -> Table:
    """Return the primary claims, the number of verdicts, and last the claims of each paper.

    `frame` are the verdicts, columns CLAIMS.
    """
    # A paper that was added to the configuration later has no verdicts yet.
    papers = [paper for paper in papers if paper.paper in set(frame["paper"])]
    primary = frame[frame["primary"]].assign(primary=False)
    rows = [([p.paper, *labels], texts) for p in papers for labels, texts in _rows(primary, p)]
    blocks = [Block(PRIMARY, ["Paper", *LABELS], COLUMNS, rows)] if rows else []
    blocks += [_verdict_counts(frame), *(b for p in papers for b in claim_blocks(p, frame))]
    notes = [] if config.comparable else [f"{OTHER_DATA.capitalize()}: no verdict is on a paper."]
    notes += [f"Intervals: {percent(config)}. Level: {significance_level(config):g}.", *LEGEND]
    title = "Claims of the papers" if config.comparable else f"Claims ({OTHER_DATA})"
    return Table(title, blocks, [*notes, *(f"Claims of {paper.citation}" for paper in papers)])


def claim_blocks(paper: Paper, frame: pd.DataFrame) -> list[Block]:
    """Return a block with the claims of a paper, and one with ours about it, if there are any."""
    headings = {False: f"Claims of {paper.paper}", True: f"Our claims about {paper.paper}"}
    return [
        Block(heading, LABELS, COLUMNS, rows)
        for ours, heading in headings.items()
        if (rows := _rows(frame[frame["ours"].eq(ours)], paper))
    ]


def judged_on(row: dict) -> str:
    """Return the data and the hyperparameters that a verdict rests on."""
    if row["protocol"] == STEPS:
        return "interleaved training steps"
    is_cross_validated = row["protocol"] == FOLDS
    data = "all questions, cross-validated" if is_cross_validated else "the test questions"
    which = {TUNED: ", hyperparameters tuned on dev", "": ""}
    return data + which.get(row["hyperparameters"], ", the paper's hyperparameters")


def _rows(frame: pd.DataFrame, paper: Paper) -> list[tuple[list[str], list[Value]]]:
    records = frame[frame["paper"].eq(paper.paper)].to_dict("records")
    return [_row(row, paper) for row in records]


def _row(row: dict, paper: Paper) -> tuple[list[str], list[Value]]:
    has_run = pd.notna(row["p_value"])
    texts = [
        effect_text(row["effect"], row, row["kind"]) if has_run else "",
        *("" if pd.isna(row[name]) else form.format(**row) for name, form in FORMS.items()),
        "; ".join(filter(None, [row["evidence"], row["reason"]])),
    ]
    claim = f"{row['text']} (primary)" if row["primary"] else row["text"]
    verdict = f"{CLAIM_MARKS[row['verdict']]} {row['verdict']}"
    labels = [claim, paper.claims[row["claim"]].where, judged_on(row), verdict]
    return labels, [Value(text) for text in texts]


def _verdict_counts(frame: pd.DataFrame) -> Block:
    labels = frame["primary"].map({True: "primary", False: "secondary"})
    labels = labels.where(~frame["ours"], labels + ", ours")
    keys = ["paper", "kind", "protocol", "hyperparameters"]
    groups = frame.assign(kind=labels).groupby(keys, sort=False, dropna=False)["verdict"]
    rows = [
        (list(names), [Value(str(verdicts.eq(verdict).sum())) for verdict in CLAIM_MARKS])
        for names, verdicts in groups
    ]
    heads = [f"{mark} {verdict}" for verdict, mark in CLAIM_MARKS.items()]
    return Block("Verdicts", ["Paper", "Claims", "Protocol", "Hyperparameters"], heads, rows)
