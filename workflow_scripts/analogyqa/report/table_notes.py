"""The notes below a table: a legend, and the facts behind its numbers."""

from collections.abc import Iterable, Mapping
from itertools import compress
from typing import Any

import pandas as pd

from analogyqa.cells import Cell
from analogyqa.evaluation.summary import HYPERPARAMETERS_USED
from analogyqa.evaluation.verdicts import MARKS, NOT_RUN
from analogyqa.measures import MEASURES
from analogyqa.rankers.specs import AnalogyOptions
from analogyqa.report.legend import (
    CITED_ROWS,
    COSTS,
    INTERVALS,
    PROTOCOL,
    cell_legend,
    interval_facts,
    marks_legend,
    top_group_legend,
)
from analogyqa.settings.artefacts import CITED, Artefact
from analogyqa.settings.coordinates import COST, COUNT
from analogyqa.settings.overrides import dataset_overrides, from_text
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER
from analogyqa.settings.systems import Training
from analogyqa.tasks import task_of

# A table lists this many hyperparameters and origins; the report has all of them.
MOST_LINES = 4
MOST_TIED = 6  # cells whose ties are counted
CONFIGURATION = "../../report.html#configuration"


def table_notes(artefact: Artefact, rows: list[dict], config: Config) -> list[str]:
    """Return the notes of a table from the rows of its frame.

    Each row also has `run`, the summary row that it shows or None, and `name`, its system as the
    table calls it.
    """
    runs = [row["run"] for row in rows if row["run"]]
    computed_kinds = {row["kind"] for row in rows if pd.notna(row["mean"])}
    verdicts = {row["verdict"] for row in rows if pd.notna(row["published"])}
    has_published = bool(artefact.published) and config.comparable
    mark = " (published)" if has_published else ""
    mark += " mark" if mark and verdicts & {*MARKS} else ""
    notes = _counted(artefact, config) if all(row["kind"] == COUNT for row in rows) else []
    if runs:
        notes += [_data(runs, config), *_protocol(runs, config)]
        notes += [cell_legend(mark), INTERVALS, interval_facts(config)]
        notes += [top_group_legend(config)] if artefact.top_group else []
        notes += [*_all_correct(rows, config), _ties(runs, config)]
    elif computed_kinds:
        notes.append(f"Cell: ours{mark}.")
    notes += [COSTS] if COST in computed_kinds else []
    notes += [CITED_ROWS] if any(row["kind"] == CITED for row in rows) else []
    if artefact.published:
        notes += marks_legend(verdicts, any(row["substitute"] for row in rows), config)
    remarks = names_by_fact((remark, name) for name, remark in artefact.remarks.items())
    notes += [f"{', '.join(names)}: {remark}" for remark, names in remarks.items()]
    notes += group_by_fact("Substitutes", [(row["substitute"], row["name"]) for row in rows])
    reasons = [_reason(row, artefact) for row in rows]
    is_of_means = [pd.notna(row["attainable_runs"]) and row["attainable_runs"] > 1 for row in rows]
    notes += group_by_fact("Compared with a mean of runs", compress(reasons, is_of_means))
    notes += group_by_fact(
        "Not run", compress(reasons, [row["verdict"] == NOT_RUN for row in rows])
    )
    return notes + _hyperparameters_and_origins(rows, config)


def _reason(row: dict, artefact: Artefact) -> tuple[str, str]:
    """Return the reason for the verdict of a row, without its remark, and the name of the row."""
    reason = row["reason"].removesuffix(artefact.remark_on(row["row"], row["column"]))
    return reason.rstrip("; "), row["name"]


def group_by_fact(heading: str, facts: Iterable[tuple[str, str]]) -> list[str]:
    """Return one note with the names that share each fact, or none if there is no fact.

    `facts` are pairs of a fact, such as a reason, and a name; an empty fact is skipped.
    """
    groups = names_by_fact(facts)
    text = "; ".join(f"{', '.join(names)} ({fact})" for fact, names in groups.items())
    return [f"{heading}: {text}."] if text else []


def seeds_fact(runs: Iterable[Mapping]) -> str:
    """Return the number of seeds of runs, by subset if it differs."""
    subsets: dict[int, dict[str, None]] = {}
    for run in runs:
        subsets.setdefault(int(run["n_seeds"]), {})[run["subset"]] = None
    if len(subsets) < 2:
        return ", ".join(map(str, subsets)) or "none"
    return ", ".join(f"{count} ({', '.join(names)})" for count, names in subsets.items())


def names_by_fact(facts: Iterable[tuple[Any, str]]) -> dict[Any, dict[str, None]]:
    """Return the names that share each fact, in order and each once; empty facts are left out."""
    groups: dict[Any, dict[str, None]] = {}
    for fact, name in facts:
        if fact:
            groups.setdefault(fact, {})[name] = None
    return groups


def _counted(artefact: Artefact, config: Config) -> list[str]:
    datasets = {number.coordinates.dataset for number in artefact.numbers()} & {*config.datasets}
    counted = dict.fromkeys(task_of(config.datasets[name]).counted for name in sorted(datasets))
    meanings = {
        "questions": " or ".join(counted),
        "all_questions": "all questions",
        "pairs": "pairs of a question and a candidate",
        "analogies": "pairs of sentence pairs within a category",
    }
    counts = [
        number.coordinates.count or "" for number in artefact.numbers() if number.kind == COUNT
    ]
    return [f"Counted: {', '.join(meanings[name] for name in dict.fromkeys(counts))}."]


def _data(runs: list[dict], config: Config) -> str:
    items: dict[str, dict[str, set[int]]] = {}
    for run in runs:
        overrides = dataset_overrides(from_text(run["overrides"]))
        subset = " ".join([run["subset"], *map("=".join, overrides)])
        items.setdefault(run["dataset"], {}).setdefault(subset, set()).add(run["n_items"])
    data = "; ".join(
        f"{config.datasets[name].title}, {task_of(config.datasets[name]).tested}: "
        + ", ".join(f"{subset} {_either(counts)}" for subset, counts in subsets.items())
        for name, subsets in items.items()
    )
    return f"Data: {data}. Seeds: {seeds_fact(runs)}."


def _protocol(runs: list[dict], config: Config) -> list[str]:
    systems = [config.system_at(run["system"], from_text(run["overrides"])) for run in runs]
    measures = {MEASURES[system.training.select_by].short for system in systems if system.trained}
    notes = [PROTOCOL.format(_either(measures))] if measures else []
    for name in dict.fromkeys(run["dataset"] for run in runs):
        notes += [note for note in task_of(config.datasets[name]).notes if note not in notes]
    aggregates, counts = set(), set()
    for system in systems:
        if isinstance(system.ranker, AnalogyOptions):
            aggregates.add(system.ranker.aggregate)
            counts.add(system.p)
    if counts:
        notes.append(
            f"Prototypes of the question's type: p = {_either(counts)}. "
            f"Aggregate: {_either(aggregates)}."
        )
    return notes


def _either(values: Iterable) -> str:
    return " or ".join(map(str, sorted(values)))


def _all_correct(rows: list[dict], config: Config) -> list[str]:
    """Return how many questions have only correct candidates, and the means without them."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        run = row["run"]
        if run and run["all_correct"] and pd.notna(row["published"]):
            title, which = config.datasets[run["dataset"]].title, row["hyperparameters"]
            counts = f"{title} {run['subset']}, {run['all_correct']} of {run['n_items']}"
            name = f"{row['name']} ({which})" if which else row["name"]
            means = f"{name} {run['mean']:.3f} and {run['mean_of_others']:.3f}"
            groups.setdefault(counts, []).append(means)
    return [
        f"Questions with only correct candidates: {counts}. Means with and without them: "
        f"{', '.join(means)}."
        for counts, means in groups.items()
    ]


def _ties(runs: list[dict], config: Config) -> str:
    counts = {}
    for run in runs:
        overrides = from_text(run["overrides"])
        cell = Cell(run["system"], run["dataset"], run["subset"], overrides)
        if run["tied_candidates"]:
            counts[cell.label] = run["tied_candidates"]
    if len(counts) > MOST_TIED:
        most = sorted(counts, key=lambda label: -counts[label])[:MOST_TIED]
        others = len(counts) - len(most)
        text = ", ".join(f"{label} {counts[label]:,}" for label in most)
        text += f" and fewer in {others} other cells (summary.csv)"
    else:
        text = ", ".join(f"{label} {count}" for label, count in counts.items())
    return task_of(config.datasets[runs[0]["dataset"]]).tie_note(text)


def _hyperparameters_and_origins(rows: list[dict], config: Config) -> list[str]:
    """Return the hyperparameters and origins of systems, in a few lines."""
    tuned, stated, origins = [], [], []
    for row in rows:
        if row["hyperparameters"] == PAPER and row["system"] in config.systems:
            system = config.systems[row["system"]]
            changes = _changes(system.training) or "the defaults"
            stated.append((("Paper's hyperparameters", changes), system.title))
        elif row["run"] and (selection := config.find_selection(row["system"])):
            name = row["run"]["hyperparameters"]
            changes = _flat(selection.hyperparameters.get(name, {}))
            choice = f"{name} ({changes})" if changes else name
            heading = f"Hyperparameters tuned on {selection.subset}"
            tuned.append(((heading, choice), row["name"]))
        if row["provenance"] and row["kind"] != COST:
            origin = row["provenance"].rpartition(HYPERPARAMETERS_USED)[0] or row["provenance"]
            origins.append((("Origin", origin), row["name"]))
    lines = [
        f"{heading} of {', '.join(names)}: {fact}."
        for (heading, fact), names in names_by_fact([*tuned, *stated, *origins]).items()
    ]
    if not lines:
        return []
    return [*lines[:MOST_LINES], f"All hyperparameters and origins: [report]({CONFIGURATION})."]


def _changes(training: Training) -> str:
    """Return the hyperparameters that differ from the defaults."""
    defaults = Training().model_dump()
    return _flat({k: v for k, v in training.model_dump().items() if v != defaults[k]})


def _flat(values: dict) -> str:
    flat = pd.json_normalize(values, sep=" ").to_dict("records")[0] if values else {}
    return ", ".join(f"{key} {value}".replace("_", " ") for key, value in flat.items())
