"""What stands below a table."""

import pandas as pd

from analogyqa.plan import cells_by_setting
from analogyqa.report.ledger import HIGHER, LOWER, NOT_RUN, OTHER_DATA, REPRODUCED
from analogyqa.report.summary import Found
from analogyqa.report.table_formats import IN_PAPER, MARKS
from analogyqa.settings.axes import CHOSEN
from analogyqa.settings.paper import CITED, QUESTIONS, Artefact, Where
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER


def notes_of(artefact: Artefact, frame: pd.DataFrame, config: Config, found: Found) -> list[str]:
    """Say what a stranger needs to read the numbers."""
    if (frame["kind"] == QUESTIONS).all():
        notes = [
            "Counted: questions with at least one correct candidate, by their first word in lower "
            "case.",
            "A cell: ours (published) mark.",
        ]
    else:
        confidence = f"{config.bootstrap.confidence * 100:g}%"
        notes = [
            _data_note(artefact, frame, config),
            *_protocol_notes(frame, config),
            "A cell: mean ± standard deviation over seeds [interval] (published) mark.",
            f"{confidence} intervals: bootstrap over seeds and questions "
            f"({config.bootstrap.samples} samples).",
            _ties_note(artefact, frame, config, found),
        ]
        if (frame["kind"] == CITED).any():
            notes.append("Rows without a value of ours are as the paper prints them.")
    return [
        *notes,
        *_marks_notes(artefact, frame, config),
        *_settings_notes(artefact, frame, config, found),
        *_origin_notes(artefact, frame),
    ]


def names_of(artefact: Artefact, frame: pd.DataFrame) -> pd.Series:
    """Return how a table calls the system of each row of its frame."""
    return frame["row" if artefact.systems_in_rows else "column"]


def _protocol_notes(frame: pd.DataFrame, config: Config) -> list[str]:
    systems = [config.systems[name] for name in frame["system"].unique() if name in config.systems]
    measures = sorted({system.training.select_by for system in systems if system.trained})
    notes = []
    if measures:
        notes.append(
            f"Protocol: the epoch is chosen by dev {' or '.join(measures).upper()} and the test "
            "split is scored once, for that epoch."
        )
    words = {"max": "highest", "mean": "mean"}
    compared = [system for system in systems if system.compares]
    if compared:
        how = " or ".join(sorted({words[system.aggregate] for system in compared}))
        p = " or ".join(map(str, sorted({system.p for system in compared})))
        notes.append(
            f"By analogy the score of a candidate is its {how} over the p = {p} prototypes of the "
            "question's type."
        )
    return notes


def _where(artefact: Artefact, row: dict) -> Where:
    """Return the place of a row of the frame, with its system."""
    where = artefact.where(row["row"], row["column"])
    return where if where.system else where | Where(system=row["system"])


def _data_note(artefact: Artefact, frame: pd.DataFrame, config: Config) -> str:
    questions: dict[str, dict[str, int]] = {}
    for row in frame[(frame["block"] == IN_PAPER) & frame["mean"].notna()].to_dict("records"):
        where = artefact.where(row["row"], row["column"])
        questions.setdefault(where.dataset, {})[where.subset] = row["n_items"]
    data = "; ".join(
        f"{config.datasets[name].title}, test split, questions: "
        + ", ".join(f"{subset} {count}" for subset, count in counts.items())
        for name, counts in questions.items()
    )
    return f"Data: {data or 'none'}. Seeds: {len(config.seeds)}."


def _marks_notes(artefact: Artefact, frame: pd.DataFrame, config: Config) -> list[str]:
    if not artefact.published:
        return []
    if not config.comparable:
        return [f"No marks: {OTHER_DATA}, the published values are for orientation only."]
    counts = (frame["kind"] == QUESTIONS).all()
    same = "equal" if counts else "the published value lies in our interval"
    return [
        f"Marks: {MARKS[REPRODUCED]} reproduced ({same}), {MARKS[HIGHER]} ours is higher, "
        f"{MARKS[LOWER]} ours is lower."
    ]


def _run_of(row: dict, artefact: Artefact, config: Config, found: Found) -> dict | None:
    """Return the summary of the run that a row of the frame shows."""
    if row["system"] not in config.systems or pd.isna(row["mean"]):
        return None
    where = _where(artefact, row)
    cell = cells_by_setting(where, config).get(row["setting"])
    return found.get((cell, where.measure))


def _ties_note(artefact: Artefact, frame: pd.DataFrame, config: Config, found: Found) -> str:
    runs = [_run_of(row, artefact, config, found) for row in frame.to_dict("records")]
    tied = {(run["system"], run["subset"]): run["tied_candidates"] for run in runs if run}
    counts = ", ".join(
        f"{system} {subset} {count}" for (system, subset), count in tied.items() if count
    )
    if not counts:
        return "Ties: none, no two candidates of a question have the same score."
    return f"Tied candidates, over all seeds: {counts}; trec_eval ranks the last id first."


def _settings_notes(
    artefact: Artefact, frame: pd.DataFrame, config: Config, found: Found
) -> list[str]:
    trained = frame.loc[frame["setting"] == PAPER, "system"].unique()
    by_training: dict[str, list[str]] = {}
    for name in trained:
        training = _flat(config.systems[name].training.model_dump())
        by_training.setdefault(training, []).append(config.systems[name].title)
    notes = [
        f"Paper's setting of {', '.join(titles)}: {training}."
        for training, titles in by_training.items()
    ]
    chosen: dict[str, list[str]] = {}
    changes: dict[str, str] = {}
    rows = frame.to_dict("records")
    for name, row in zip(names_of(artefact, frame), rows, strict=True):
        if row["setting"] != CHOSEN or not (run := _run_of(row, artefact, config, found)):
            continue
        selection = config.selection_of(row["system"])
        what = _flat(selection.settings.get(run["setting"], {}))
        changes[run["setting"]] = f" ({what})" if what else ""
        systems = chosen.setdefault(f"{selection.subset} by {{}}: {run['setting']}", [])
        systems += [name] if name not in systems else []
    return notes + [
        f"Setting chosen on {text.format(', '.join(systems))}{changes[text.rpartition(' ')[2]]}."
        for text, systems in chosen.items()
    ]


def _flat(values: dict) -> str:
    flat = pd.json_normalize(values, sep=" ").to_dict("records")[0] if values else {}
    return ", ".join(f"{key} {value}".replace("_", " ") for key, value in flat.items())


def _origin_notes(artefact: Artefact, frame: pd.DataFrame) -> list[str]:
    """Group the systems by where their numbers come from, and by why they have none."""
    origins: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
    ours = frame[frame["kind"] != CITED]
    for name, row in zip(names_of(artefact, ours), ours.to_dict("records"), strict=True):
        has_run = bool(row["provenance"])
        why = row["provenance"] or row["reason"].removeprefix(f"{OTHER_DATA}; {NOT_RUN}: ")
        systems = origins[has_run].setdefault(why, [])
        systems += [name] if name not in systems else []
    return [
        f"{heading}: "
        + "; ".join(f"{', '.join(systems)} ({why})" for why, systems in group.items())
        + "."
        for heading, group in (("Origin", origins[True]), ("Not run", origins[False]))
        if group
    ]
