"""What stands below a table."""

from collections.abc import Collection, Iterable, Mapping

import pandas as pd

from analogyqa.measures import MEASURES
from analogyqa.report.comparing import top_group_note
from analogyqa.report.ledger import (
    ENFORCED,
    HIGHER,
    INCONCLUSIVE,
    LOWER,
    NOT_RUN,
    OTHER_DATA,
    REPRODUCED,
)
from analogyqa.report.table_formats import IN_PAPER, MARKS, SUBSTITUTE, has_spread
from analogyqa.settings.coordinates import COST, COUNT
from analogyqa.settings.overrides import TUNED, dataset_overrides, from_text
from analogyqa.settings.paper import CITED, Artefact
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER
from analogyqa.settings.systems import Training
from analogyqa.tasks import task_of
from analogyqa.tasks.ranking import Ranking

# The lines about settings and origins below a table; the report has all, at this place.
MOST_LINES = 5
CONFIGURATION = "../../report.html#configuration"
# Of what has no deviation.
OTHERS = "{other questions}"
NO_SPREAD = "Every seed gives the same, or there is one seed only."
_WORDS = {
    REPRODUCED: "reproduced (a further run of ours may well be at the published value; without ±, "
    "ours is equal at the printed digits)",
    HIGHER: "ours is higher",
    LOWER: "ours is lower",
    INCONCLUSIVE: "inconclusive (one more run of ours may also be at the value that the paper "
    "prints for what it compares this system with, or there is one seed)",
}
_COUNT_WORDS = {
    REPRODUCED: "equal",
    ENFORCED: "equal, other data are refused",
    HIGHER: "ours is higher",
    LOWER: "ours is lower",
}


def notes_of(artefact: Artefact, rows: list[dict], config: Config) -> list[str]:
    """Say what a stranger needs to read the numbers.

    Args:
        artefact: the table.
        rows: of its frame, with `run`, the summary of what is shown, and `name`, its system.
        config: what the runs were made with.
    """
    counts = all(row["kind"] == COUNT for row in rows)
    shown = [row for row in rows if row["run"]]
    runs = [row["run"] for row in shown]
    verdicts = {row["verdict"] for row in rows if pd.notna(row["published"])}
    mark = " (published) mark" if verdicts & {*MARKS} else " (published)"
    mark = mark if artefact.published else ""
    notes = _counted_notes(artefact, config) if counts else []
    if runs:
        # What the paper lacks stands in rows of its own, or with the other interval alone.
        full = [row for row in shown if artefact.systems_in == "row" or row["block"] == IN_PAPER]
        varied = {has_spread(row) for row in full}
        notes = [
            _data_note(runs, config),
            *_protocol_notes(runs, config),
            *interval_notes(mark, config, True in varied, False in varied, len(full) < len(shown)),
            *([top_group_note(config)] if artefact.top_group else []),
            *_all_correct_notes(rows, config),
            _ties_note(runs, config),
        ]
    elif any(pd.notna(row["mean"]) for row in rows):
        notes.append(f"A cell: ours{mark}.")
    if any(row["kind"] == COST and pd.notna(row["mean"]) for row in rows):
        notes.append(
            "Parameters are those that learn. Seconds are of an epoch on one thread here, from "
            "a few steps that the systems of a data set took in turns: hold their ratios "
            "against the published ones."
        )
    if any(row["kind"] == CITED for row in rows):
        notes.append("Rows without a value of ours are as the paper prints them.")
    if artefact.published:
        substitutes = any(row["substitute"] for row in rows)
        notes += marks_notes(verdicts, substitutes, counts, config)
    remarks = [f"{name}: {remark}" for name, remark in artefact.remarks.items()]
    return [
        *notes,
        *remarks,
        *_stand_in_notes(rows),
        *_not_run_notes(artefact, rows),
        *settings_lines(rows, config),
    ]


def _counted_notes(artefact: Artefact, config: Config) -> list[str]:
    datasets = {number.coordinates.dataset for number in artefact.numbers()} & {*config.datasets}
    counts = dict.fromkeys(task_of(config.datasets[name]).counted for name in sorted(datasets))
    said = {
        "questions": " or ".join(counts),
        "all_questions": "all questions",
        "pairs": "pairs of a question and a candidate",
        "analogies": "unordered couples of two of them of one category",
    }
    counted = {
        number.coordinates.count: None for number in artefact.numbers() if number.kind == COUNT
    }
    return [f"Counted: {', '.join(said[name] for name in counted)}."]


def interval_notes(
    mark: str, config: Config, runs: bool = True, fixed: bool = False, questions: bool = False
) -> list[str]:
    """Say what a cell shows and what its intervals are.

    Args:
        mark: what stands behind them.
        config: what the runs were made with.
        runs: whether there are values whose seeds differ.
        fixed: whether there are values whose seeds do not.
        questions: whether the interval over questions is shown otherwise, too.
    """
    confidence = f"{config.bootstrap.confidence * 100:g}%"
    notes = []
    if runs:
        notes += [
            f"A cell: mean ± standard deviation over seeds [one further run]{mark}.",
            "[one further run]: where one further seed would lie on the same questions, with "
            f"{confidence} certainty (prediction interval).",
        ]
    if fixed:
        without = "A cell without ±" if runs else "A cell"
        shown = mark if OTHERS in mark else f" {OTHERS}{mark}"
        notes.append(f"{without}: mean{shown}. {NO_SPREAD}")
    if fixed or questions:
        notes.append(
            f"{OTHERS}: how far a mean carries to other questions ({confidence} "
            "interval, bootstrap over seeds and questions, "
            f"{config.bootstrap.samples} samples)."
        )
    return [*notes, "The csv has both intervals of every value."]


def _all_correct_notes(rows: list[dict], config: Config) -> list[str]:
    """Say where questions have correct candidates only, and what the means are without them."""
    groups: dict[tuple[str, str, int, int], list[str]] = {}
    for row in rows:
        run = row["run"]
        if run and run["all_correct"] and pd.notna(row["published"]):
            key = (run["dataset"], run["subset"], run["all_correct"], run["n_items"])
            at = f" ({row['hyperparameters']} setting)" if row["hyperparameters"] else ""
            text = f"{row['name']}{at} {run['mean']:.3f} to {run['mean_of_others']:.3f}"
            groups.setdefault(key, []).append(text)
    return [
        f"{config.datasets[dataset].title} {subset}: {count} of the {items} questions have correct "
        "candidates only, so that every order of them is right. Without these the means go from "
        f"{', from '.join(texts)}."
        for (dataset, subset, count, items), texts in groups.items()
    ]


def _data_note(runs: list[dict], config: Config) -> str:
    questions: dict[str, dict[str, int]] = {}
    for run in runs:
        read = ["=".join(override) for override in dataset_overrides(from_text(run["overrides"]))]
        subset = " ".join([run["subset"], *read])
        questions.setdefault(run["dataset"], {})[subset] = run["n_items"]
    data = "; ".join(
        f"{config.datasets[name].title}, {task_of(config.datasets[name]).items}: "
        + ", ".join(f"{subset} {count}" for subset, count in counts.items())
        for name, counts in questions.items()
    )
    return f"Data: {data or 'none'}. Seeds: {seeds_note(runs)}."


def seeds_note(runs: Iterable[dict]) -> str:
    """Return how many seeds runs have, with their subsets where not all have as many."""
    subsets: dict[int, dict[str, None]] = {}
    for run in runs:
        subsets.setdefault(int(run["n_seeds"]), {})[run["subset"]] = None
    if len(subsets) < 2:
        return ", ".join(map(str, subsets)) or "none"
    return ", ".join(f"{count} of {' and '.join(names)}" for count, names in subsets.items())


def _protocol_notes(runs: list[dict], config: Config) -> list[str]:
    systems = [config.system_at(run["system"], from_text(run["overrides"])) for run in runs]
    measures = {system.training.select_by for system in systems if system.trained}
    notes = []
    if measures:
        by = " or ".join(MEASURES[name].short for name in sorted(measures))
        notes.append(
            f"Protocol: the epoch is chosen by dev {by} and the test split is scored once, for "
            "that epoch."
        )
    for name in dict.fromkeys(run["dataset"] for run in runs):
        notes += [note for note in task_of(config.datasets[name]).notes if note not in notes]
    words = {
        "max": "highest",
        "mean": "mean",
        "question": "that with the prototype of its question",
    }
    if compared := [system for system in systems if "aggregate" in system.ranker.names()]:
        how = " or ".join(sorted({words[system.ranker.aggregate] for system in compared}))
        p = " or ".join(map(str, sorted({system.p for system in compared})))
        notes.append(
            f"By analogy the score of a candidate is its {how} over the p = {p} prototypes of the "
            "question's type."
        )
    return notes


def _ties_note(runs: list[dict], config: Config) -> str:
    tied = {
        " ".join([run["system"], run["dataset"], run["subset"], *map("=".join, overrides)]): count
        for run in runs
        if (count := run["tied_candidates"])
        for overrides in [from_text(run["overrides"])]
    }
    counts = ", ".join(f"{label} {count}" for label, count in tied.items())
    tasks = [task_of(config.datasets[run["dataset"]]) for run in runs]
    return (tasks[0] if tasks else Ranking()).tie_note(counts)


def marks_notes(
    verdicts: Collection[str], substitutes: bool, counts: bool, config: Config
) -> list[str]:
    """Say what the marks that stand behind published values mean.

    Args:
        verdicts: those of the table.
        substitutes: whether there is a value that a substitute made.
        counts: whether the table counts.
        config: says whether published values are about our data.
    """
    if not config.comparable:
        return [f"No marks: {OTHER_DATA}, the published values are for orientation only."]
    words = _COUNT_WORDS if counts else _WORDS
    said = [f"{MARKS[each]} {words[each]}" for each in words if each in verdicts]
    said += [f"{SUBSTITUTE} made with a substitute for a file of the paper"] if substitutes else []
    return [f"Marks: {'; '.join(said)}."] if said else []


def settings_lines(rows: list[dict], config: Config) -> list[str]:
    """Say what the systems of a table were trained with and made of, in few lines."""
    stated: dict[str, dict[str, None]] = {}
    chosen: dict[tuple[str, str], dict[str, None]] = {}
    origins: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["hyperparameters"] == PAPER and row["system"] in config.systems:
            system = config.systems[row["system"]]
            stated.setdefault(_otherwise(system.training), {})[system.title] = None
        elif row["hyperparameters"] == TUNED and row["run"]:
            selection, name = config.find_selection(row["system"]), row["run"]["hyperparameters"]
            changes = _flat(selection.hyperparameters.get(name, {}))
            what = f"{name} ({changes})" if changes else name
            chosen.setdefault((selection.subset, what), {})[row["name"]] = None
        if row["provenance"] and row["kind"] != COST:
            made = row["provenance"].rpartition(", setting ")[0] or row["provenance"]
            origins.setdefault(made, {})[row["name"]] = None
    lines = [
        *(
            f"Chosen on {subset} by {', '.join(own)}: {what}."
            for (subset, what), own in chosen.items()
        ),
        *(
            f"Paper's hyperparameters of {', '.join(own)}: {training}."
            for training, own in stated.items()
        ),
        *(f"Origin of {', '.join(own)}: {made}." for made, own in origins.items()),
    ]
    if not lines:
        return []
    shown = lines[: MOST_LINES - 1]
    every = f"Every setting{' and origin' if len(lines) > len(shown) else ''}"
    return [*shown, f"{every}: [report]({CONFIGURATION})."]


def _otherwise(training: Training) -> str:
    """Return what a training has otherwise than where nothing is said."""
    own, usual = training.model_dump(), Training().model_dump()
    return (
        _flat({key: value for key, value in own.items() if value != usual[key]}) or "the defaults"
    )


def _flat(values: dict) -> str:
    flat = pd.json_normalize(values, sep=" ").to_dict("records")[0] if values else {}
    return ", ".join(f"{key} {value}".replace("_", " ") for key, value in flat.items())


def _stand_in_notes(rows: list[dict]) -> list[str]:
    groups: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["substitute"]:
            groups.setdefault(row["substitute"], {})[row["name"]] = None
    return grouped("Stand-ins", groups)


def _not_run_notes(artefact: Artefact, rows: list[dict]) -> list[str]:
    groups: dict[str, dict[str, None]] = {}
    for row in rows:
        # A remark has a note of its own.
        reason = row["reason"].removesuffix(artefact.remark_on(row["row"], row["column"]))
        if row["verdict"] == NOT_RUN and (why := reason.rstrip("; ")):
            groups.setdefault(why, {})[row["name"]] = None
    return grouped("Not run", groups)


def grouped(heading: str, groups: Mapping[str, Iterable[str]]) -> list[str]:
    """Return a note of names by what is said of them, such as a reason; none where none is."""
    said = "; ".join(f"{', '.join(names)} ({what})" for what, names in groups.items())
    return [f"{heading}: {said}."] if said else []
