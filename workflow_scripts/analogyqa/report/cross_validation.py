"""Cross-validation: every question of a subset is tested by systems trained on other folds."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product

import pandas as pd

from analogyqa.cells import Cell, cross_validation_cells, split_corpus, why_left_out
from analogyqa.corpora.questions import count_shared, original_split, select_subset
from analogyqa.evaluation.comparing import (
    COMPARED,
    compare_runs,
    p_value_of,
    round_comparison,
    top_group,
)
from analogyqa.evaluation.learning import NOT_LEARNT, has_cell_learnt
from analogyqa.evaluation.summary import MEASURED, Values, join_folds, measure_columns, to_frame
from analogyqa.evaluation.verdicts import NOT_RUN, no_run
from analogyqa.measures import MEASURES, RANKED, titles
from analogyqa.report.legend import (
    INTERVALS,
    LEARNT,
    PAIRED_TEST,
    cell_legend,
    for_data,
    interval_facts,
    top_group_legend,
)
from analogyqa.report.table_formats import Block, Table, Value, full_text, short_text
from analogyqa.report.table_notes import group_by_fact
from analogyqa.schemas import SPLITS
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CrossValidation

EVERY = "all"  # the questions of all origins
CROSS_VALIDATION = {
    "paper": "str",
    "dataset": "str",
    "subset": "str",
    "system": "str",
    "measure": "str",
    "origin": "str",
    **MEASURED,
    "folds": "Int64",
    "folds_learnt": "Int64",
    **COMPARED,
    "top_group": "boolean",
    "reason": "str",
}


def build_cross_validation(
    paper: str,
    study: CrossValidation,
    config: Config,
    values: Values,
    learnt: Mapping[Cell, bool],
) -> pd.DataFrame:
    """Join the folds of every cross-validated system of a paper.

    Args:
        paper, study: The name of the paper, and its cross-validation.
        values: As `summary.values_of` returns it.
        learnt: Whether each trained cell has learnt, see `learning.has_learnt`.

    Returns:
        Columns CROSS_VALIDATION, a row for each data set, system, measure and origin. The origin is
        the split of the data set that a question comes from, or `all`. Only rows of `all` have a
        `top_group` and a `difference`, which is the first system minus this one. A system without
        runs on a data set has one row for each measure, with the reason.
    """
    cells = cross_validation_cells(config, paper)
    scores = {
        (*key, measure): join_folds(folds, measure, values)
        for key, folds in cells.items()
        for measure in RANKED
    }
    top = _top_groups(cells, scores, config)
    rows = []
    for dataset, system in product(study.datasets, study.systems):
        folds = cells.get((system, dataset), [])
        of_folds = (has_cell_learnt(cell, learnt, config) for cell in folds)
        trained = [has_learnt for has_learnt in of_folds if has_learnt is not None]
        start: dict = {
            "paper": paper,
            "dataset": dataset,
            "subset": study.subset,
            "system": system,
            "folds": len(folds),
            "folds_learnt": sum(trained) if trained else None,
        }
        for measure in RANKED:
            by_seed = scores.get((system, dataset, measure))
            if by_seed is None:
                missing = [cell for cell in folds if values(cell, measure) is None]
                reason = why_left_out(system, dataset, config) or no_run(*missing)
                rows.append(start | {"measure": measure, "origin": EVERY, "reason": reason})
                continue
            compared: dict = {"top_group": (system, dataset, measure) in top}
            first = scores.get((study.systems[0], dataset, measure))
            if system != study.systems[0] and first is not None:
                names = cells[study.systems[0], dataset][0].path, folds[0].path
                compared |= round_comparison(compare_runs(names, first, by_seed, config))
            origins = by_seed.columns.map(original_split)
            for origin in (EVERY, *SPLITS):
                part = by_seed if origin == EVERY else by_seed.loc[:, origins == origin]
                if part.empty:
                    continue
                row = start | {"measure": measure, "origin": origin}
                row |= measure_columns(part, measure, config)
                rows.append(row | compared if origin == EVERY else row)
    return to_frame(rows, CROSS_VALIDATION)


def _top_groups(
    cells: Mapping[tuple[str, str], list[Cell]],
    scores: Mapping[tuple[str, str, str], pd.DataFrame | None],
    config: Config,
) -> set[tuple[str, str, str]]:
    """Return the keys of `scores` that are in the top group of their data set and measure."""
    top = set()
    for dataset in dict.fromkeys(dataset for _, dataset in cells):
        systems = {folds[0].path: name for (name, data), folds in cells.items() if data == dataset}
        for measure in RANKED:
            runs = {path: scores[name, dataset, measure] for path, name in systems.items()}
            existing = {path: values for path, values in runs.items() if values is not None}
            top |= {(systems[path], dataset, measure) for path in top_group(existing, config)}
    return top


def shared_notes(corpora: Mapping[str, pd.DataFrame], subset: str, config: Config) -> list[str]:
    """Return how many tested questions and candidates of a subset are also in train or dev.

    The corpora are those of the folds and of the data sets, by name.
    """
    counts: dict[tuple[str, bool], Counter[str]] = {}
    for name, corpus in corpora.items():
        dataset, overrides = split_corpus(name)
        types = config.types_of(subset)
        selected = pd.concat([select_subset(corpus, split, types) for split in SPLITS])
        counts.setdefault((dataset, bool(overrides)), Counter()).update(count_shared(selected))
    splits = {True: "all folds", False: "the paper's split"}
    return [
        f"Test items also in train or dev, {config.datasets[dataset].title}, {splits[is_folded]}: "
        f"{total['questions']} of {total['of_questions']} questions, {total['candidates']} of "
        f"{total['of_candidates']} candidates (answers that the data set gives to several "
        "questions)."
        for (dataset, is_folded), total in counts.items()
    ]


def cross_validation_table(
    frame: pd.DataFrame,
    paper: Paper,
    study: CrossValidation,
    shared: Iterable[str],
    config: Config,
) -> Table:
    """Return a block for each data set of columns CROSS_VALIDATION; `shared` are `shared_notes`."""
    title = f"Cross-validation of {paper.paper}: all questions of {study.subset}"
    blocks = [
        _block(part, study.measures, config) for _, part in frame.groupby("dataset", sort=False)
    ]
    first = config.systems[study.systems[0]].title
    not_run = frame[frame["reason"] != ""].drop_duplicates(["dataset", "system"])
    notes = [
        f"Folds: {study.folds}, by question, over train, dev and test together. Each fold is "
        "tested by systems trained on the others; every eighth question of these chooses the "
        "epoch. Prototypes: training questions. Hyperparameters: the paper's. This is not the "
        "paper's protocol.",
        cell_legend(both_intervals=True),
        INTERVALS,
        interval_facts(config),
        top_group_legend(config),
        f"Measures: {titles(study.measures)}. From train, dev and test: the questions of each "
        "split of the data set, whose labels differ in quality; mean {other questions} (number).",
        f"First minus this: {first} minus the system of the row. Correction for several systems: "
        "none.",
        PAIRED_TEST,
        *shared,
        LEARNT,
        f"Folds that {NOT_LEARNT}: {_not_learnt(frame, config) or 'none'}.",
        *group_by_fact("Not run", zip(not_run["reason"], _names(not_run, config), strict=True)),
        f"Published values, for the paper's own split: {paper.citation}",
    ]
    return Table(for_data(title, config), blocks, notes)


def with_count(dataset: str, part: pd.DataFrame, config: Config) -> str:
    """Return the title of a data set with the number of scored questions, or "not run".

    `part` are its rows of a table with a column `n_items`.
    """
    count = part["n_items"].max()
    questions = f"{count} questions" if pd.notna(count) else NOT_RUN
    return f"{config.datasets[dataset].title}, {questions}"


def _block(part: pd.DataFrame, measures: list[str], config: Config) -> Block:
    rows = {(row["system"], row["measure"], row["origin"]): row for row in part.to_dict("records")}
    main, *_ = measures  # origins and differences are shown for the main measure only
    columns = [MEASURES[name].short for name in measures]
    columns += [f"from {origin}" for origin in SPLITS] + ["first minus this", "p-value"]
    lines = []
    for system in dict.fromkeys(part["system"]):
        values = []
        for name in measures:
            # The other keys that `full_text` reads.
            row = rows[system, name, EVERY] | {"published": None, "verdict": "", "substitute": ""}
            values.append(
                full_text(row, both_intervals=True)._replace(bold=row["top_group"] is True)
            )
        for origin in SPLITS:
            row = rows.get((system, main, origin))
            value = short_text(row) if row else Value("")
            items = f"{value.interval} ({row['n_items']})" if row else ""
            values.append(value._replace(interval=items.strip()))
        values += difference_values(rows[system, main, EVERY])
        lines.append(([config.systems[system].title], values))
    dataset = part["dataset"].iloc[0]
    return Block(with_count(dataset, part, config), ["System"], columns, lines)


def difference_values(row: dict) -> list[Value]:
    """Return a difference with its interval, and the two-sided p-value; both "" without one."""
    if pd.isna(row["difference"]):
        return [Value(""), Value("")]
    interval = f"[{row['low']:+.3f}, {row['high']:+.3f}]"
    return [Value(f"{row['difference']:+.3f}", interval), Value(f"{p_value_of(row):.2g}")]


def _names(rows: pd.DataFrame, config: Config) -> list[str]:
    return [
        f"{config.systems[system].title} on {config.datasets[dataset].title}"
        for system, dataset in zip(rows["system"], rows["dataset"], strict=True)
    ]


def _not_learnt(frame: pd.DataFrame, config: Config) -> str:
    trained = frame[(frame["origin"] == EVERY) & frame["folds_learnt"].notna()]
    trained = trained.drop_duplicates(["dataset", "system"])
    failed = trained[trained["folds_learnt"] < trained["folds"]]
    counts = failed["folds"] - failed["folds_learnt"]
    return ", ".join(
        f"{name} ({count} of {folds})"
        for name, count, folds in zip(_names(failed, config), counts, failed["folds"], strict=True)
    )
