"""Published numbers next to ours, with verdicts: the rows of tables and of the ledger.

All of them are one frame. It starts with a row for each number of a table or figure and each set of
hyperparameters; `join_published` adds our scores from the summary, and `judge` the verdicts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analogyqa.cells import Cell, cells_by_hyperparameters, extra_systems, has_costs, why_no_run
from analogyqa.evaluation.spread import best_shares, coefficient_of_variation, interval_of_runs
from analogyqa.evaluation.summary import (
    DECIMALS,
    KEY,
    MEASURED,
    Results,
    cell_columns,
    draw_means,
    learned_text,
    to_frame,
)
from analogyqa.evaluation.verdicts import (
    ENFORCED,
    INCONCLUSIVE,
    MOST_RUNS,
    NO_RUN,
    NOT_COMPARABLE,
    NOT_LEARNED,
    NOT_RUN,
    OTHER_DATA,
    OUR_DATA,
    PAPER_DATA,
    REPRODUCED,
    no_run,
    not_run,
    paper_margin,
    runs_needed,
    verdict,
)
from analogyqa.measures import MEASURES
from analogyqa.runs.cost import STEPS
from analogyqa.settings.artefacts import BEST, CITED, Artefact, Published
from analogyqa.settings.coordinates import COST, COUNT, SCORE, Coordinates
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER

ONE_SEED = "one seed, or seeds with the same models, give no prediction interval"
OTHER_MACHINE = "measured on another machine; compare ratios between systems"
ROUNDED = 10.0**-DECIMALS / 2  # the rounding error of our own values
SAME_SIZE = 0.01  # numbers of parameters whose relative difference is smaller are equal
# Printed values that differ by less are the same value, rounded or cut off: in three decimals, or
# as a share of the unit of the last digit.
SAME_VALUE, SAME_SHARE = 0.0007, 0.7
IN_PAPER, NOT_IN_PAPER = "paper", "not in the paper"  # the values of `block`

LEDGER = {
    **dict.fromkeys(["paper", "artefact", "row", "column", "measure"], "str"),
    "scale": "float64",
    **dict.fromkeys(["kind", "data", "hyperparameters"], "str"),
    "published": "float64",
    "attainable_runs": "Int64",
    **MEASURED,
    "cv": "float64",
    **dict.fromkeys(["verdict", "repeats", "provenance", "substitute", "reason"], "str"),
}
# The columns of a table's csv; those of the ledger are some of them.
FRAME = {
    **dict.fromkeys(["paper", "artefact", "block", "row", "column", "system", "ranked_by"], "str"),
    **LEDGER,
    "top_group": "boolean",
}
# The values that a paper measured by one protocol have these in common.
PROTOCOL = ["paper", "artefact", "system", "dataset"]
_OURS = [*MEASURED, "provenance", "substitute"]
# While rows are judged, they also have the cell of our score, and what is printed around theirs.
_JOINED = {
    **FRAME,
    **dict.fromkeys(["dataset", "subset", "overrides", "remark"], "str"),
    **dict.fromkeys(["step", "rounding"], "float64"),
    "competitors": "object",
}


def build_ledger(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the published numbers of `compare_numbers` next to ours: columns LEDGER."""
    return numbers.loc[_is_compared(numbers), list(LEDGER)].reset_index(drop=True)


def ledger_key(row: Mapping) -> tuple[str, ...]:
    """Return what a row of a ledger, or of a table, is about: the same in both."""
    return tuple(row[name] for name in ("paper", "artefact", "row", "column", "hyperparameters"))


def compare_numbers(
    papers: Sequence[Paper], config: Config, results: Results, only: tuple[str, str] | None = None
) -> pd.DataFrame:
    """Compare the numbers of all tables and figures with ours: columns FRAME, and those of a cell.

    A published value is one run of the paper's system on the same questions. It is therefore
    compared with the prediction interval of one more run of ours; if all seeds agree, it is
    compared with our value at the printed precision. If one run cannot give a value, this value and
    the system's others in the table are compared with the interval of a mean of `attainable_runs`
    runs. A mean over training runs that did not all learn is not compared. A trained system has a
    row with the paper's hyperparameters and, if the configuration tunes it, another with those
    tuned on dev. Values that the paper cites, or does not print, and those of systems that it lacks
    have rows without a verdict. `cv` is that of `spread.coefficient_of_variation`. `only` is a
    paper and an artefact, to leave out all others.
    """
    repeats = find_repeats(papers)
    rows = [
        row
        for paper in papers
        for name in paper.artefacts
        if only in (None, (paper.paper, name))
        for row in _asked_numbers(paper, name, config, results, repeats)
    ]
    numbers = to_frame(rows, _JOINED)
    is_open = numbers["verdict"].ne(NOT_RUN)
    parts = [numbers[~(is_open & numbers["kind"].isin([*FROM_METRICS]))]]
    for kind, judge_kind in FROM_METRICS.items():
        joined = join_published(numbers[is_open & numbers["kind"].eq(kind)], results.summary)
        has_run = joined["verdict"].ne(NOT_RUN)
        parts += [joined[~has_run], judge_kind(joined[has_run], config)]
    numbers = pd.concat([part.astype(_JOINED) for part in parts]).sort_index()
    numbers["cv"] = [
        round(coefficient_of_variation(*row), DECIMALS)
        for row in numbers[["mean", "sd", "n_seeds"]].astype(float).itertuples(index=False)
    ]
    judged = numbers[_is_compared(numbers) & numbers["verdict"].ne(NOT_RUN)]
    is_other = judged["data"].eq(OUR_DATA)
    if config.comparable:  # a count that is set by the configuration agrees with any data
        is_other &= judged["verdict"].ne(ENFORCED)
    numbers.loc[is_other.index[is_other], ["verdict", "reason"]] = [NOT_COMPARABLE, OTHER_DATA]
    if config.comparable:
        reasons = zip(numbers.loc[judged.index, "reason"], judged["remark"], strict=True)
        numbers.loc[judged.index, "reason"] = ["; ".join(filter(None, pair)) for pair in reasons]
    return numbers.assign(
        repeats=_note_same_substitutes(judged).reindex(numbers.index).fillna(numbers["repeats"])
    )


def _note_same_substitutes(judged: pd.DataFrame) -> pd.Series:
    """Return `repeats`, also for values of one substitute that stands for several systems."""
    repeats = judged["repeats"].copy()
    made = judged[judged["substitute"].ne("") & judged["kind"].eq(SCORE) & repeats.eq("")]
    where = ["paper", "artefact", "column", "hyperparameters"]
    for _, rows in made.groupby([*where, "mean", "substitute", "provenance"]):
        first = rows.iloc[0]
        note = "the same substitute as in {artefact} of {paper} ({row}, {column})".format(**first)
        repeats[rows.index[1:]] = note
    return repeats


def join_published(numbers: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Add the values of the summary to published numbers, which it matches by the columns KEY.

    A number without a value and without another reason is `NOT_RUN`.
    """
    joined = numbers.drop(columns=_OURS).merge(summary[[*KEY, *_OURS]], "left", KEY)
    joined = joined.set_index(numbers.index).fillna({"provenance": "", "substitute": ""})
    is_missing = joined["mean"].isna() & joined["reason"].eq("")
    paths = joined["system"].str.cat([joined[name] for name in KEY[1:-1]], sep="/")
    return joined.assign(
        verdict=joined["verdict"].mask(is_missing, NOT_RUN),
        reason=joined["reason"].mask(is_missing, f"{NO_RUN} " + paths),
    )


def judge(
    scores: pd.DataFrame, confidence: float, is_comparable: pd.Series | bool = True
) -> pd.DataFrame:
    """Judge published scores: set `verdict`, `reason`, `attainable_runs` and the interval.

    Args:
        scores: Our scores, columns MEASURED, `measure` and PROTOCOL, with the `published` value,
            NaN for none, the unit of its last digit (`step`), the `rounding` error of its column,
            and the list of values of `competitors`.
        confidence: The level of the intervals.
        is_comparable: Whether the published values are about these data, perhaps by row.
    """
    comparable = pd.Series(is_comparable, scores.index, dtype=bool)
    attainable = attainable_runs(scores[comparable])
    counts = (attainable[name].reindex(scores.index) for name in ("needed", "runs"))
    judged = [
        _judge_score(row, needed, runs, confidence, is_same)
        if pd.notna(row.published)
        else (None, row.run_low, row.run_high, "", "")
        for row, needed, runs, is_same in zip(scores.itertuples(), *counts, comparable, strict=True)
    ]
    columns = ["attainable_runs", "run_low", "run_high", "verdict", "reason"]
    return scores.assign(**pd.DataFrame(judged, scores.index, columns))


def attainable_runs(scores: pd.DataFrame) -> pd.DataFrame:
    """Return of how many runs each published score is a mean: columns `needed` and `runs`.

    `needed` is the smallest number that can give this value, see `runs_needed`, or NaN. A paper
    measures a system by one protocol, so `runs` is the largest number that the values of the system
    in the table and on the data set need, also for measures that are not checked.

    Args:
        scores: As for `judge`.
    """
    counts = [
        runs_needed(row.published, row.step, row.measure, row.n_items)
        if pd.notna(row.published)
        else None
        for row in scores.itertuples()
    ]
    needed = pd.Series(counts, scores.index, dtype="float64")
    runs = needed.groupby([scores[name] for name in PROTOCOL]).transform("max")
    # A measure that is not checked says nothing about a single run.
    return pd.DataFrame({"needed": needed, "runs": runs.where(runs > 1, needed)})


def _judge_score(
    score: Any, needed: float, runs: float, confidence: float, is_comparable: bool
) -> tuple:
    """Compare our interval, or that of a mean of several runs, with a published score."""
    if failed := learned_text(score.n_learned, score.n_trained):
        return None, np.nan, np.nan, NOT_LEARNED, f"{failed} training runs"
    low, high, published, reasons = score.run_low, score.run_high, score.published, []
    measure, items = MEASURES[score.measure], score.n_items
    if is_comparable and measure.values and np.isnan(needed):
        reasons.append(f"no mean of up to {MOST_RUNS} runs of {items} items gives this value")
    if runs > 1:
        spread = score.mean, score.sd, score.n_seeds, confidence
        ends = interval_of_runs(*spread, int(runs), measure.largest)
        low, high = (round(end, DECIMALS) for end in ends)
        if needed == runs:
            reasons.append(
                f"one run on {items} items cannot give {published:g}, a mean of {runs:g} runs can; "
                "the interval is that of such a mean"
            )
        elif low < high:
            reasons.append(
                f"the interval is that of a mean of {runs:g} runs, because another value of this "
                "system here needs so many"
            )
    if score.run_low == score.run_high:
        # Another run gives the same value, so only the paper's rounding can differ.
        margin = score.rounding + ROUNDED
        judged = verdict(published, score.mean - margin, score.mean + margin)
        return runs, low, high, judged, "; ".join(reasons)
    judged = verdict(published, low, high, score.competitors)
    if pd.isna(low):
        reasons.append(ONE_SEED)
    elif judged == INCONCLUSIVE:
        margin = paper_margin(published, score.competitors)
        reasons.append(
            f"the interval is {high - low:.3f} wide, more than half of {margin:.2g}, the smallest "
            "difference to what is published for a competing system"
        )
    return runs, low, high, judged, "; ".join(reasons)


def _is_compared(numbers: pd.DataFrame) -> pd.Series:
    """Return which rows belong into the ledger: the paper's own published numbers."""
    is_printed = numbers["block"].eq(IN_PAPER) & numbers["published"].notna()
    return is_printed & numbers["kind"].ne(CITED)


def _asked_numbers(
    paper: Paper, name: str, config: Config, results: Results, repeats: Mapping[tuple, str]
) -> Iterator[dict]:
    """Yield a row for each number of a table or figure and each set of hyperparameters.

    Systems that the paper lacks follow. All but scores have our values.
    """
    artefact = paper.artefacts[name]
    numbers = [(IN_PAPER, number) for number in artefact.numbers()]
    for system_name in extra_systems(config, paper, name):
        for row_name, column, at in artefact.system_cells(config.systems[system_name].title):
            at |= Coordinates(system=system_name)
            numbers.append((NOT_IN_PAPER, Published(row_name, column, at, None, at.kind)))
    for block, number in numbers:
        coordinates, published = number.coordinates, number.published
        system = config.systems.get(coordinates.system)
        row: dict = {"paper": paper.paper, "artefact": name, "block": block, "kind": number.kind}
        row |= {"row": number.row, "column": number.column, "system": coordinates.system}
        row |= {"ranked_by": system.ranker.name if system else "", "published": published}
        if number.kind == CITED:
            yield row
            continue
        row["measure"] = coordinates.measured
        if block == IN_PAPER and published is not None:
            row["scale"] = artefact.scale
            row["remark"] = artefact.remark_on(number.row, number.column)
            row["repeats"] = repeats.get((paper.paper, name, number.row, number.column), "")
        row["data"] = PAPER_DATA if config.is_comparable(coordinates.dataset) else OUR_DATA
        if reason := artefact.not_run.get(number.row) or why_no_run(coordinates, config):
            yield row | not_run(reason + _would_cost(coordinates, config, results))
        elif number.kind not in FROM_METRICS:
            yield row | COMPUTED[number.kind](number, artefact, config, results)
        else:
            if number.kind == SCORE and published is not None:
                row["step"], row["rounding"] = number.step, artefact.rounding(number.column)
                row["competitors"] = paper.competitors(coordinates)
            for hyperparameters, cell in cells_by_hyperparameters(coordinates, config).items():
                yield row | cell_columns(cell) | {"hyperparameters": hyperparameters}


def _would_cost(coordinates: Coordinates, config: Config, results: Results) -> str:
    """Return the training time of a system of which only costs are measured, or ""."""
    cost = results.costs.get((coordinates.dataset, coordinates.subset, coordinates.system))
    if not cost or not config.systems[coordinates.system].only_costs_on(coordinates.dataset):
        return ""
    seconds = float(np.mean(cost.values("seconds_per_epoch")))
    epochs = config.systems[coordinates.system].training.max_epochs
    return f"; {epochs} epochs of {seconds:,.0f} s are {epochs * seconds / 3600:,.0f} h for a seed"


def _cost(number: Published, artefact: Artefact, config: Config, results: Results) -> dict:
    """Return the cost of a system, or its ratio to that of another system, and the verdict.

    The interval is the range over the timed steps. The training steps of both systems are
    interleaved, and each ratio is that of two steps of one round.
    """
    coordinates, published = number.coordinates, number.published
    system = config.systems[coordinates.system]
    if not has_costs(system):
        reason = f"no costs of {coordinates.system} are measured"
        return {} if published is None else not_run(reason)
    names = [name for name in (coordinates.system, coordinates.over) if name]
    keys = [(coordinates.dataset, coordinates.subset, name) for name in names]
    if missing := [key[-1] for key in keys if key not in results.costs]:
        return not_run(f"no cost of {', '.join(missing)} on {coordinates.dataset}")
    costs = [results.costs[key] for key in keys]
    by_step = [np.asarray(cost.values(coordinates.cost or ""), dtype=float) for cost in costs]
    values = by_step[0] / by_step[1] if coordinates.over else by_step[0]
    mean, low, high = values.mean(), values.min(), values.max()
    row: dict = {"hyperparameters": "" if system.only_costs_on(coordinates.dataset) else PAPER}
    row["mean"] = round(float(mean), DECIMALS)
    if coordinates.cost == "parameters":
        low, high = mean * (1 - SAME_SIZE), mean * (1 + SAME_SIZE)
        row["provenance"] = "counted here"
    else:
        batches = " and ".join(f"{cost.batches} batches" for cost in costs)
        row["provenance"] = f"{STEPS} steps of {batches} an epoch, on {costs[0].machine}"
        row |= {"run_low": round(float(low), DECIMALS), "run_high": round(float(high), DECIMALS)}
    if published is None:
        return row
    if coordinates.cost != "parameters" and not coordinates.over:
        return row | {"verdict": NOT_COMPARABLE, "reason": OTHER_MACHINE}
    return row | {"verdict": verdict(published, low, high)}


def _count(number: Published, artefact: Artefact, config: Config, results: Results) -> dict:
    """Return a count of a corpus, and the verdict if a count is published."""
    coordinates, published = number.coordinates, number.published
    counts = results.counts.get(coordinates.dataset)
    if counts is None:
        return not_run(f"no corpus of {coordinates.dataset}")
    split, counted = coordinates.split or "", coordinates.count or ""
    types = config.subset_types(coordinates.subset) or [ALL]
    if counted in ("pairs", "all_questions") and types != [ALL]:
        return not_run(f"{counted} are counted for the subset {ALL} only")
    count = sum(counts[counted][split].get(name, 0) for name in types)
    row = {"mean": count, "provenance": f"counted here: data {coordinates.dataset}"}
    if published is None:
        return row
    expected = config.datasets[coordinates.dataset].questions.get(split, {}) if split else {}
    if counted == "questions" and set(types) <= set(expected) and count == published:
        return row | {"verdict": ENFORCED, "reason": "other data are refused"}
    categories = config.categories
    if count == published and all(
        name in categories and counts["questions"][split].get(name) == categories[name].pairs
        for name in types
    ):
        reason = "the pipeline generates exactly the configured number of pairs"
        return row | {"verdict": ENFORCED, "reason": reason}
    return row | {"verdict": verdict(published, *_as_printed(count, published))}


def _as_printed(count: int, published: float) -> tuple[float, float]:
    """Return the range of published counts that a count may be printed as.

    It may be rounded or cut off: 3,270 is 3.3K or 3.2K. A published 1148 is printed in full, so
    only 1,148 is alike.
    """
    if count < 1000:
        return count, count
    unit = 100 if count < 10_000 else 1000
    while round(published) % unit:
        unit //= 10
    return count - unit + 1, count + unit / 2


def _best_point(number: Published, artefact: Artefact, config: Config, results: Results) -> dict:
    """Compare the published best point of a curve with the likely best points of ours.

    This is a bootstrap over seeds and questions. [ci_low, ci_high] spans the points that are best
    most often and together reach the confidence; the mean is the point that is best most often.
    """
    ((override, _),) = artefact.x.items()
    published, measure = number.published, number.coordinates.measure or ""
    cells: dict[float, Cell] = {}
    row: dict = {"hyperparameters": ""}
    for panel, line, point, coordinates in artefact.points(config.sweeps):
        if (panel, line) == (number.column, number.row):
            by_name = cells_by_hyperparameters(coordinates, config)
            row["hyperparameters"], cells[float(str(point[override]))] = next(iter(by_name.items()))
    points = list(cells)
    if len(points) < 2:
        return row | not_run(f"sweeps.{override} has fewer than two points to compare")
    if published not in points:
        reason = f"{override} = {published:g} is not among the points of sweeps.{override}"
        return row | not_run(reason)
    values = {cell: results.values(cell, measure) for cell in cells.values()}
    scores = [by_seed for by_seed in values.values() if by_seed is not None]
    if len(scores) < len(points):
        return row | not_run(no_run(*(cell for cell in values if values[cell] is None)))
    shares = best_shares(draw_means(scores, config.bootstrap.samples))
    order = np.argsort(-shares, kind="stable")
    # Floats that reach the confidence together may be below it by a rounding error.
    enough = np.searchsorted(np.cumsum(shares[order]), config.bootstrap.confidence - 1e-9) + 1
    likely = sorted(points[index] for index in order[:enough])
    low, best, high = likely[0], points[order[0]], likely[-1]
    if published in likely:
        judged = REPRODUCED if len(likely) == 1 else INCONCLUSIVE
    elif low < published < high:  # between two likely points
        judged = verdict(published, best, best)
    else:
        judged = verdict(published, low, high)
    runs = {point: results.by_cell.get((cell, measure), {}) for point, cell in cells.items()}
    percentages = (f"{point:g} {share:.0%}" for point, share in zip(points, shares, strict=True))
    reason = f"share of draws in which each {override} is the best: {', '.join(percentages)}"
    failed = [
        f"{override} = {point:g} {text} training runs"
        for point, run in runs.items()
        if (text := learned_text(run.get("n_learned", 0), run.get("n_trained", 0)))
    ]
    if failed:
        judged, reason = NOT_LEARNED, ", ".join(failed)
    return {
        **row,
        **{"mean": best, "ci_low": low, "ci_high": high, "verdict": judged},
        "n_seeds": scores[0].shape[0],
        "n_items": scores[0].shape[1],
        "provenance": runs[best].get("provenance", ""),
        "substitute": runs[best].get("substitute", ""),
        "reason": reason,
    }


def find_repeats(papers: Sequence[Paper]) -> dict[tuple[str, str, str, str], str]:
    """Return, for each score that was printed before, where: by paper, artefact, row and column.

    Equal values under the same conditions are the same score if they are of one system, or in two
    papers: the second paper may give it to another system.
    """
    scores = [
        (paper, name, number)
        for paper in papers
        for name, artefact in paper.artefacts.items()
        for number in artefact.numbers()
        if number.kind == SCORE and number.published is not None
    ]
    earlier: list[tuple[Paper, str, Published]] = []
    notes = {}
    for paper, name, number in scores:
        for other, location, known in earlier:
            if _is_same(known, number, in_one_paper=other is paper):
                system = known.coordinates.system
                is_other = system != number.coordinates.system
                for_whom = f", there for another system ({system})" if is_other else ""
                key = (paper.paper, name, number.row, number.column)
                notes[key] = f"also printed in {location}{for_whom}"
                break
        else:
            location = f"{name} of {paper.paper} ({number.row}, {number.column})"
            earlier.append((paper, location, number))
    return notes


def _is_same(first: Published, second: Published, in_one_paper: bool) -> bool:
    limit = min(SAME_VALUE, SAME_SHARE * max(first.step, second.step))
    return (
        abs((first.published or 0) - (second.published or 0)) < limit
        and (not in_one_paper or first.coordinates.system == second.coordinates.system)
        and first.coordinates.agrees_with(second.coordinates)
    )


# How our values of a kind are made, see `settings.coordinates.KINDS`: either they are computed for
# each number, or those that are joined from the summary are judged.
COMPUTED: dict[str, Callable[[Published, Artefact, Config, Results], dict]] = {
    COUNT: _count,
    COST: _cost,
    BEST: _best_point,
}
FROM_METRICS: dict[str, Callable[[pd.DataFrame, Config], pd.DataFrame]] = {
    SCORE: lambda scores, config: judge(
        scores, config.bootstrap.confidence, scores["data"].eq(PAPER_DATA)
    )
}
