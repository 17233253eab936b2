"""The tables of the papers: our values next to the published ones."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from analogyqa.cells import Cell, cells_by_hyperparameters
from analogyqa.evaluation.published import FRAME, IN_PAPER, NOT_IN_PAPER
from analogyqa.evaluation.results import Results
from analogyqa.evaluation.significance import compare_with_best
from analogyqa.evaluation.summary import KEY, cell_columns
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
    artefact = paper.artefacts[name]
    is_shown = numbers["paper"].eq(paper.paper) & numbers["artefact"].eq(name)
    rows = numbers[is_shown].reset_index(drop=True)
    if artefact.top_group:
        scores = rows[rows["kind"].eq(SCORE) & rows["mean"].notna()]
        # If the columns are systems, the groups are those of the rows.
        for _, part in scores.groupby("column" if artefact.systems_in == "row" else "row"):
            cells = [_cell(row, artefact, config) for row in part.to_dict("records")]
            measured = zip(cells, part["measure"], strict=True)
            runs = {cell.path: results.values(cell, measure) for cell, measure in measured}
            _, in_top = compare_with_best(runs, config)
            rows.loc[part.index, "top_group"] = [cell.path in in_top for cell in cells]
    return lay_out(paper, name, rows[list(FRAME)], results.summary, config)


def lay_out(
    paper: Paper, name: str, frame: pd.DataFrame, summary: pd.DataFrame, config: Config
) -> Table:
    """Return a table of a paper from its csv: columns FRAME, a row for each value.

    The rows of blocks and notes also have the `cell` of a score, None for other values, the path of
    its run, `name`, the system as the table calls it, `system_at`, the name with tuned
    hyperparameters, `csv_row`, and more columns of the summary, in which `trained_with` are the
    hyperparameters. If our data are not the paper's, rows have no published value.
    """
    artefact, is_own = paper.artefacts[name], paper.paper == OWN
    cells = [
        _cell(row, artefact, config) if row["kind"] == SCORE and pd.notna(row["mean"]) else None
        for row in frame.to_dict("records")
    ]
    keys = [cell_columns(cell) if cell else dict.fromkeys(KEY, "") for cell in cells]
    located = frame.assign(
        csv_row=range(len(frame)),
        cell=cells,
        path=[cell.with_run(config).path if cell else "" for cell in cells],
        **{name: [key[name] for key in keys] for name in KEY[1:4]},
        name=frame[artefact.systems_in or "column"],
    )
    if not artefact.systems_in:
        titles = {name: system.title for name, system in config.systems.items()}
        located["name"] = located["system"].map(titles).fillna(located["name"])
    is_tuned = located["hyperparameters"].eq(TUNED)
    located["system_at"] = located["name"].where(~is_tuned, located["name"] + " (tuned on dev)")
    if not config.comparable:
        located = located[located["kind"] != CITED].assign(published=np.nan)
        located["verdict"] = located["verdict"].replace(NOT_COMPARABLE, "")
    facts = summary[[*KEY, "tied_candidates", "all_correct", "mean_of_others", "hyperparameters"]]
    facts = facts.rename(columns={"hyperparameters": "trained_with"})
    rows = located.merge(facts, "left", KEY).to_dict("records")
    notes = [*table_notes(artefact, rows, config)]
    if is_own and frame["n_items"].lt(FEW_QUESTIONS).any():
        notes.append(
            f"Means over fewer than {FEW_QUESTIONS} test questions say little, and so do intervals."
        )
    source = f"Published: {paper.citation}" if config.comparable and not is_own else paper.citation
    return Table(
        title=artefact.title if is_own else for_data(artefact.title, config),
        blocks=_blocks(artefact, rows),
        notes=[*notes, source],
        printed_as=printed_as(paper, name),
        frame=frame,
    )


def row_coordinates(row: dict, artefact: Artefact) -> Coordinates:
    """Return the coordinates of a row of FRAME."""
    if row["block"] == IN_PAPER:
        return artefact.coordinates(row["row"], row["column"])
    label = {"column": row["column"]} if artefact.systems_in == "row" else {"row": row["row"]}
    return artefact.coordinates(**label) | Coordinates(system=row["system"])


def _cell(row: dict, artefact: Artefact, config: Config) -> Cell:
    return cells_by_hyperparameters(row_coordinates(row, artefact), config)[row["hyperparameters"]]


def _blocks(artefact: Artefact, rows: list[dict]) -> list[Block]:
    """Lay out the values as in the paper; systems that it lacks are rows of the last block."""
    others = [row for row in rows if row["block"] == NOT_IN_PAPER]
    stated, tuned = (
        [r for r in rows if r["block"] == IN_PAPER and (r["hyperparameters"] == TUNED) == is_tuned]
        for is_tuned in (False, True)
    )
    system = {"System": "name", "ranked by": "ranked_by"}
    other_system = system | {"System": "system_at"}
    labels, across, text, meaning = {"": "row"}, "row", short_text, ": mean {other questions}"
    if artefact.systems_in == "row":
        labels, across, text, meaning = system, "column", value_text, ""
    blocks = [
        _block("In the paper" if tuned or others else "", stated, labels, "column", value_text),
        _block("In the paper, hyperparameters tuned on dev", tuned, labels, "column", value_text),
        _block(f"Not in the paper{meaning}", others, other_system, across, text),
    ]
    return [block for block in blocks if block.rows]


def _block(
    heading: str, rows: list[dict], labels: dict[str, str], across: str, text: Callable
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
