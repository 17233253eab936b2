"""What a run found about each paper: sentences, a small table, and a picture of all verdicts."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, repeat

import pandas as pd

from analogyqa.evaluation.claims import (
    EQUIVALENT,
    FAILS,
    HOLDS,
    PRIMARY,
    SECONDARY,
    UNDECIDED,
    effect_text,
)
from analogyqa.evaluation.published import ledger_key
from analogyqa.evaluation.significance import p_text
from analogyqa.evaluation.verdicts import (
    ENFORCED,
    HIGHER,
    INCONCLUSIVE,
    LOOKS,
    LOWER,
    NO_RUN,
    NOT_COMPARABLE,
    NOT_LEARNED,
    NOT_RUN,
    OUR_DATA,
    REPRODUCED,
)
from analogyqa.report.html_pages import render
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
_NUMBER_VERBS = {
    INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    ENFORCED: ("agrees by construction", "agree by construction"),
    NOT_COMPARABLE: ("cannot be compared", "cannot be compared"),
    NOT_LEARNED: (
        "comes from runs that did not all learn",
        "come from runs that did not all learn",
    ),
    NOT_RUN: ("was not run", "were not run"),
}
_COLUMNS = (REPRODUCED, HIGHER, LOWER, INCONCLUSIVE, NOT_LEARNED, NOT_RUN)
_OTHERS = ("other numbers", "primary claims")
KIND_NOUNS = {SCORE: "scores", COUNT: "counts", COST: "costs", BEST: "best points of curves"}


def published_once(ledger: pd.DataFrame, paper: Paper) -> pd.DataFrame:
    """Return the rows of a ledger with each number that a paper prints once.

    A number that another paper prints, too, counts for both. The value is that with the paper's
    hyperparameters, if there are others.
    """
    rows = ledger[ledger["paper"] == paper.paper]
    is_repeated = rows["repeats"].str.contains(f" of {paper.paper} (", regex=False)
    return rows[~is_repeated & rows["hyperparameters"].ne(TUNED)]


def headline(paper: Paper, ledger: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Return how many numbers of a paper came out, and how its primary claims were judged."""
    numbers = _numbers(published_once(ledger, paper))
    primary = _first_judgements(paper, claims, PRIMARY)
    return _sentence([*numbers, *_claims(primary, "primary claim")])


def findings(paper: Paper, ledger: pd.DataFrame, claims: pd.DataFrame) -> list[str]:
    """Return what was found about a paper, in at most five sentences.

    Args:
        ledger: The verdicts on its numbers, columns LEDGER; empty if our data are not the paper's.
        claims: The verdicts on its claims, columns CLAIMS.
    """
    once = published_once(ledger, paper)
    primary = _first_judgements(paper, claims, PRIMARY)
    others = _first_judgements(paper, claims, SECONDARY)
    sentences = [
        _sentence(_numbers(once)),
        " ".join(_judged(*group) for group in primary.groupby("verdict", sort=False)),
        _farthest(once),
        _sentence(_claims(others, "other claim")),
        _missing(once),
    ]
    return [sentence for sentence in sentences if sentence]


def results_table(
    papers: Iterable[Paper], ledger: pd.DataFrame, claims: pd.DataFrame
) -> list[list[str]]:
    """Return the verdicts on each paper's scores, other numbers and primary claims, as cells."""
    lines = [["Paper", "By", *(f"scores {name}" for name in _COLUMNS), *_OTHERS]]
    for paper in papers:
        once = published_once(ledger, paper)
        counts = Counter(once.loc[once["kind"].eq(SCORE), "verdict"])
        primary = Counter(_first_judgements(paper, claims, PRIMARY)["verdict"])
        judged = ", ".join(f"{count} {verdict}" for verdict, count in primary.items())
        labels = [f"[{paper.paper}](papers/{paper.paper}/README.md)", paper.short_citation]
        values = [str(counts[verdict] or "") for verdict in _COLUMNS]
        others = [*_agreeing(once), *_with_our_data(once)]
        lines.append([*labels, *values, "; ".join(others), judged])
    return lines


def _numbers(once: pd.DataFrame) -> list[str]:
    """Return how many scores we reproduce, and how many of the other numbers agree."""
    scores = once[once["kind"].eq(SCORE) & once["data"].ne(OUR_DATA)]
    counts = Counter(scores["verdict"])
    parts = []
    if counts:
        noun = f"published score{'s' * (len(scores) != 1)}"
        parts.append(f"we reproduce {counts[REPRODUCED] or 'none'} of {len(scores)} {noun}")
    if differing := [f"{name} in {counts[name]}" for name in (HIGHER, LOWER) if counts[name]]:
        parts.append(f"ours is {' and '.join(differing)}")
    verbs = ((name, verbs) for name, verbs in _NUMBER_VERBS.items() if counts[name])
    parts += [f"{counts[name]} {forms[counts[name] > 1]}" for name, forms in verbs]
    return [*parts, *_with_our_data(once), *_agreeing(once)]


def _with_our_data(once: pd.DataFrame) -> list[str]:
    """Return how many published scores we have with our own data, which get no verdict."""
    ours = once[once["kind"].eq(SCORE) & once["data"].eq(OUR_DATA)]
    count = ours["verdict"].ne(NOT_RUN).sum()
    return [f"scores with our data, without a verdict: {count} of {len(ours)}"] if len(ours) else []


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
        return [f"its {subject} {_CLAIM_VERBS[verdict][count > 1]}"]
    # Only the first count names the claims.
    nouns = chain([f" of its {len(judged)} {noun}s"], repeat(""))
    parts = [
        f"{counts[verdict]}{next(nouns)} {verbs[counts[verdict] > 1]}"
        for verdict, verbs in _CLAIM_VERBS.items()
        if counts[verdict]
    ]
    return [" and ".join(", ".join(parts).rsplit(", ", 1))] if parts else []


def _judged(verdict: str, claims: pd.DataFrame) -> str:
    texts = []
    for row in claims.to_dict("records"):
        effect = ""
        if pd.notna(row["p_value"]):
            difference = effect_text(row["effect"], row, row["kind"])
            effect = f" ({difference}, p {p_text(row['p_value'], '= ')})"
        texts.append((row["text"], effect))
    verb, verbs = _CLAIM_VERBS[verdict]
    if len(texts) == 1:
        return f"The claim that {texts[0][0]}, {verb}{texts[0][1]}."
    return f"These claims {verbs}: {'; '.join(text + effect for text, effect in texts)}."


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


# The picture: scores are drawn as they are; counts, costs and best points as ours divided by the
# published one. Lengths are in pixels.
WIDTH, LEFT, HEIGHT = 960, 40, 110  # of the picture, of the labels of the axis, of a panel
SLOT, GAP, HEAD = 9, 22, 22  # the width of a number, between panels, above a panel
MOST = (WIDTH - LEFT) // SLOT  # numbers of a panel
TIMES = 8  # the largest ratio that is drawn
RATIOS = {1 / TIMES: f"÷{TIMES}", 1: "1", TIMES: f"×{TIMES}"}  # the lines of the grid


def verdict_svg(
    paper: Paper, ledger: pd.DataFrame, on_page: Mapping[tuple, str] | None = None
) -> str:
    """Return the picture as SVG, "" if the paper has no published numbers.

    Args:
        ledger: The verdicts, columns LEDGER.
        on_page: The ids of the numbers on the page that the picture is a part of, by `ledger_key`;
            None for a standalone file, which includes its own colours.
    """
    once = published_once(ledger, paper)
    if once.empty:
        return ""
    panels = list(_panels(once, on_page or {}))
    occurring = [name for name in LOOKS if once["verdict"].eq(name).any()]
    return render(
        "verdicts.svg",
        is_file=on_page is None,
        title=f"The published numbers of {paper.short_citation} and ours",
        verdicts=[(name, LOOKS[name].mark) for name in occurring],
        panels=panels,
        size=(WIDTH, panels[-1]["y"] + HEIGHT + 34),
    )


def _panels(once: pd.DataFrame, on_page: Mapping[tuple, str]) -> Iterator[dict]:
    """Yield the panels of tables and figures, each with its `marks` and the `lines` of its grid."""
    scores = once[once["kind"] == SCORE]
    values = scores[["published", "mean", "run_low", "run_high"]].stack()
    low, high = (values.min(), values.max()) if len(values) else (0, 1)
    # Rounded outwards to the lines of the grid.
    low = min(max(math.floor(low * 10) / 10, 0), 0.9)
    high = max(math.ceil(high * 10) / 10, low + 0.1)
    tenths = range(math.ceil(low * 10), math.floor(high * 10) + 1)[::2]
    grid = {tenth / 10: f"{tenth / 10:g}".lstrip("0") or "0" for tenth in tenths}

    score_height = partial(_height, low=low, high=high)
    x, y = 0, HEAD
    labelled = None  # the axis that the panels to the left share
    for is_score, height, labels in ((True, score_height, grid), (False, _ratio_height, RATIOS)):
        rows_of_kind = once[once["kind"].eq(SCORE) == is_score]
        for artefact, part in rows_of_kind.groupby("artefact", sort=False):
            for start in range(0, len(part), MOST):
                rows, title = part.iloc[start : start + MOST], printed_name(str(artefact))
                width = max(len(rows) * SLOT, 7 * len(title))
                if x and x + LEFT + width > WIDTH:
                    x, y, labelled = 0, y + HEIGHT + GAP + HEAD, None
                is_labelled = labelled != is_score
                x, labelled = x + LEFT * is_labelled, is_score
                yield {
                    **{"title": title, "x": x, "y": y, "width": width},
                    "marks": list(_marks(rows, height, not is_score, on_page)),
                    "lines": [(height(v) or 0, text * is_labelled) for v, text in labels.items()],
                }
                x += width + GAP


def _height(value: float, low: float, high: float) -> float | None:
    """Return the height of a value between the ends of an axis; None for NaN."""
    if pd.isna(value):
        return None
    return round(HEIGHT * (1 - (min(max(value, low), high) - low) / (high - low)), 1)


def _ratio_height(value: float) -> float | None:
    largest = math.log(TIMES)
    return _height(math.log(max(value, 1 / TIMES)), -largest, largest)


def _marks(
    rows: pd.DataFrame,
    height: Callable[[float], float | None],
    is_ratio: bool,
    on_page: Mapping[tuple, str],
) -> Iterator[dict]:
    """Yield each number: its place from the left, heights, text, and id on the page."""
    for place, row in enumerate(rows.to_dict("records")):
        unit = row["published"] if is_ratio else 1
        if unit:
            form = "{:g}".format if is_ratio else three_decimals
            ours = "" if pd.isna(row["mean"]) else f"ours {form(row['mean'])}, "
            published = f"published {form(row['published'])}: {row['verdict']}"
            yield {
                "x": (place + 0.5) * SLOT,
                "published": height(row["published"] / unit),
                "ours": height(row["mean"] / unit),
                "low": height(row["run_low"] / unit),
                "high": height(row["run_high"] / unit),
                "verdict": row["verdict"],
                "text": f"{row['row']}, {row['column']}: {ours}{published}",
                "number": on_page.get(ledger_key(row), ""),
            }
