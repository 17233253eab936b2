"""The page of a sensitivity study."""

import pandas as pd

from analogyqa.measures import RANKED, titles
from analogyqa.report.claims import CLAIM_MARKS, FAILS, HOLDS, UNDECIDED
from analogyqa.report.comparing import level_of
from analogyqa.report.learning import NOT_LEARNT
from analogyqa.report.legend import (
    INTERVALS,
    LEARNT,
    PAIRED_TEST,
    PROTOCOL,
    cell_legend,
    interval_facts,
    marks_legend,
)
from analogyqa.report.sensitivity import AT_PAPER, plain_words, variation_block
from analogyqa.report.table_formats import Block, Table, Value
from analogyqa.report.table_notes import grouped, seeds_fact
from analogyqa.report.verdicts import NOT_RUN, OTHER_DATA
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER, Sensitivity

VERDICTS = (HOLDS, FAILS, UNDECIDED, NOT_LEARNT, NOT_RUN)
LEGEND = (
    "Change: of the mean, from that with the paper's hyperparameters. No variation is chosen.",
    "A variation of the questions compares the systems on its own questions, so a change may come "
    "from these.",
)


def sensitivity_table(frame: pd.DataFrame, config: Config, study: Sensitivity) -> Table:
    """Return a block with the number of verdicts, and a block for each data set.

    Args:
        frame: columns SENSITIVITY.
        config: the configuration of the runs.
        study: the systems and the variations.
    """
    shown = frame[frame["measure"] == study.measure]
    parts = [part for _, part in shown.groupby("dataset", sort=False)]
    counts = [_verdict_counts(parts, config)] if len(study.systems) > 1 and parts else []
    title = "Sensitivity to the open choices"
    return Table(
        label="sensitivity",
        title=title if config.comparable else f"{title} ({OTHER_DATA})",
        blocks=[*counts, *(variation_block(part, config, study) for part in parts)],
        notes=_notes(shown, config, study),
        frame=frame,
    )


def _verdict_counts(parts: list[pd.DataFrame], config: Config) -> Block:
    """Return the verdict with the paper's hyperparameters, and the number of each in variations."""
    rows = []
    for part in parts:
        at_paper, *varied = part.drop_duplicates(["choice", "value"])["verdict"]
        counts = [Value(str(varied.count(verdict))) for verdict in VERDICTS]
        title = config.datasets[part["dataset"].iloc[0]].title
        rows.append(([title], [Value(at_paper), Value(str(len(varied))), *counts]))
    heads = [f"{CLAIM_MARKS.get(verdict, '➖')} {verdict}" for verdict in VERDICTS]
    columns = [AT_PAPER.capitalize(), "Variations", *heads]
    return Block("Verdicts on the claim", ["Data set"], columns, rows)


def _notes(frame: pd.DataFrame, config: Config, study: Sensitivity) -> list[str]:
    at_paper = frame[(frame["choice"] == PAPER) & (frame["value"] == "")].dropna(subset="mean")
    counts = at_paper.drop_duplicates("dataset").set_index("dataset")["n_items"]
    data = ", ".join(f"{config.datasets[name].title} {count}" for name, count in counts.items())
    seeds = seeds_fact(at_paper.assign(subset=study.subset).to_dict("records"))
    names = [config.systems[name].title for name in study.systems]
    claim = f" Claim: {names[0]} ranks better than {names[1]}." if len(names) > 1 else ""
    notes = [
        f"Open choices: {len(study.choices)}. Variations: {sum(map(len, study.choices.values()))}, "
        f"each alone, the rest as in the paper.{claim}",
        f"Data: {study.subset}, test split, questions with the paper's hyperparameters: "
        f"{data or 'none'}. Seeds: {seeds}.",
        f"Measure: {titles([study.measure])}. The csv has {titles(RANKED)}.",
        PROTOCOL.format("score"),
        cell_legend(" (published) mark" if config.comparable else ""),
        INTERVALS,
        interval_facts(config),
        *LEGEND,
        LEARNT,
    ]
    if len(names) > 1:
        notes += [PAIRED_TEST, f"Level: {level_of(config):g}. Correction for several tests: none."]
    if config.comparable:
        verdicts = {*frame["mark"]}
        notes += marks_legend(verdicts, frame["substitute"].ne("").any(), config)
    else:
        notes.append(f"No published values: {OTHER_DATA}.")
    return [*notes, *_reasons(frame, config)]


def _reasons(frame: pd.DataFrame, config: Config) -> list[str]:
    """Return the reasons for variations that were not run, or have no run of their own."""
    not_run: list[tuple[str, str]] = []
    same: list[tuple[str, str]] = []
    for row in frame[frame["reason"] != ""].to_dict("records"):
        value = f"{plain_words(row['choice'])}: {plain_words(row['value'])}"
        name = f"{config.systems[row['system']].title} (*{value if row['value'] else AT_PAPER}*)"
        (not_run if pd.isna(row["mean"]) else same).append((row["reason"], name))
    return [*grouped("Not run", not_run), *grouped("No run of its own", same)]
