"""What a run found about each paper, in sentences and in one line."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, repeat

import pandas as pd

from analogyqa.evaluation.claims import (
    EQUIVALENT,
    FAILS,
    HOLDS,
    PRIMARY,
    SECONDARY,
    UNDECIDED,
)
from analogyqa.evaluation.verdicts import (
    ENFORCED,
    HIGHER,
    INCONCLUSIVE,
    LOWER,
    NO_RUN,
    NOT_LEARNED,
    NOT_RUN,
    OUR_DATA,
    REPRODUCED,
)
from analogyqa.report.table_formats import three_decimals
from analogyqa.report.tables import printed_name
from analogyqa.settings.artefacts import BEST
from analogyqa.settings.coordinates import COST, COUNT, SCORE
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import Paper

_CLAIM_VERBS = {
    HOLDS: ("holds", "hold"),
    FAILS: ("fails", "fail"),
    UNDECIDED: ("is undecided", "are undecided"),
    EQUIVALENT: ("compares equivalent systems", "compare equivalent systems"),
    NOT_LEARNED: ("is about a system that did not learn", "are about systems that did not learn"),
    NOT_RUN: ("was not tested", "were not tested"),
}
KIND_NOUNS = {SCORE: "scores", COUNT: "counts", COST: "costs", BEST: "best points of curves"}


def published_once(ledger: pd.DataFrame, paper: Paper) -> pd.DataFrame:
    """Return the rows of a ledger with each number that a paper prints once.

    A number that another paper prints, too, counts for both. The value is that with the paper's
    hyperparameters, if there are others.
    """
    rows = ledger[ledger["paper"] == paper.paper]
    is_repeated = rows["repeats"].str.contains(f" of {paper.paper} (", regex=False)
    return rows[~is_repeated & rows["hyperparameters"].ne(TUNED)]


def headline(paper: Paper, ledger: pd.DataFrame, claims: pd.DataFrame) -> list[str]:
    """Return how the primary claims of a paper were judged, and how many numbers came out.

    These are at most two sentences.

    Args:
        ledger: The verdicts on its numbers, columns LEDGER; empty if our data are not the paper's.
        claims: The verdicts on its claims, columns CLAIMS.
    """
    primary = _claims(_first_judgements(paper, claims, PRIMARY), "primary claim")
    parts = primary, _numbers(published_once(ledger, paper))
    return [sentence for sentence in map(_sentence, parts) if sentence]


def findings(paper: Paper, ledger: pd.DataFrame, claims: pd.DataFrame) -> list[str]:
    """Return what was found about a paper beside its headline, in at most three sentences."""
    once = published_once(ledger, paper)
    others = _first_judgements(paper, claims, SECONDARY)
    sentences = [_farthest(once), _sentence(_claims(others, "other claim")), _missing(once)]
    return [sentence for sentence in sentences if sentence]


def totals(papers: Sequence[Paper], ledger: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Return in one line how the numbers and the primary claims of papers came out, added up."""
    primary = [_first_judgements(paper, claims, PRIMARY)["verdict"] for paper in papers]
    judged = ", ".join(f"{count} {verdict}" for verdict, count in Counter(chain(*primary)).items())
    parts = _numbers(pd.concat([published_once(ledger, paper) for paper in papers]))
    return "; ".join([*parts, *([f"primary claims: {judged}"] if judged else [])])


def _numbers(once: pd.DataFrame) -> list[str]:
    """Return how many published scores were run, with which verdicts, and which numbers agree.

    The number of scores is the sum of those run with the paper's data, with ours, and not run.
    """
    scores = once[once["kind"].eq(SCORE)]
    if scores.empty:
        return [*_agreeing(once)]
    has_run, is_ours = scores["verdict"].ne(NOT_RUN), scores["data"].eq(OUR_DATA)
    counts = Counter(scores.loc[has_run & ~is_ours, "verdict"])
    always = dict.fromkeys([REPRODUCED, HIGHER, LOWER, INCONCLUSIVE], 0) if counts else {}
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in (always | counts).items())
    with_theirs = f"{counts.total()} were run with the paper's data"
    with_theirs = f"{with_theirs}: {verdicts}" if verdicts else with_theirs
    with_ours = (has_run & is_ours).sum()
    parts = [f"of {len(scores)} published scores, {with_theirs}"]
    parts += [f"{with_ours} with ours, without a verdict"] if with_ours else []
    return [*parts, f"{(~has_run).sum()} not run", *_agreeing(once)]


def _agreeing(once: pd.DataFrame) -> Iterator[str]:
    """Yield how many counts, costs and best points agree: `counts that agree: 20 of 24`."""
    for kind, noun in KIND_NOUNS.items():
        verdicts = once.loc[once["kind"].eq(kind), "verdict"]
        if kind != SCORE and len(verdicts):
            agreeing = verdicts.isin([REPRODUCED, ENFORCED]).sum()
            yield f"{noun} that agree: {agreeing} of {len(verdicts)}"


def _claims(judged: pd.DataFrame, noun: str) -> list[str]:
    counts = Counter(judged["verdict"])
    if len(counts) == 1:
        ((verdict, count),) = counts.items()
        subject = noun if count == 1 else f"{count} {noun}s"
        return [f"the {subject} {_CLAIM_VERBS[verdict][count > 1]}"]
    # Only the first count names the claims.
    nouns = chain([f" of the {len(judged)} {noun}s"], repeat(""))
    parts = [
        f"{counts[verdict]}{next(nouns)} {verbs[counts[verdict] > 1]}"
        for verdict, verbs in _CLAIM_VERBS.items()
        if counts[verdict]
    ]
    return [" and ".join(", ".join(parts).rsplit(", ", 1))] if parts else []


def _first_judgements(paper: Paper, claims: pd.DataFrame, role: str) -> pd.DataFrame:
    """Return the first verdict on each claim of a paper, without our own secondary claims."""
    rows = claims[claims["paper"].eq(paper.paper) & claims["role"].eq(role)]
    return rows[~rows["ours"] | (role == PRIMARY)].drop_duplicates("claim")


def _farthest(once: pd.DataFrame) -> str:
    """Return the score that is farthest from the published one."""
    differing = once[once["kind"].eq(SCORE) & once["verdict"].isin([HIGHER, LOWER])]
    if differing.empty:
        return ""
    row = differing.loc[(differing["mean"] - differing["published"]).abs().idxmax()]
    return (
        f"The score farthest from the paper is in {printed_name(row['artefact'])} ({row['row']}, "
        f"{row['column']}): {three_decimals(row['mean'])}, where "
        f"{three_decimals(row['published'])} is published."
    )


def _missing(once: pd.DataFrame) -> str:
    """Return the most frequent reason for a number that was not run."""
    given = once.loc[once["verdict"].eq(NOT_RUN), "reason"]
    # Each of these names its own cells.
    reasons = Counter(given.mask(given.str.startswith(f"{NO_RUN} "), "its cell has not run yet"))
    if not reasons:
        return ""
    ((reason, count),) = reasons.most_common(1)
    return f"The most frequent reason for a number that was not run ({count}): {reason}."


def _sentence(parts: list[str]) -> str:
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""
