"""The tables of the papers: our values next to the published ones."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from analogyqa.cells import Cell, cells_by_hyperparameters
from analogyqa.evaluation.published import FRAME, IN_PAPER, NOT_IN_PAPER
from analogyqa.evaluation.results import Results
from analogyqa.evaluation.significance import compare_with_best
from analogyqa.evaluation.summary import KEY, Values, cell_columns
from analogyqa.evaluation.verdicts import NOT_COMPARABLE
from analogyqa.report.table_formats import Block, Table, Value, short_text, value_text
from analogyqa.report.table_notes import for_data, printed_as, table_notes
from analogyqa.settings.artefacts import CITED, Artefact
from analogyqa.settings.coordinates import SCORE, Coordinates
from analogyqa.settings.overrides import TUNED
from analogyqa.settings.paper import FEW_QUESTIONS, OWN, Paper
from analogyqa.settings.run import Config


def build_table(
    paper: Paper, name: str, numbers: pd.DataFrame, config: Config, results: Results
) -> Table:
    """Return a table of a paper, such as `table4`, from its rows of `compare_numbers`.

    Systems that the paper lacks have a block of their own.
    """
    is_shown = numbers["paper"].eq(paper.paper) & numbers["artefact"].eq(name)
    rows = numbers[is_shown].reset_index(drop=True)
    if paper.artefacts[name].top_group:
        rows["top_group"] = _top_groups(rows, paper.artefacts[name], config, results.values)
    return table_of_frame(paper, name, rows[list(FRAME)], results.summary, config)


def table_of_frame(
    paper: Paper, name: str, frame: pd.DataFrame, summary: pd.DataFrame, config: Config
) -> Table:
    """Return a table of a paper from its csv: columns FRAME, a row for each value."""
    artefact = paper.artefacts[name]
    rows = _shown_rows(frame, artefact, summary, config)
    is_own = paper.paper == OWN
    source = f"Published: {paper.citation}" if config.comparable and not is_own else paper.citation
    return Table(
        title=artefact.title if is_own else for_data(artefact.title, config),
        blocks=_blocks(artefact, rows),
        notes=[*table_notes(artefact, rows, config), *(_few(rows) if is_own else []), source],
        printed_as=printed_as(paper, name),
        frame=frame,
    )


def _shown_rows(
    frame: pd.DataFrame, artefact: Artefact, summary: pd.DataFrame, config: Config
) -> list[dict]:
    """Return the rows of a table with what is shown about them besides their numbers.

    These are the cell of a score and the path of its run, `name`, the system as the table calls it,
    `system_at`, the name with tuned hyperparameters, `csv_row`, and more columns of the summary, in
    which `trained_with` are the hyperparameters. If our data are not the paper's, rows have no
    published value.
    """
    cells = [
        _cell(row, artefact, config) if row["kind"] == SCORE and pd.notna(row["mean"]) else None
        for row in frame.to_dict("records")
    ]
    located = frame.assign(
        csv_row=range(len(frame)),
        path=[cell.with_run(config).path if cell else "" for cell in cells],
        **{
            key: [cell_columns(cell)[key] if cell else "" for cell in cells]
            for key in ("dataset", "subset", "overrides")
        },
        name=frame[artefact.systems_in or "column"],
    )
    if not artefact.systems_in:
        titles = {name: system.title for name, system in config.systems.items()}
        located["name"] = located["system"].map(titles).fillna(located["name"])
    is_tuned = located["hyperparameters"].eq(TUNED)
    located["system_at"] = located["name"] + is_tuned.map({True: " (tuned on dev)", False: ""})
    if not config.comparable:
        located = located[located["kind"] != CITED].assign(published=np.nan)
        located["verdict"] = located["verdict"].replace(NOT_COMPARABLE, "")
    facts = summary[[*KEY, "tied_candidates", "all_correct", "mean_of_others", "hyperparameters"]]
    facts = facts.rename(columns={"hyperparameters": "trained_with"})
    return located.merge(facts, "left", KEY).to_dict("records")


def _few(rows: list[dict]) -> list[str]:
    """Return a warning if some values are means over a few questions or pairs."""
    counts = [row["n_items"] for row in rows if pd.notna(row["n_items"])]
    if min(counts, default=FEW_QUESTIONS) >= FEW_QUESTIONS:
        return []
    return [
        f"Means over fewer than {FEW_QUESTIONS} test questions say little, and so do intervals."
    ]


def _top_groups(
    numbers: pd.DataFrame, artefact: Artefact, config: Config, values: Values
) -> pd.Series:
    """Return whether each score is in the top group of its column.

    If the columns are systems, the groups are those of the rows.
    """
    top = pd.Series(pd.NA, numbers.index, dtype="boolean")
    scores = numbers[numbers["kind"].eq(SCORE) & numbers["mean"].notna()]
    for _, part in scores.groupby("column" if artefact.systems_in == "row" else "row"):
        runs, paths = {}, {}
        for number, row in part.to_dict("index").items():
            cell = _cell(row, artefact, config)
            paths[number] = cell.path
            runs[cell.path] = values(cell, row["measure"])
        _, in_top = compare_with_best(runs, config)
        top[list(paths)] = [path in in_top for path in paths.values()]
    return top


def coordinates_of(row: dict, artefact: Artefact) -> Coordinates:
    """Return the coordinates of a row of FRAME."""
    if row["block"] == IN_PAPER:
        return artefact.coordinates(row["row"], row["column"])
    label = {"column": row["column"]} if artefact.systems_in == "row" else {"row": row["row"]}
    return artefact.coordinates(**label) | Coordinates(system=row["system"])


def _cell(row: dict, artefact: Artefact, config: Config) -> Cell:
    """Return the cell of a row of FRAME."""
    coordinates = coordinates_of(row, artefact)
    return cells_by_hyperparameters(coordinates, config)[row["hyperparameters"]]


def _blocks(artefact: Artefact, rows: list[dict]) -> list[Block]:
    """Lay out the values as in the paper; systems that it lacks are rows of the last block."""
    paper, others = (
        [row for row in rows if row["block"] == block] for block in (IN_PAPER, NOT_IN_PAPER)
    )
    stated = [row for row in paper if row["hyperparameters"] != TUNED]
    tuned = [row for row in paper if row["hyperparameters"] == TUNED]
    system = {"System": "name", "ranked by": "ranked_by"}
    other_system = system | {"System": "system_at"}
    if artefact.systems_in == "row":
        labels, last = system, ("Not in the paper", others, other_system, "column", value_text)
    else:
        heading = "Not in the paper: mean {other questions}"
        labels, last = {"": "row"}, (heading, others, other_system, "row", short_text)
    blocks = [
        ("In the paper" if tuned or others else "", stated, labels, "column", value_text),
        ("In the paper, hyperparameters tuned on dev", tuned, labels, "column", value_text),
        last,
    ]
    return [_block(*block) for block in blocks if block[1]]


def _block(
    heading: str,
    rows: list[dict],
    labels: dict[str, str],
    across: str,
    text: Callable[[dict], Value],
) -> Block:
    """Return a block with a column for each distinct value of the key `across`, in their order."""
    columns = list(dict.fromkeys(row[across] for row in rows))
    # Two systems may have the same title, so the system is a part of the key.
    key = [*labels.values(), *(["system"] if "System" in labels else [])]
    cells: dict[tuple, dict[str, Value]] = {}
    for row in rows:
        cells.setdefault(tuple(row[name] for name in key), {})[row[across]] = text(row)._replace(
            verdict=row["verdict"],
            run=row["path"],
            bold=row["top_group"] is True,
            row=None if row["kind"] == CITED else row["csv_row"],
        )
    lines = [
        (list(names[: len(labels)]), [values.get(column, Value("")) for column in columns])
        for names, values in cells.items()
    ]
    return Block(heading, list(labels), columns, lines)
