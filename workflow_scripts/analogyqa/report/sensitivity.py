"""The open choices of a paper, each varied alone."""

from itertools import product

import pandas as pd

from analogyqa.cells import (
    Cell,
    sensitivity_cells,
    why_no_run,
)
from analogyqa.evaluation.claims import CLAIM_MARKS, FAILS, HOLDS, UNDECIDED
from analogyqa.evaluation.significance import (
    COMPARED,
    compare_runs,
    row_p_value,
    significance_level,
)
from analogyqa.evaluation.summary import (
    DECIMALS,
    MEASURED,
    Results,
    few_learned,
    learned_text,
    to_frame,
)
from analogyqa.evaluation.verdicts import NOT_LEARNED, NOT_RUN, no_run, verdict
from analogyqa.measures import RANKED, titles
from analogyqa.report.studies import data_title, difference_values
from analogyqa.report.table_formats import Block, Table, Value, value_text
from analogyqa.report.tables import (
    LEARNED,
    PAIRED_TEST,
    PROTOCOL,
    cell_legend,
    for_data,
    group_by_fact,
    interval_facts,
    marks_legend,
    seeds_fact,
)
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER, Sensitivity

SENSITIVITY = {
    **dict.fromkeys(["dataset", "choice", "value", "measure", "system"], "str"),
    **MEASURED,
    "substitute": "str",
    **dict.fromkeys(["difference_to_paper", "published"], "float64"),
    "mark": "str",
    **COMPARED,
    **dict.fromkeys(["verdict", "reason"], "str"),
}
VERDICTS = (HOLDS, FAILS, UNDECIDED, NOT_LEARNED, NOT_RUN)
LEGEND = (
    "Change: of the mean, from that with the paper's hyperparameters. No variation is chosen.",
    "A variation of the questions compares the systems on its own questions, so a change may come "
    "from these.",
)
AT_PAPER = "paper's hyperparameters"
NO_EFFECT = "changes nothing in this system, so it has the run with the paper's hyperparameters"


def build_sensitivity(
    paper: Paper, study: Sensitivity, config: Config, results: Results
) -> pd.DataFrame:
    """Return every system with the paper's hyperparameters and in each variation.

    The columns are SENSITIVITY. There is a row for each data set, variation, measure and system, in
    the order of the configuration; the first variation, with choice `paper` and no value, is the
    paper's. `mark` is the verdict on the mean, which ignores whether one run can give the published
    value; it is empty where nothing was published or run, or if our data are not the paper's.
    `difference`, `p_greater`, `p_less` and `verdict` compare the first system with the second on
    the same questions, and are on the rows of both. The p-values are not corrected for the number
    of variations.

    Raises AnalogyQAError if the systems were run on different questions.
    """
    cells, variations = sensitivity_cells(config, paper.paper), study.variations()
    rows = []
    for dataset, (choice, value), measure in product(study.datasets, variations, RANKED):
        varied = [cells.get((system, dataset, choice, value)) for system in study.systems]
        compared = _compare_systems(varied[:2], measure, results, config)
        for system, cell in zip(study.systems, varied, strict=True):
            at = Coordinates(system=system, dataset=dataset, subset=study.subset)
            printed = at | Coordinates(measure=measure)
            published = paper.published_at(printed) if config.is_comparable(dataset) else None
            row: dict = {"dataset": dataset, "choice": choice, "value": value, "measure": measure}
            row |= {"system": system, "published": published, **compared}
            if cell is None or not (run := results.by_cell.get((cell, measure))):
                changed = at | Coordinates(**variations[choice, value])
                rows.append(row | {"reason": no_run(cell) if cell else why_no_run(changed, config)})
                continue
            row |= {column: run[column] for column in (*MEASURED, "substitute")}
            if published is not None:
                competitors = paper.competitors(printed)
                row["mark"] = verdict(published, run["run_low"], run["run_high"], competitors)
                if learned_text(run["n_learned"], run["n_trained"]):
                    row["mark"] = NOT_LEARNED
            paper_cell = cells.get((system, dataset, PAPER, ""))
            if choice != PAPER and cell == paper_cell:
                row["reason"] = NO_EFFECT
            if paper_cell and (paper_run := results.by_cell.get((paper_cell, measure))):
                row["difference_to_paper"] = round(run["mean"] - paper_run["mean"], DECIMALS)
            rows.append(row)
    return to_frame(rows, SENSITIVITY)


def _compare_systems(
    pair: list[Cell | None], measure: str, results: Results, config: Config
) -> dict:
    """Compare the first system with the second, if there are two.

    Nothing follows if most training runs of one did not learn.
    """
    if len(pair) < 2:
        return {}
    cells = [cell for cell in pair if cell]
    scores = [results.values(cell, measure) for cell in cells]
    row: dict = {"verdict": NOT_RUN}
    if len(scores) == 2 and scores[0] is not None and scores[1] is not None:
        names = cells[0].path, cells[1].path
        level = significance_level(config.bootstrap)
        row |= compare_runs(names, scores[0], scores[1], level).rounded()
        decided = HOLDS if row["p_greater"] < row["p_less"] else FAILS
        row["verdict"] = decided if row_p_value(row) < level else UNDECIDED
    runs = [results.by_cell.get((cell, measure)) for cell in cells]
    if any(few_learned(run["n_learned"], run["n_trained"]) for run in runs if run):
        row["verdict"] = NOT_LEARNED
    return row


def variation_name(choice: str, value: str) -> str:
    """Return a variation in words."""
    return f"{choice}: {value}".replace("_", " ") if value else AT_PAPER


def shown_rows(frame: pd.DataFrame, study: Sensitivity) -> pd.DataFrame:
    """Return the rows of a frame of columns SENSITIVITY with the measure of their data set."""
    return frame[frame["measure"] == frame["dataset"].map(study.measure_on)]


def sensitivity_table(frame: pd.DataFrame, config: Config, study: Sensitivity) -> Table:
    """Return the number of verdicts, and a block for each data set of columns SENSITIVITY."""
    rows = shown_rows(frame, study)
    parts = [part for _, part in rows.groupby("dataset", sort=False)]
    counts = [_verdict_counts(parts, config)] if len(study.systems) > 1 and parts else []
    return Table(
        title=for_data("Sensitivity to the open choices", config),
        blocks=[*counts, *(_variation_block(part, config, study) for part in parts)],
        notes=_sensitivity_notes(rows, config, study),
    )


def _variation_block(part: pd.DataFrame, config: Config, study: Sensitivity) -> Block:
    names = [config.systems[name].title for name in study.systems]
    columns = [head for title in names for head in (title, "change")]
    columns += ["Difference", "two-sided p", "Verdict"] if len(names) > 1 else []
    count, rows = part["n_items"].iloc[0], []
    for (choice, value), variation in part.groupby(["choice", "value"], sort=False):
        systems = variation.to_dict("records")
        labels = [choice.replace("_", " "), value.replace("_", " ")] if value else [AT_PAPER, ""]
        items = systems[0]["n_items"]
        if pd.notna(items) and pd.notna(count) and items != count:
            labels[1] += f" ({items} questions)"
        values = []
        for row in systems:
            score, change = value_text(row | {"verdict": row["mark"]}), row["difference_to_paper"]
            values += [score, Value(f"{change:+.3f}" if value and pd.notna(change) else "")]
        rows.append((labels, values + _compared_values(systems[0])))
    title = data_title(part, config)
    if other := study.other_measures.get(part["dataset"].iloc[0]):
        title += f", {titles([other])}"
    return Block(title, ["Choice", "Value"], columns, rows)


def _compared_values(row: dict) -> list[Value]:
    if not row["verdict"]:
        return []
    difference, p_value = difference_values(row)
    return [difference._replace(interval=""), p_value, Value(_marked(row["verdict"]))]


def _marked(verdict: str) -> str:
    return f"{CLAIM_MARKS[verdict]} {verdict}"


def _verdict_counts(parts: list[pd.DataFrame], config: Config) -> Block:
    """Return the verdict with the paper's hyperparameters, and the number of each in variations."""
    rows = []
    for part in parts:
        at_paper, *varied = part.drop_duplicates(["choice", "value"])["verdict"]
        counts = [Value(str(varied.count(verdict) or "")) for verdict in VERDICTS]
        title = data_title(part, config)
        rows.append(([title], [Value(at_paper), Value(str(len(varied))), *counts]))
    columns = [AT_PAPER.capitalize(), "Variations", *map(_marked, VERDICTS)]
    return Block("Verdicts on the claim", ["Data set"], columns, rows)


def _sensitivity_notes(frame: pd.DataFrame, config: Config, study: Sensitivity) -> list[str]:
    at_paper = frame[(frame["choice"] == PAPER) & (frame["value"] == "")].dropna(subset="mean")
    counts = at_paper.drop_duplicates("dataset").set_index("dataset")["n_items"]
    data = ", ".join(f"{config.datasets[name].title} {count}" for name, count in counts.items())
    measures = titles(dict.fromkeys([study.measure, *map(study.measure_on, study.datasets)]))
    seeds = seeds_fact(at_paper.assign(subset=study.subset).to_dict("records"))
    names = [config.systems[name].title for name in study.systems]
    claim = f" Claim: {names[0]} ranks better than {names[1]}." if len(names) > 1 else ""
    notes = [
        f"Open choices: {len(study.choices)}. Variations: {sum(map(len, study.choices.values()))}, "
        f"each alone, the rest as in the paper.{claim}",
        f"Data: {study.subset}, test split, questions with the paper's hyperparameters: "
        f"{data or 'none'}. Seeds: {seeds}.",
        f"Measure: {measures}. The csv has {titles(RANKED)}.",
        PROTOCOL.format("score"),
        *cell_legend(" (published) mark" if config.comparable else ""),
        interval_facts(config),
        *LEGEND,
        LEARNED,
    ]
    if len(names) > 1:
        notes += [
            PAIRED_TEST,
            f"Level: {significance_level(config.bootstrap):g}. Correction for several tests: none.",
        ]
    notes += marks_legend({*frame["mark"]}, frame["substitute"].ne("").any(), config)
    facts: dict[str, list[tuple[str, str]]] = {"Not run": [], "No run of its own": []}
    for row in frame.to_dict("records"):
        variation = variation_name(row["choice"], row["value"])
        name = f"{config.systems[row['system']].title} (*{variation}*)"
        heading = "Not run" if pd.isna(row["mean"]) else "No run of its own"
        facts[heading].append((row["reason"], name))
    return notes + [note for heading in facts for note in group_by_fact(heading, facts[heading])]
