"""What the open choices of a paper change."""

from collections.abc import Iterable
from itertools import product

import pandas as pd

from analogyqa.measures import MEASURES
from analogyqa.plan import Cell, sensitivity_cells
from analogyqa.report.claims import (
    CLAIM_MARKS,
    FAILS,
    HOLDS,
    UNDECIDED,
    Values,
    compare_runs,
    values_of,
)
from analogyqa.report.figures import (
    published_value,
)
from analogyqa.report.ledger import NOT_RUN, no_run, verdict
from analogyqa.report.summary import DECIMALS, MEASURED, by_cell, summarise_runs, typed
from analogyqa.report.table_formats import Block, Value, full_text
from analogyqa.settings.paper import Paper, Where
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER, join_id

SENSITIVITY = {
    "dataset": "str",
    "axis": "str",
    "value": "str",
    "metric": "str",
    "model": "str",
    **MEASURED,
    "difference_to_paper": "float64",
    "published": "float64",
    "difference": "float64",
    "p_greater": "float64",
    "p_less": "float64",
    "verdict": "str",
    "reason": "str",
}


# The page and the figure show the measure that the papers' claim is about.
METRIC = "mrr"
AT_PAPER = "paper's setting"
SAME = "changes nothing in this system, whose run is that of the paper's setting"
CLAIM = {HOLDS: "holds", FAILS: "fails", UNDECIDED: "is undecided"}


def build_sensitivity(
    papers: Iterable[Paper], config: Config, runs: Iterable[tuple[dict, pd.DataFrame]]
) -> pd.DataFrame:
    """Return every system at the paper's setting and at each variation of it: columns SENSITIVITY.

    There is a row for each data set, variation, metric and system, in the order of the
    configuration; the first variation, of axis `paper` and without value, is the paper's setting.

    `difference`, `p_greater`, `p_less` and `verdict` are of the first system against the second on
    the same questions, and stand on the rows of both. The claim that the first is better holds or
    fails where the two-sided p-value is below the complement of the configured confidence; it is
    not corrected for the number of variations.

    Args:
        papers: `published` is what the tables of the first paper that has it print; where the
            configuration's data are not the papers' there is none.
        config: the systems and the variations; `left_out` says why one was not run.
        runs: as `ledger.read_runs` yields them.

    Raises:
        AnalogyQAError: when two systems were run on other questions.
    """
    papers, runs = list(papers), list(runs)
    found, values = by_cell(summarise_runs(runs, config.bootstrap)), values_of(runs)
    cells, models = sensitivity_cells(config), config.sensitivity.models
    rows = []
    for dataset, (name, (axis, value)), metric in product(
        config.varied_datasets, _choices(config), MEASURES
    ):
        own = [cells.get((model, dataset, name)) for model in models]
        compared = _compare(own, metric, values, config)
        for model, cell in zip(models, own, strict=True):
            paper_cell = cells.get((model, dataset, PAPER))
            run, at_paper = (each and found.get((*each, metric)) for each in (cell, paper_cell))
            row = {"dataset": dataset, "axis": axis, "value": value}
            row |= {"metric": metric, "model": model, **compared}
            row["published"] = _printed(papers, config, model, dataset, metric)
            if run:
                row |= {column: run[column] for column in MEASURED}
                row["reason"] = SAME if name != PAPER and cell == paper_cell else ""
            else:
                row["reason"] = no_run(cell) if cell else config.left_out[join_id(model, name)]
            if run and at_paper:
                row["difference_to_paper"] = round(run["mean"] - at_paper["mean"], DECIMALS)
            rows.append(row)
    return typed(rows, SENSITIVITY)


def _choices(config: Config) -> list[tuple[str, tuple[str, str]]]:
    """Return the name of each variation with its axis and value, the paper's setting first."""
    axes = config.sensitivity.axes.items()
    places = [(axis, value) for axis, values in axes for value in values]
    return [(PAPER, (PAPER, "")), *zip(config.sensitivity.variations(), places, strict=True)]


def _compare(own: list[Cell | None], metric: str, values: Values, config: Config) -> dict:
    """Compare the first system with the second, where there are two."""
    if len(own) < 2:
        return {}
    first, second = (values(*cell, metric) if cell else None for cell in own[:2])
    if first is None or second is None:
        return {"verdict": NOT_RUN}
    row = compare_runs((own[0], own[1]), first, second)
    decided = HOLDS if row["p_greater"] < row["p_less"] else FAILS
    return row | {"verdict": decided if p_value_of(row) < test_level(config) else UNDECIDED}


def p_value_of(row: dict) -> float:
    """Return the two-sided p-value of a row."""
    return min(1.0, 2 * min(row["p_greater"], row["p_less"]))


def test_level(config: Config) -> float:
    return round(1 - config.bootstrap.confidence, DECIMALS)


def _printed(
    papers: list[Paper], config: Config, model: str, dataset: str, metric: str
) -> float | None:
    where = Where(model=model, dataset=dataset, subset=config.sensitivity.subset, metric=metric)
    values = (published_value(paper, where) for paper in papers if config.comparable)
    return next((value for value in values if value is not None), None)


def mark_of(row: dict) -> str:
    """Return the ledger's verdict on a row, empty where nothing was published or run."""
    if pd.isna(row["published"]) or pd.isna(row["mean"]):
        return ""
    return verdict(row["published"], row["ci_low"], row["ci_high"])


def choice_label(row: dict, paper: dict) -> str:
    """Return how a sentence calls a variation, with its questions where they are others."""
    return f"*{plain_words(row['axis'])}: {_value(row, paper)}*"


def _value(row: dict, paper: dict) -> str:
    counts = row["n_questions"], paper["n_questions"]
    differs = pd.notna(counts[0]) and pd.notna(counts[1]) and counts[0] != counts[1]
    return plain_words(row["value"]) + (f" ({counts[0]} questions)" if differs else "")


def plain_words(name: str) -> str:
    return name.replace("_", " ")


def rows_of_block(part: pd.DataFrame, config: Config) -> Block:
    """Return the table of one data set, a row for each variation."""
    models = [config.models[name].title for name in config.sensitivity.models]
    columns = [head for title in models for head in (title, "change")]
    columns += ["Difference", "two-sided p", "Verdict"] if len(models) > 1 else []
    paper, rows = part.iloc[0].to_dict(), []
    for (axis, value), here in part.groupby(["axis", "value"], sort=False):
        systems = here.to_dict("records")
        labels = [plain_words(axis), _value(systems[0], paper)] if value else [AT_PAPER, ""]
        values = []
        for row in systems:
            change = row["difference_to_paper"]
            shown = "" if not value or pd.isna(change) else f"{change:+.3f}"
            values += [full_text(row | {"verdict": mark_of(row)}), Value(shown)]
        rows.append((labels, values + _compared_values(systems[0])))
    title = config.datasets[part["dataset"].iloc[0]].title
    return Block(title, ["Choice", "Taken as"], columns, rows)


def _compared_values(row: dict) -> list[Value]:
    if not row["verdict"]:
        return []
    said = Value(f"{CLAIM_MARKS[row['verdict']]} {row['verdict']}")
    if row["verdict"] == NOT_RUN:
        return [Value(""), Value(""), said]
    return [Value(f"{row['difference']:+.3f}"), Value(f"{p_value_of(row):.2g}"), said]
