"""What stands below a table."""

import pandas as pd

from analogyqa.report.ledger import HIGHER, LOWER, NOT_RUN, OTHER_DATA, REPRODUCED, settings_of
from analogyqa.report.table_formats import IN_PAPER, MARKS
from analogyqa.settings.paper import Artefact
from analogyqa.settings.run import Config
from analogyqa.settings.studies import CHOSEN, PAPER


def notes_of(artefact: Artefact, frame: pd.DataFrame, config: Config, found: dict) -> list[str]:
    """Say what a stranger needs to read the numbers."""
    if artefact.value == "questions":
        notes = [
            "Counted: questions with at least one correct candidate, by their first word in lower "
            "case; Comb. is the sum of the types.",
            "A cell: ours (published) mark.",
        ]
    else:
        confidence = f"{config.bootstrap.confidence * 100:g}%"
        notes = [
            _data_note(artefact, frame, config),
            "Protocol: the epoch is chosen by dev MRR and the test split is scored once, for that "
            f"epoch; by analogy, the score of a candidate is its {_aggregates(config)} over the "
            f"p = {config.prototypes.p} prototypes of the question's type.",
            "A cell: mean ± standard deviation over seeds [interval] (published) mark.",
            f"{confidence} intervals: bootstrap over seeds and questions "
            f"({config.bootstrap.samples} samples).",
            _ties_note(artefact, frame, config, found),
        ]
    return [
        *notes,
        _marks_note(artefact, config),
        *_settings_notes(artefact, frame, config, found),
        *_origin_notes(artefact, frame),
    ]


def _aggregates(config: Config) -> str:
    words = {"max": "highest", "mean": "mean"}
    used = {model.aggregate for model in config.models.values() if model.ranker == "analogy"}
    return " or ".join(words[name] for name in sorted(used))


def _data_note(artefact: Artefact, frame: pd.DataFrame, config: Config) -> str:
    questions: dict[str, dict[str, int]] = {}
    for row in frame[(frame["block"] == IN_PAPER) & frame["mean"].notna()].to_dict("records"):
        where = artefact.where(row["row"], row["column"])
        questions.setdefault(where.dataset, {})[where.subset] = row["n_questions"]
    data = "; ".join(
        f"{config.datasets[name].title}, test split, questions: "
        + ", ".join(f"{subset} {count}" for subset, count in counts.items())
        for name, counts in questions.items()
    )
    return f"Data: {data or 'none'}. Seeds: {len(config.seeds)}."


def _marks_note(artefact: Artefact, config: Config) -> str:
    if not config.comparable:
        return f"No marks: {OTHER_DATA}, the published values are for orientation only."
    same = "equal" if artefact.value == "questions" else "the published value lies in our interval"
    return (
        f"Marks: {MARKS[REPRODUCED]} reproduced ({same}), {MARKS[HIGHER]} ours is higher, "
        f"{MARKS[LOWER]} ours is lower."
    )


def _run_of(row: dict, artefact: Artefact, config: Config, found: dict) -> dict | None:
    """Return the summary of the run that a row of the frame shows."""
    where = artefact.where(row["row"], row["column"])
    model = row["model"]
    if model not in config.models:
        return None
    model_id = settings_of(model, config).get(row["setting"])
    return found.get((model_id, where.dataset, where.subset, config.p_of(model), where.metric))


def _ties_note(artefact: Artefact, frame: pd.DataFrame, config: Config, found: dict) -> str:
    runs = [_run_of(row, artefact, config, found) for row in frame.to_dict("records")]
    tied = {(run["model"], run["subset"]): run["tied_candidates"] for run in runs if run}
    counts = ", ".join(
        f"{model} {subset} {count}" for (model, subset), count in tied.items() if count
    )
    if not counts:
        return "Ties: none, no two candidates of a question have the same score."
    return f"Tied candidates, over all seeds: {counts}; trec_eval ranks the last id first."


def _settings_notes(
    artefact: Artefact, frame: pd.DataFrame, config: Config, found: dict
) -> list[str]:
    notes = []
    if (frame["setting"] == PAPER).any():
        notes.append(f"Paper's setting: {_changes(config.training.model_dump())}.")
    for name in frame.loc[frame["setting"] == PAPER, "model"].unique():
        if own := config.models[name].training:
            notes.append(f"{config.models[name].title}: {_changes(own)}, the rest as above.")
    names = frame["row" if artefact.systems_in_rows else "column"]
    chosen: dict[str, list[str]] = {}
    for name, row in zip(names, frame.to_dict("records"), strict=True):
        if row["setting"] != CHOSEN:
            continue
        if run := _run_of(row, artefact, config, found):
            systems = chosen.setdefault(run["setting"], [])
            systems += [name] if name not in systems else []
    for setting, systems in chosen.items():
        changes = config.selection.settings.get(setting, {})
        what = f" ({_changes(changes)})" if changes else ""
        subset = config.selection.subset
        notes.append(f"Setting chosen on {subset} by {', '.join(systems)}: {setting}{what}.")
    return notes


def _changes(training: dict) -> str:
    flat = pd.json_normalize(training, sep=" ").to_dict("records")[0]
    return ", ".join(f"{key} {value}".replace("_", " ") for key, value in flat.items())


def _origin_notes(artefact: Artefact, frame: pd.DataFrame) -> list[str]:
    """Group the systems by where their numbers come from, and by why they have none."""
    origins: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
    names = frame["row" if artefact.systems_in_rows else "column"]
    for name, row in zip(names, frame.to_dict("records"), strict=True):
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
