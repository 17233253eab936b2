"""What stands below a table."""

import pandas as pd

from analogyqa.measures import MEASURES
from analogyqa.report.ledger import HIGHER, LOWER, NOT_RUN, OTHER_DATA, REPRODUCED
from analogyqa.report.table_formats import MARKS
from analogyqa.settings.axes import CHOSEN, from_text, of_dataset
from analogyqa.settings.paper import CITED, QUESTIONS, Artefact
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER


def notes_of(artefact: Artefact, rows: list[dict], config: Config) -> list[str]:
    """Say what a stranger needs to read the numbers.

    Args:
        artefact: the table.
        rows: of its frame, with `run`, the summary of what is shown, and `name`, its system.
        config: what the runs were made with.
    """
    counts = all(row["kind"] == QUESTIONS for row in rows)
    runs = [row["run"] for row in rows if row["run"]]
    mark = " (published) mark" if artefact.published else ""
    if counts:
        notes = [
            "Counted: questions with at least one correct candidate, by their first word in lower "
            "case.",
            f"A cell: ours{mark}.",
        ]
    else:
        notes = [
            _data_note(runs, config),
            *_protocol_notes(runs, config),
            f"A cell: mean ± standard deviation over seeds [interval]{mark}.",
            f"{config.bootstrap.confidence * 100:g}% intervals: bootstrap over seeds and questions "
            f"({config.bootstrap.samples} samples).",
            _ties_note(runs),
        ]
        if any(row["kind"] == CITED for row in rows):
            notes.append("Rows without a value of ours are as the paper prints them.")
    if artefact.published:
        notes.append(_marks_note(counts, config))
    return [*notes, *_settings_notes(rows, config), *_origin_notes(rows)]


def _data_note(runs: list[dict], config: Config) -> str:
    questions: dict[str, dict[str, int]] = {}
    for run in runs:
        read = ["=".join(axis) for axis in of_dataset(from_text(run["axes"]))]
        subset = " ".join([run["subset"], *read])
        questions.setdefault(run["dataset"], {})[subset] = run["n_items"]
    data = "; ".join(
        f"{config.datasets[name].title}, test split, questions: "
        + ", ".join(f"{subset} {count}" for subset, count in counts.items())
        for name, counts in questions.items()
    )
    return f"Data: {data or 'none'}. Seeds: {len(config.seeds)}."


def _protocol_notes(runs: list[dict], config: Config) -> list[str]:
    systems = [config.system_at(run["system"], from_text(run["axes"])) for run in runs]
    measures = {system.training.select_by for system in systems if system.trained}
    notes = []
    if measures:
        by = " or ".join(MEASURES[name].short for name in sorted(measures))
        notes.append(
            f"Protocol: the epoch is chosen by dev {by} and the test split is scored once, for "
            "that epoch."
        )
    words = {"max": "highest", "mean": "mean"}
    if compared := [system for system in systems if system.compares]:
        how = " or ".join(sorted({words[system.aggregate] for system in compared}))
        p = " or ".join(map(str, sorted({system.p for system in compared})))
        notes.append(
            f"By analogy the score of a candidate is its {how} over the p = {p} prototypes of the "
            "question's type."
        )
    return notes


def _ties_note(runs: list[dict]) -> str:
    tied = {
        " ".join([run["system"], run["dataset"], run["subset"], *map("=".join, axes)]): count
        for run in runs
        if (count := run["tied_candidates"])
        for axes in [from_text(run["axes"])]
    }
    if not tied:
        return "Ties: none, no two candidates of a question have the same score."
    counts = ", ".join(f"{label} {count}" for label, count in tied.items())
    return f"Tied candidates, over all seeds: {counts}; trec_eval ranks the last id first."


def _marks_note(counts: bool, config: Config) -> str:
    if not config.comparable:
        return f"No marks: {OTHER_DATA}, the published values are for orientation only."
    same = "equal" if counts else "the published value lies in our interval"
    return (
        f"Marks: {MARKS[REPRODUCED]} reproduced ({same}), {MARKS[HIGHER]} ours is higher, "
        f"{MARKS[LOWER]} ours is lower."
    )


def _settings_notes(rows: list[dict], config: Config) -> list[str]:
    stated: dict[str, dict[str, None]] = {}
    chosen: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        if row["setting"] == PAPER:
            system = config.systems[row["system"]]
            stated.setdefault(_flat(system.training.model_dump()), {})[system.title] = None
        elif row["setting"] == CHOSEN and row["run"]:
            selection, name = config.selection_of(row["system"]), row["run"]["setting"]
            changes = _flat(selection.settings.get(name, {}))
            what = f"{name} ({changes})" if changes else name
            chosen.setdefault((selection.subset, what), {})[row["name"]] = None
    return [
        *(f"Paper's setting of {', '.join(own)}: {training}." for training, own in stated.items()),
        *(
            f"Setting chosen on {subset} by {', '.join(own)}: {what}."
            for (subset, what), own in chosen.items()
        ),
    ]


def _flat(values: dict) -> str:
    flat = pd.json_normalize(values, sep=" ").to_dict("records")[0] if values else {}
    return ", ".join(f"{key} {value}".replace("_", " ") for key, value in flat.items())


def _origin_notes(rows: list[dict]) -> list[str]:
    """Group the systems by where their numbers come from, and by why they have none."""
    groups: dict[str, dict[str, dict[str, None]]] = {"Origin": {}, "Not run": {}}
    for row in rows:
        why = row["provenance"] or row["reason"].removeprefix(f"{OTHER_DATA}; {NOT_RUN}: ")
        if why:
            group = groups["Origin" if row["provenance"] else "Not run"]
            group.setdefault(why, {})[row["name"]] = None
    return [
        f"{heading}: "
        + "; ".join(f"{', '.join(systems)} ({why})" for why, systems in group.items())
        + "."
        for heading, group in groups.items()
        if group
    ]
