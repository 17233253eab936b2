"""The sensitivity table as a page to read."""

import pandas as pd

from analogyqa.measures import RANKED, titles
from analogyqa.report.comparing import level_of, p_value_of
from analogyqa.report.learning import NOT_LEARNT
from analogyqa.report.ledger import NOT_RUN, OTHER_DATA, REPRODUCED
from analogyqa.report.sensitivity import (
    AT_PAPER,
    CLAIM,
    choice_label,
    mark_of,
    plain_words,
    rows_of_block,
)
from analogyqa.report.significance import SAMPLES
from analogyqa.report.table_formats import Table, to_markdown
from analogyqa.report.table_notes import interval_notes, marks_notes, seeds_note
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER, Sensitivity


def sensitivity_markdown(frame: pd.DataFrame, config: Config, study: Sensitivity) -> str:
    """Return the page: what the variations change, then a table for each data set.

    Args:
        frame: of columns SENSITIVITY.
        config: what the runs were made with.
        study: what was varied.
    """
    heading, rest = to_markdown(sensitivity_table(frame, config, study)).split("\n\n", 1)
    return "\n\n".join([heading, *sensitivity_in_words(frame, config, study), rest])


def sensitivity_table(frame: pd.DataFrame, config: Config, study: Sensitivity) -> Table:
    """Return a block for each data set, of the same arguments."""
    title = "Sensitivity to the open choices"
    return Table(
        label="sensitivity",
        title=title if config.comparable else f"{title} ({OTHER_DATA})",
        blocks=[rows_of_block(part, config, study) for part in _parts(frame, study)],
        notes=_notes(frame[frame["measure"] == study.measure], config, study),
        frame=frame,
    )


def sensitivity_in_words(frame: pd.DataFrame, config: Config, study: Sensitivity) -> list[str]:
    """Return paragraphs of Markdown, of the same arguments."""
    parts = _parts(frame, study)
    return [_introduction(config, study), *(_paragraph(part, config) for part in parts)]


def _parts(frame: pd.DataFrame, study: Sensitivity) -> list[pd.DataFrame]:
    shown = frame[frame["measure"] == study.measure]
    return [part for _, part in shown.groupby("dataset", sort=False)]


def _introduction(config: Config, study: Sensitivity) -> str:
    names = [config.systems[name].title for name in study.systems]
    if not names:
        return "There is no system to vary."
    sentences = [
        "Each choice that the paper leaves open is taken otherwise, alone, around the paper's "
        f"setting. Choices: {len(study.choices)}; "
        f"variations: {sum(map(len, study.choices.values()))}."
    ]
    if len(names) > 1:
        sentences.append(
            f"The claim is that {names[0]} ranks better than {names[1]}, by the "
            f"{titles([study.measure])} on {study.subset}."
        )
    return " ".join(sentences)


def _paragraph(part: pd.DataFrame, config: Config) -> str:
    """Say what the variations change on one data set."""
    systems = {name: rows.to_dict("records") for name, rows in part.groupby("system", sort=False)}
    first, *others = systems.values()
    sentences = _on_the_claim(first, others[0], config) if others else []
    for say in (_on_the_mean, _on_the_published):
        sentences += [say(rows, config.systems[name].title) for name, rows in systems.items()]
    title = config.datasets[first[0]["dataset"]].title
    return " ".join([f"**{title}.**", *filter(None, sentences)])


def _on_the_claim(first: list[dict], second: list[dict], config: Config) -> list[str]:
    """Say what becomes of the claim that the first system is better than the second."""
    paper, *variations = first
    if paper["verdict"] == NOT_RUN:
        return [f"The claim is {NOT_RUN} with the paper's hyperparameters."]
    if paper["verdict"] == NOT_LEARNT:
        return [f"With the paper's hyperparameters a system {NOT_LEARNT}: the claim is not judged."]
    means = ", ".join(
        f"{config.systems[row['system']].title} {row['mean']:.3f}" for row in (paper, second[0])
    )
    judged = [row for row in variations if row["verdict"] in CLAIM]
    void = [row for row in variations if row["verdict"] == NOT_LEARNT]
    changed = {
        verdict: [row for row in judged if row["verdict"] == verdict]
        for verdict in CLAIM
        if verdict != paper["verdict"]
    }
    listed = "; ".join(
        f"it {CLAIM[verdict]} with {_with_differences(rows, paper)}"
        for verdict, rows in changed.items()
        if rows
    )
    count = sum(map(len, changed.values()))
    reversed_only = [
        row
        for row in judged
        if row["verdict"] == paper["verdict"] and row["difference"] * paper["difference"] < 0
    ]
    return [
        f"With the paper's hyperparameters the claim {CLAIM[paper['verdict']]}: {means} "
        f"({paper['difference']:+.3f}, p = {p_value_of(paper):.2g}).",
        f"Of the variations that were run, {count} of {len(judged)} change this verdict"
        f"{f': {listed}' if listed else ''}.",
        "The verdict stays and the difference changes its sign with "
        f"{_with_differences(reversed_only, paper) or 'no variation'}.",
        f"A system {NOT_LEARNT} with "
        f"{', '.join(choice_label(row, paper) for row in void) or 'no variation'}.",
    ]


def _on_the_mean(rows: list[dict], title: str) -> str:
    """Say which variations move a system most."""
    paper, *variations = rows
    moved = [
        row for row in variations if pd.notna(row["difference_to_paper"]) and row["learnt"] != "no"
    ]
    if not moved:
        return ""
    largest = max(abs(row["difference_to_paper"]) for row in moved)
    if largest == 0:
        return f"No variation moves {title}."
    most = [
        f"{choice_label(row, paper)} ({paper['mean']:.3f} to {row['mean']:.3f})"
        for row in moved
        if abs(row["difference_to_paper"]) == largest
    ]
    return f"{title} moves most with {' and '.join(most)}."


def _on_the_published(rows: list[dict], title: str) -> str:
    """Say which variations bring the published value into the interval, or out of it."""
    ran = [row for row in rows if pd.notna(row["mean"]) and pd.notna(row["published"])]
    if not ran or ran[0] is not rows[0] or not mark_of(ran[0]):
        return ""
    paper, *variations = ran
    places = {True: "in", False: "outside"}
    inside = mark_of(paper) == REPRODUCED
    moved = [row for row in variations if mark_of(row) and (mark_of(row) == REPRODUCED) != inside]
    return (
        f"The published value of {title}, {paper['published']:g}, lies {places[inside]} the "
        f"interval with the paper's hyperparameters and {places[not inside]} it with "
        f"{', '.join(choice_label(row, paper) for row in moved) or 'no variation'}."
    )


def _with_differences(rows: list[dict], paper: dict) -> str:
    return ", ".join(f"{choice_label(row, paper)} ({row['difference']:+.3f})" for row in rows)


def _notes(frame: pd.DataFrame, config: Config, study: Sensitivity) -> list[str]:
    """Say what a stranger needs to read the numbers."""
    paper = frame[(frame["choice"] == PAPER) & (frame["value"] == "")].dropna(subset="mean")
    counts = paper.drop_duplicates("dataset").set_index("dataset")["n_items"]
    data = ", ".join(f"{config.datasets[name].title} {count}" for name, count in counts.items())
    seeds = seeds_note(paper.assign(subset=study.subset).to_dict("records"))
    notes = [
        f"Data: {study.subset}, test split; questions with the paper's hyperparameters: "
        f"{data or 'none'}. Seeds: {seeds}.",
        "Protocol: the epoch is tuned on dev and the test split is scored once, for that epoch. "
        "No variation is chosen.",
        f"Shown is the {titles([study.measure])}; the csv beside this page has {titles(RANKED)}.",
        *interval_notes(" (published) mark" if config.comparable else "", config),
        "Change: of the mean, against the paper's hyperparameters.",
        f"{NOT_LEARNT[0].upper()}{NOT_LEARNT[1:]}: the training loss never comes below what one "
        "and the same energy for all quadruples would give. Nothing follows from such a training.",
    ]
    if len(study.systems) > 1:
        notes.append(
            "Difference: of the two means. Its p is two-sided, by a paired randomisation test over "
            f"questions and seeds ({SAMPLES} draws); the claim holds or fails where it is below "
            f"{level_of(config):g} and is undecided elsewhere. No p is corrected for the number "
            "of variations, nor for the other claims of the paper, as the page of the claims does."
        )
    if config.comparable:
        verdicts = {mark_of(row) for row in frame.to_dict("records")}
        notes += marks_notes(verdicts, frame["substitute"].ne("").any(), False, config)
    else:
        notes.append(f"No published values: {OTHER_DATA}.")
    if (frame.groupby("dataset")["n_items"].nunique() > 1).any():
        notes.append(
            "A variation of the questions compares the systems on its own, so that a change may "
            "come from these."
        )
    return [*notes, *_reasons(frame, config)]


def _reasons(frame: pd.DataFrame, config: Config) -> list[str]:
    """Group what was not run, or not again, by the reason."""
    groups: dict[str, list[str]] = {}
    for row in frame[frame["reason"] != ""].to_dict("records"):
        value = plain_words(row["value"])
        choice = f"{plain_words(row['choice'])}: {value}" if value else AT_PAPER
        heading = f"Not run ({row['reason']})" if pd.isna(row["mean"]) else row["reason"]
        text = f"{config.systems[row['system']].title} (*{choice}*)"
        groups.setdefault(heading, []).append(text)
    return [
        f"{heading[0].upper()}{heading[1:]}: {', '.join(dict.fromkeys(texts))}."
        for heading, texts in groups.items()
    ]
