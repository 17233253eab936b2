"""What the open choices of a paper change."""

from collections.abc import Iterable, Mapping
from itertools import product

import pandas as pd

from analogyqa.measures import RANKED
from analogyqa.plan import Cell, sensitivity_cells, why_no_run
from analogyqa.report.claims import CLAIM_MARKS, FAILS, HOLDS, UNDECIDED
from analogyqa.report.comparing import compare_runs, level_of, p_value_of, rounded
from analogyqa.report.learning import NOT_LEARNT
from analogyqa.report.summary import (
    DECIMALS,
    MEASURED,
    Values,
    by_cell,
    summarise_runs,
    typed,
    values_of,
)
from analogyqa.report.table_formats import Block, Value, full_text
from analogyqa.report.verdicts import NOT_RUN, no_run, verdict
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER, Sensitivity

SENSITIVITY = {
    "dataset": "str",
    "choice": "str",
    "value": "str",
    "measure": "str",
    "system": "str",
    **MEASURED,
    "substitute": "str",
    "learnt": "str",
    "difference_to_paper": "float64",
    "published": "float64",
    "difference": "float64",
    "low": "float64",
    "high": "float64",
    "p_greater": "float64",
    "p_less": "float64",
    "verdict": "str",
    "reason": "str",
}


AT_PAPER = "paper's hyperparameters"
SAME = "changes nothing in this system, whose run is that of the paper's hyperparameters"


def build_sensitivity(
    paper: Paper,
    config: Config,
    runs: Iterable[tuple[dict, pd.DataFrame]],
    learnt: Mapping[Cell, bool],
) -> pd.DataFrame:
    """Return every system as in the paper and at each variation: columns SENSITIVITY.

    There is a row for each data set, variation, measure and system, in the order of the
    configuration; the first variation, of choice `paper` and without value, is the paper's.

    `difference`, `p_greater`, `p_less` and `verdict` are of the first system against the second on
    the same questions, and stand on the rows of both. The claim that the first is better holds or
    fails where the two-sided p-value is below the complement of the configured confidence; it is
    not corrected for the number of variations. Where one of the two did not learn, the verdict says
    so.

    Args:
        paper: whose open choices they are; `published` is what its tables print, where the
            configuration's data are the paper's.
        config: the systems and the variations; `left_out` says why one was not run.
        runs: as `summary.read_runs` yields them.
        learnt: of each cell that was trained, see `learning.has_learnt`.

    Raises:
        AnalogyQAError: when two systems were run on other questions.
    """
    runs, study = list(runs), config.studies[paper.paper].sensitivity
    found, values = by_cell(summarise_runs(runs, config)), values_of(runs)
    cells, variations = sensitivity_cells(config, paper.paper), study.variations()
    rows = []
    for dataset, (choice, value), measure in product(study.datasets, variations, RANKED):
        own = [cells.get((system, dataset, choice, value)) for system in study.systems]
        compared = _compare(own, measure, values, config)
        if compared and not all(learnt.get(cell, True) for cell in own[:2]):
            compared["verdict"] = NOT_LEARNT
        for system, cell in zip(study.systems, own, strict=True):
            coordinates = Coordinates(system=system, dataset=dataset, subset=study.subset)
            stated = cells.get((system, dataset, PAPER, ""))
            run, at_paper = (found.get((each, measure)) for each in (cell, stated))
            row = {"dataset": dataset, "choice": choice, "value": value}
            row |= {"measure": measure, "system": system, **compared}
            if config.comparable:
                row["published"] = paper.published_at(coordinates | Coordinates(measure=measure))
            if run:
                row |= {column: run[column] for column in (*MEASURED, "substitute")}
                row["learnt"] = {True: "yes", False: "no"}[learnt.get(cell, True)]
                row["reason"] = SAME if choice != PAPER and cell == stated else ""
            else:
                changed = coordinates | Coordinates(**variations[choice, value])
                row["reason"] = no_run(cell) if cell else why_no_run(changed, config)
            if run and at_paper:
                row["difference_to_paper"] = round(run["mean"] - at_paper["mean"], DECIMALS)
            rows.append(row)
    return typed(rows, SENSITIVITY)


def _compare(own: list[Cell | None], measure: str, values: Values, config: Config) -> dict:
    """Compare the first system with the second, where there are two."""
    if len(own) < 2:
        return {}
    first, second = (values(cell, measure) if cell else None for cell in own[:2])
    if first is None or second is None:
        return {"verdict": NOT_RUN}
    row = rounded(compare_runs((own[0].path, own[1].path), first, second, config))
    row = {name: row[name] for name in ("difference", "low", "high", "p_greater", "p_less")}
    decided = HOLDS if row["p_greater"] < row["p_less"] else FAILS
    return row | {"verdict": decided if p_value_of(row) < level_of(config) else UNDECIDED}


def mark_of(row: dict) -> str:
    """Return the ledger's verdict on a row, empty where nothing was published, run or learnt."""
    if pd.isna(row["published"]) or pd.isna(row["mean"]) or row["learnt"] == "no":
        return ""
    return verdict(row["published"], row["run_low"], row["run_high"])


def _value(row: dict, paper: dict) -> str:
    counts = row["n_items"], paper["n_items"]
    differs = pd.notna(counts[0]) and pd.notna(counts[1]) and counts[0] != counts[1]
    return plain_words(row["value"]) + (f" ({counts[0]} questions)" if differs else "")


def plain_words(name: str) -> str:
    return name.replace("_", " ")


def rows_of_block(part: pd.DataFrame, config: Config, study: Sensitivity) -> Block:
    """Return the table of one data set, a row for each variation."""
    titles = [config.systems[name].title for name in study.systems]
    columns = [head for title in titles for head in (title, "change")]
    columns += ["Difference", "two-sided p", "Verdict"] if len(titles) > 1 else []
    paper, rows = part.iloc[0].to_dict(), []
    for (choice, value), here in part.groupby(["choice", "value"], sort=False):
        systems = here.to_dict("records")
        labels = [plain_words(choice), _value(systems[0], paper)] if value else [AT_PAPER, ""]
        values = []
        for row in systems:
            change = row["difference_to_paper"]
            shown = "" if not value or pd.isna(change) else f"{change:+.3f}"
            values += [_shown(row), Value(shown)]
        rows.append((labels, values + _compared_values(systems[0])))
    title = config.datasets[part["dataset"].iloc[0]].title
    return Block(title, ["Choice", "Taken as"], columns, rows)


def _shown(row: dict) -> Value:
    value = full_text(row | {"verdict": mark_of(row)})
    return value._replace(ours=f"{value.ours}, {NOT_LEARNT}") if row["learnt"] == "no" else value


def _compared_values(row: dict) -> list[Value]:
    if not row["verdict"]:
        return []
    said = Value(f"{CLAIM_MARKS.get(row['verdict'], '➖')} {row['verdict']}")
    if row["verdict"] == NOT_RUN:
        return [Value(""), Value(""), said]
    return [Value(f"{row['difference']:+.3f}"), Value(f"{p_value_of(row):.2g}"), said]
