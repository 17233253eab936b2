"""The primary claims as cards."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from analogyqa.evaluation.claims import CLAIM_MARKS, UNDECIDED, effect_text
from analogyqa.measures import MEASURES
from analogyqa.report.claims_page import judged_on
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.tasks import task_of


class Interval(NamedTuple):
    """Where an effect, its interval and the published effect are, in percent of the width.

    No effect is in the middle, at 50; all cards of a paper have one scale. `published` is None if
    none is printed.
    """

    low: float
    effect: float
    high: float
    published: float | None


class Judgement(NamedTuple):
    """A verdict on a claim: the data and settings it rests on, facts in words, and a drawing."""

    judged_on: str
    verdict: str
    mark: str
    facts: list[str]
    interval: Interval | None


class ClaimCard(NamedTuple):
    """A primary claim of a paper with its judgements."""

    paper: str
    claim: str
    where: str
    judgements: list[Judgement]


def claim_cards(claims: pd.DataFrame, papers: Iterable[Paper], config: Config) -> list[ClaimCard]:
    """Return a card for each primary claim; `claims` are the verdicts, columns CLAIMS."""
    primary = claims[claims["primary"]]
    cards = []
    for paper in papers:
        of_paper = primary[primary["paper"] == paper.paper]
        largest = of_paper[["low", "high", "paper_effect"]].abs().max(axis=None)
        largest = largest or 1  # equal systems
        for name, rows in of_paper.groupby("claim", sort=False):
            claim = paper.claims[str(name)]
            side = claim.sides()[0][0]
            dataset = config.datasets.get(side.dataset)  # None if it is not configured
            items = task_of(dataset).items if dataset else ""
            judgements = [_judgement(row, largest, items) for row in rows.to_dict("records")]
            where = f"{claim.where}; {MEASURES[side.measured].short}"
            cards.append(ClaimCard(paper.paper, claim.claim, where, judgements))
    return cards


def _judgement(row: dict, largest: float, items: str) -> Judgement:
    mark = CLAIM_MARKS[row["verdict"]]
    if pd.isna(row["p_value"]):
        return Judgement(judged_on(row), row["verdict"], mark, [row["reason"]], None)
    facts = [
        # Without the effect, which follows.
        row["evidence"].rpartition(" (")[0],
        f"{effect_text(row['effect'], row, row['kind'])}, p = {row['p_value']:.2g}",
        f"{row['n_items']} {items}, seeds: {row['n_seeds']}",
        _needed(row, items),
        row["reason"],
    ]
    low, effect, high, published = (
        round(50 + 48 * row[name] / largest, 1)
        for name in ("low", "effect", "high", "paper_effect")
    )
    interval = Interval(low, effect, high, None if pd.isna(published) else published)
    facts = [fact for fact in facts if fact]
    return Judgement(judged_on(row), row["verdict"], mark, facts, interval)


def _needed(row: dict, items: str) -> str:
    """Return how many items would find the published difference, or what these items would find."""
    if row["verdict"] != UNDECIDED:
        return ""
    if pd.isna(row["paper_effect"]):
        return f"a difference of {row['detectable']:.3f} would probably be found"
    published = f"the published {row['paper_effect']:+.3f}"
    if pd.isna(row["items_needed"]):
        return f"with so few seeds, no number of {items} would show {published}"
    return f"about {row['items_needed']:.0f} {items} would show {published}"
