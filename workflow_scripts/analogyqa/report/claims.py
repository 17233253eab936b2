"""A verdict on each claim of a paper, by tests between systems."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.measures import MEASURES, values_by_seed
from analogyqa.plan import Cell, cells_by_setting, why_not
from analogyqa.report.ledger import NOT_RUN, OTHER_DATA, no_run
from analogyqa.report.significance import SAMPLES, holm, paired_p_values, partial_conjunction
from analogyqa.report.summary import DECIMALS, typed
from analogyqa.report.table_formats import Block, Table, Value, to_markdown
from analogyqa.settings.axes import CHOSEN
from analogyqa.settings.paper import Claim, Paper, Where
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
# Blue and orange are told apart with any colour vision; the word beside the sign says it too.
CLAIM_MARKS = {HOLDS: "🟦", FAILS: "🟧", UNDECIDED: "⬜", NOT_RUN: "➖"}

CLAIMS = {
    "paper": "str",
    "claim": "str",
    "text": "str",
    "setting": "str",
    "evidence": "str",
    "p_value": "float64",
    "verdict": "str",
    "reason": "str",
}
COMPARISONS = {
    "paper": "str",
    "claim": "str",
    "setting": "str",
    "better": "str",
    "worse": "str",
    "mean_better": "float64",
    "mean_worse": "float64",
    "difference": "float64",
    "p_greater": "float64",
    "p_less": "float64",
}

# The test split of a cell by a measure, [seeds, items]; None when there is no such run.
Values = Callable[[Cell, str], pd.DataFrame | None]


class _Side(NamedTuple):
    """A side of a comparison at one setting; `name` tells it from the claim's other sides."""

    name: str
    cell: Cell
    measure: str


def values_of(runs: Iterable[tuple[dict, pd.DataFrame]]) -> Values:
    """Return how to look up the values of a run's test split, as `judge_claims` wants it.

    Args:
        runs: as `ledger.read_runs` yields them.
    """
    found = {}
    for record, metrics in runs:
        by_measure = values_by_seed(metrics, "test")
        for measure in MEASURES:
            found[Cell.from_record(record["cell"]), measure] = by_measure[measure]
    return lambda cell, measure: found.get((cell, measure))


def judge_claims(
    papers: Iterable[Paper], config: Config, values: Values
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judge every claim at the paper's setting and at the settings that the dev splits chose.

    A claim that involves no trained system has one row, of setting "". One that involves a point of
    an axis, at which nothing was chosen, has the paper's row only.

    Args:
        papers: their claims.
        config: says which systems there are, and the confidence below whose complement an adjusted
            p-value decides.
        values: see above; the columns of a frame are sorted by item.

    Returns:
        The verdicts, columns CLAIMS, and what they rest on, columns COMPARISONS. The p-values of
        a claim are two-sided and adjusted (Holm) over the claims of its paper at its setting;
        those of a comparison are one-sided and not adjusted.

    Raises:
        AnalogyQAError: when two runs of the same data have other questions.
    """
    judged, compared = [], []
    for paper in papers:
        rows = []
        for name, claim in paper.claims.items():
            for setting, reason in _settings(claim, config):
                row = {"paper": paper.paper, "claim": name, "setting": setting}
                sides = [] if reason else _sides(claim, setting, config)
                reason = reason or _missing(sides, values)
                if reason:
                    text = {"text": claim.claim, "verdict": NOT_RUN, "reason": reason}
                    rows.append(row | text)
                    continue
                comparisons = [_compare(*pair, values) for pair in sides]
                compared += [row | comparison for comparison in comparisons]
                rows.append(row | {"text": claim.claim} | _judge(claim, sides, comparisons))
        judged += _decide(rows, config)
    return typed(judged, CLAIMS), typed(compared, COMPARISONS)


def claims_markdown(frame: pd.DataFrame, papers: Iterable[Paper], config: Config) -> str:
    """Return the verdicts as a page of GitHub Markdown: a table for each paper, and how to read it.

    Args:
        frame: of columns CLAIMS.
        papers: where in a paper each claim stands.
        config: what the runs were made with.
    """
    papers = [paper for paper in papers if paper.claims]
    rows = {name: part.to_dict("records") for name, part in frame.groupby("paper", sort=False)}
    verdicts = [
        Block(
            f"{paper.paper}, as the paper puts it in short",
            ["Claim", "Where", "Setting", "Verdict"],
            ["adjusted p", "Evidence"],
            [_page_row(row, paper.claims[row["claim"]].where) for row in rows[paper.paper]],
        )
        for paper in papers
    ]
    table = Table(
        label="claims",
        title="Claims of the papers" if config.comparable else f"Claims ({OTHER_DATA})",
        blocks=[_summary(frame), *verdicts],
        notes=[*_notes(config), *(f"Claims of {paper.citation}" for paper in papers)],
        frame=frame,
    )
    return to_markdown(table)


def _settings(claim: Claim, config: Config) -> list[tuple[str, str]]:
    """Return the settings that a claim is judged at, or "" and why it cannot be judged at all."""
    sides = [side for pair in claim.sides() for side in pair]
    reasons = filter(None, (why_not(side, config) for side in sides))
    if reason := "; ".join(dict.fromkeys(reasons)):
        return [("", reason)]
    if not any(config.systems[side.system].trained for side in sides):
        return [("", "")]
    selected = [side for side in sides if config.selection_of(side.system)]
    if selected and all(CHOSEN in cells_by_setting(side, config) for side in selected):
        return [(PAPER, ""), (CHOSEN, "")]
    return [(PAPER, "")]


def _sides(claim: Claim, setting: str, config: Config) -> list[tuple[_Side, _Side]]:
    """Return both sides of each comparison at one setting."""
    pairs = claim.sides()
    said = [
        side.model_dump(exclude={"system"}, exclude_none=True) for pair in pairs for side in pair
    ]
    keys = dict.fromkeys(key for each in said for key in each)
    differing = [key for key in keys if len({str(each.get(key)) for each in said}) > 1]

    def side_of(where: Where) -> _Side:
        cells = cells_by_setting(where, config)
        # A system that chooses no setting stays as it is.
        cell = next(cells[name] for name in (setting, PAPER, "") if name in cells)
        own, axes = where.model_dump(), dict(where.axes)
        details = ", ".join(
            f"{key} = {own[key]}" if key in axes else str(own[key])
            for key in differing
            if own.get(key) is not None
        )
        name = f"{where.system} ({details})" if details else where.system
        return _Side(name, cell, where.measure)

    return [(side_of(better), side_of(worse)) for better, worse in pairs]


def _missing(sides: list[tuple[_Side, _Side]], values: Values) -> str:
    flat = [side for pair in sides for side in pair]
    missing = [side.cell for side in flat if values(side.cell, side.measure) is None]
    return no_run(*missing) if missing else ""


def compare_runs(cells: tuple[Cell, Cell], first: pd.DataFrame, second: pd.DataFrame) -> dict:
    """Return `difference`, `p_greater` and `p_less` of the values [seeds, items] of two cells.

    Raises AnalogyQAError when they have other questions.
    """
    if list(first.columns) != list(second.columns):
        raise AnalogyQAError(
            f"the runs {cells[0].path} and {cells[1].path} have other questions. "
            "Delete them, then run the same command again to rebuild them."
        )
    tested = paired_p_values(first.to_numpy(), second.to_numpy(), same_runs=cells[0] == cells[1])
    names = ("difference", "p_greater", "p_less")
    return {name: round(value, DECIMALS) for name, value in zip(names, tested, strict=True)}


def _compare(better: _Side, worse: _Side, values: Values) -> dict:
    first, second = (values(side.cell, side.measure) for side in (better, worse))
    return {
        "better": f"{better.cell.path} {better.measure}",
        "worse": f"{worse.cell.path} {worse.measure}",
        "mean_better": round(float(first.to_numpy().mean()), DECIMALS),
        "mean_worse": round(float(second.to_numpy().mean()), DECIMALS),
        **compare_runs((better.cell, worse.cell), first, second),
    }


def _judge(claim: Claim, sides: list[tuple[_Side, _Side]], comparisons: list[dict]) -> dict:
    """Return verdict, two-sided p-value, both before Holm's correction, and the evidence."""
    count = len(comparisons)
    # It cannot hold when so many comparisons are reversed that too few are left.
    reversed_needed = count - claim.needed + 1
    holds = partial_conjunction([one["p_greater"] for one in comparisons], claim.needed)
    fails = partial_conjunction([one["p_less"] for one in comparisons], reversed_needed)
    return {
        "verdict": HOLDS if holds < fails else FAILS,
        "p_value": min(1.0, 2 * min(holds, fails)),
        "evidence": "; ".join(
            f"{better.name} {one['mean_better']:.3f}, {worse.name} {one['mean_worse']:.3f} "
            f"({one['difference']:+.3f}, p = {one['p_greater']:.2g})"
            for (better, worse), one in zip(sides, comparisons, strict=True)
        ),
    }


def level_of(config: Config) -> float:
    """Return the p-value below which a claim is decided."""
    return round(1 - config.bootstrap.confidence, DECIMALS)


def _decide(rows: list[dict], config: Config) -> list[dict]:
    """Adjust the p-values over the claims of one paper at each setting; a large one undecides."""
    for setting in dict.fromkeys(row["setting"] for row in rows):
        ran = [row for row in rows if row["setting"] == setting and "p_value" in row]
        for row, adjusted in zip(ran, holm([row["p_value"] for row in ran]), strict=True):
            row["p_value"] = round(adjusted, DECIMALS)
            if row["p_value"] >= level_of(config):
                row["verdict"] = UNDECIDED
    return rows


def _page_row(row: dict, where: str) -> tuple[list[str], list[Value]]:
    p_value = "" if pd.isna(row["p_value"]) else f"{row['p_value']:.2g}"
    verdict = f"{CLAIM_MARKS[row['verdict']]} {row['verdict']}"
    return (
        [row["text"], where, row["setting"], verdict],
        [Value(p_value), Value(row["evidence"] or row["reason"])],
    )


def _summary(frame: pd.DataFrame) -> Block:
    groups = frame.groupby(["paper", "setting"], sort=False)["verdict"]
    return Block(
        "Verdicts",
        ["Paper", "Setting"],
        [f"{mark} {verdict}" for verdict, mark in CLAIM_MARKS.items()],
        [
            (list(names), [Value(str(verdicts.eq(verdict).sum())) for verdict in CLAIM_MARKS])
            for names, verdicts in groups
        ],
    )


def _notes(config: Config) -> list[str]:
    notes = [
        "A claim rests on comparisons of two systems on the questions of the test split. The "
        "evidence gives of each both means over questions and seeds, the difference and the "
        "one-sided p-value of the claimed direction, by a paired randomisation test over questions "
        f"and seeds ({SAMPLES} draws; {len(config.seeds)} seeds).",
        "A claim holds when as many comparisons as it needs are true, and fails when so many are "
        "reversed that it cannot hold, by the p-value of a partial conjunction; it is undecided "
        f"when neither is shown. The adjusted p is two-sided, corrected after Holm over the claims "
        f"of a paper at a setting; below {level_of(config):g} it decides.",
        "Settings: paper, the stated one; chosen, each system at the one that its dev split "
        "prefers, a system without a choice as it is; none where no trained system takes part. "
        "Claims about points of an axis, where nothing was chosen, have the paper's setting only.",
    ]
    if not config.comparable:
        notes.insert(
            0, f"The verdicts say what is so on these data: {OTHER_DATA}, they judge no paper."
        )
    return notes
