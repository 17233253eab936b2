"""Cross-validated systems: every question of a subset, tested by what the other folds trained."""

from collections.abc import Iterable, Mapping
from itertools import product

import pandas as pd

from analogyqa.corpora.folds import count_shared, original_split
from analogyqa.corpora.question_types import select_subset
from analogyqa.measures import MEASURES, RANKED, titles
from analogyqa.plan import Cell, cross_validation_cells, split_corpus, why_left_out
from analogyqa.report.comparing import (
    COMPARED,
    compare_runs,
    p_value_of,
    rounded,
    top_group,
    top_group_note,
)
from analogyqa.report.learning import NOT_LEARNT
from analogyqa.report.ledger import NOT_RUN, OTHER_DATA, no_run
from analogyqa.report.significance import SAMPLES
from analogyqa.report.spread import summarise
from analogyqa.report.summary import DECIMALS, MEASURED, Values, joined, typed
from analogyqa.report.table_formats import Block, Table, Value, full_text, short_text
from analogyqa.report.table_notes import grouped, interval_notes
from analogyqa.schemas import SPLITS
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

EVERY = "all"  # the questions of all origins together
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
    paper: str, config: Config, values: Values, learnt: Mapping[Cell, bool]
) -> pd.DataFrame:
    """Join the folds of every cross-validated system of a paper: columns CROSS_VALIDATION.

    There is a row for each data set, system, measure and origin: the split of the data set that a
    question is from, or `all` of them. `difference`, with its interval and p-values, is of the
    first system of the configuration minus this one, over all; `top_group` says, over all,
    whether a system is in that of its data set and measure. One that has not been run on a data
    set has a single row there for each measure, with the reason.

    Args:
        paper: whose study it is.
        config: what the runs were made with.
        values: as `summary.values_of` returns it.
        learnt: of each cell that was trained, see `learning.has_learnt`.
    """
    study, cells = config.studies[paper].cross_validation, cross_validation_cells(config, paper)
    found = {
        (*key, measure): joined(folds, measure, values)
        for key, folds in cells.items()
        for measure in RANKED
    }
    top = _top_groups(cells, found, config)
    rows = []
    for dataset, system in product(study.datasets, study.systems) if study else ():
        folds = cells.get((system, dataset), [])
        trained = [learnt[cell] for cell in folds if cell in learnt]
        start = {"paper": paper, "dataset": dataset, "subset": study.subset, "system": system}
        start |= {"folds": len(folds), "folds_learnt": sum(trained) if trained else None}
        left_out = why_left_out(system, dataset, config)
        for measure in RANKED:
            own = found.get((system, dataset, measure))
            if own is None:
                missing = [cell for cell in folds if values(cell, measure) is None]
                reason = left_out or no_run(*missing)
                rows.append(start | {"measure": measure, "origin": EVERY, "reason": reason})
                continue
            compared = {}
            first = found.get((study.systems[0], dataset, measure))
            if system != study.systems[0] and first is not None:
                names = cells[study.systems[0], dataset][0].path, folds[0].path
                compared = rounded(compare_runs(names, first, own, config))
            origins = own.columns.map(original_split)
            for origin in (EVERY, *SPLITS):
                part = own if origin == EVERY else own.loc[:, origins == origin]
                if part.empty:
                    continue
                summary = summarise(
                    part.to_numpy(),
                    config.bootstrap.samples,
                    config.bootstrap.confidence,
                    MEASURES[measure].largest,
                )
                row = {name: round(value, DECIMALS) for name, value in summary._asdict().items()}
                row |= {"n_seeds": part.shape[0], "n_items": part.shape[1]}
                in_top = {"top_group": (system, dataset, measure) in top}
                of_all = compared | in_top if origin == EVERY else {}
                rows.append(start | row | of_all | {"measure": measure, "origin": origin})
    return typed(rows, CROSS_VALIDATION)


def _top_groups(
    cells: Mapping[tuple[str, str], list[Cell]],
    found: Mapping[tuple[str, str, str], pd.DataFrame | None],
    config: Config,
) -> set[tuple[str, str, str]]:
    """Return the keys of `found` that are in the top group of their data set and measure."""
    top = set()
    for dataset in dict.fromkeys(dataset for _, dataset in cells):
        systems = {folds[0].path: name for (name, own), folds in cells.items() if own == dataset}
        for measure in RANKED:
            runs = {path: found[name, dataset, measure] for path, name in systems.items()}
            there = {path: own for path, own in runs.items() if own is not None}
            top |= {(systems[path], dataset, measure) for path in top_group(there, config)}
    return top


def shared_notes(corpora: Mapping[str, pd.DataFrame], subset: str, config: Config) -> list[str]:
    """Say how much of what is tested stands in train or dev, too: of the folds, and of the split.

    Args:
        corpora: the tables of the folds and of the data sets as they are, by name.
        subset: that is cross-validated.
        config: its question types.
    """
    counts: dict[tuple[str, bool], dict[str, int]] = {}
    for name, corpus in corpora.items():
        dataset, overrides = split_corpus(name)
        types = config.types_of(subset)
        own = pd.concat([select_subset(corpus, split, types) for split in SPLITS])
        total = counts.setdefault((dataset, bool(overrides)), {})
        for key, count in count_shared(own).items():
            total[key] = total.get(key, 0) + count
    words = {True: "the folds together", False: "the paper's split"}
    return [
        f"{config.datasets[dataset].title}, {words[folded]}: of {own['of_questions']} test "
        f"questions {own['questions']} stand in train or dev, too, and of {own['of_candidates']} "
        f"test candidates {own['candidates']} do, which the data set gives to several questions."
        for (dataset, folded), own in counts.items()
    ]


def cross_validation_table(
    frame: pd.DataFrame, paper: Paper, shared: Iterable[str], config: Config
) -> Table:
    """Return a block for each data set, with how it was done.

    Args:
        frame: of columns CROSS_VALIDATION.
        paper: whose study it is.
        shared: what `shared_notes` says.
        config: what the runs were made with.
    """
    study = config.studies[paper.paper].cross_validation
    title = f"Cross-validation of {paper.paper}: all questions of {study.subset}"
    blocks = [
        _block(part, study.measures, config)
        for _, part in frame.groupby("dataset", sort=False)
        if not part.empty
    ]
    first = config.systems[study.systems[0]].title
    fixed = bool(frame["run_low"].eq(frame["run_high"]).any())
    notes = [
        f"Each data set is cut into {study.folds} folds by question, its train, dev and test "
        "splits together. A fold is tested by what was trained on the others, of which every "
        "eighth question chooses the epoch. Prototypes are training questions. Every system is at "
        "the paper's hyperparameters. This is not the paper's protocol.",
        *interval_notes(" {other questions}", config, fixed=fixed),
        top_group_note(config),
        f"Shown are {titles(study.measures)}. The columns from train, from dev and from test have "
        "the questions of each split of the data set, whose labels are of different quality: mean "
        "{other questions} and their number.",
        f"{first} minus this system, with its {100 * config.bootstrap.confidence:g}% interval and "
        f"two-sided p, by a paired randomisation test over questions and seeds ({SAMPLES} draws); "
        "not corrected for the number of systems.",
        *shared,
        f"Folds that {NOT_LEARNT}: {_not_learnt(frame, config) or 'none'}.",
        *_not_run(frame, config),
        f"Published values of the paper's own split: {paper.citation}",
    ]
    return Table(
        label=f"tab:{paper.paper}-cross_validation",
        title=title if config.comparable else f"{title} ({OTHER_DATA})",
        blocks=blocks,
        notes=notes,
        frame=frame,
    )


def with_count(dataset: str, part: pd.DataFrame, config: Config) -> str:
    """Return the title of a data set with how many questions of it were scored, or that none was.

    Args:
        dataset: its name.
        part: rows of it, with a column `n_items`.
        config: the titles.
    """
    count = part["n_items"].max()
    said = f"{count} questions" if pd.notna(count) else NOT_RUN
    return f"{config.datasets[dataset].title}, {said}"


def _block(part: pd.DataFrame, measures: list[str], config: Config) -> Block:
    rows = {(row["system"], row["measure"], row["origin"]): row for row in part.to_dict("records")}
    main, *_ = measures  # of which the origins and the differences are
    columns = [MEASURES[name].short for name in measures]
    columns += [f"from {origin}" for origin in SPLITS] + ["first minus this", "p-value"]
    lines = []
    for system in dict.fromkeys(part["system"]):
        own = [_of(rows, system, name, EVERY) for name in measures]
        values = [
            full_text(row, questions=True)._replace(bold=row["top_group"] is True) for row in own
        ]
        for origin in SPLITS:
            row = rows.get((system, main, origin))
            shown = short_text(row) if row else Value("")
            values.append(shown._replace(published=f"({row['n_items']})") if row else shown)
        row = _of(rows, system, main, EVERY)
        if pd.notna(row["difference"]):
            interval = f"[{row['low']:+.3f}, {row['high']:+.3f}]"
            values += [
                Value(f"{row['difference']:+.3f}", interval),
                Value(f"{p_value_of(row):.2g}"),
            ]
        else:
            values += [Value(""), Value("")]
        lines.append(([config.systems[system].title], values))
    dataset = part["dataset"].iloc[0]
    return Block(with_count(dataset, part, config), ["System"], columns, lines)


def _of(rows: dict, system: str, measure: str, origin: str) -> dict:
    """Return a row with what `full_text` reads besides."""
    return rows[system, measure, origin] | {"published": None, "verdict": "", "substitute": ""}


def _not_run(frame: pd.DataFrame, config: Config) -> list[str]:
    own = frame[frame["reason"] != ""].drop_duplicates(["dataset", "system"])
    reasons = own.groupby("reason", sort=False)
    return grouped("Not run", {reason: _names(part, config) for reason, part in reasons})


def _names(rows: pd.DataFrame, config: Config) -> list[str]:
    return [
        f"{config.systems[system].title} on {config.datasets[dataset].title}"
        for system, dataset in zip(rows["system"], rows["dataset"], strict=True)
    ]


def _not_learnt(frame: pd.DataFrame, config: Config) -> str:
    own = frame[(frame["origin"] == EVERY) & frame["folds_learnt"].notna()]
    own = own.drop_duplicates(["dataset", "system"])
    own = own[own["folds_learnt"] < own["folds"]]
    failed = own["folds"] - own["folds_learnt"]
    return ", ".join(
        f"{name} ({count} of {folds})"
        for name, count, folds in zip(_names(own, config), failed, own["folds"], strict=True)
    )
