"""What MLflow shall show of a paper: its cells, each with what it fills, and its documents."""

import re
from collections.abc import Iterable
from pathlib import Path

from analogyqa.plan import Cell, cells_by_hyperparameters, holding_cell, why_no_run
from analogyqa.report.summary import LEDGER, SUMMARY, read_csv
from analogyqa.settings.coordinates import SCORE, Coordinates
from analogyqa.settings.overrides import from_text
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.tracking.records import Run, cell_run, documents_run


def paper_runs(
    results: str | Path, paper: Paper, cells: Iterable[Cell], config: Config
) -> list[Run]:
    """Return the runs of a paper's cells, and the run with its tables and figures.

    Args:
        results: the output folder; its ledger.csv and summary.csv are used if they are there.
        paper, cells: the cells of the paper that have a record.
        config: what they were run with.

    Raises AnalogyQAError when a record or a table is damaged.
    """
    results = Path(results)
    # A run may hold several cells.
    cells = dict.fromkeys(holding_cell(config, cell) for cell in cells)
    filled, intervals = descriptions(results, paper, config), _intervals(results)
    runs = [cell_run(results, cell, filled.get(cell, ""), intervals.get(cell)) for cell in cells]
    documents = documents_run(results, paper.paper)
    return [*runs, documents] if documents else runs


def descriptions(results: Path, paper: Paper, config: Config) -> dict[Cell, str]:
    """Return in Markdown what each cell fills: the numbers of tables, with their verdicts, and the
    lines of figures."""
    said, verdicts = {}, _verdicts(results, paper.paper)
    for name, artefact in paper.artefacts.items():
        called = re.sub(r"(\d+)", r" \1", name).capitalize()
        if artefact.is_figure:
            for panel, line, _, coordinates in artefact.points(config.sweeps):
                for cell in _cells(coordinates, config).values():
                    text = ", ".join(filter(None, [panel, line]))
                    said.setdefault(cell, {})[f"- {called}: {text}"] = None
            continue
        for number in artefact.numbers():
            if number.kind == SCORE:
                for hyperparameters, cell in _cells(number.coordinates, config).items():
                    place = (name, number.row, number.column, hyperparameters)
                    text = f"- {called}: {number.row}, {number.column}{verdicts.get(place, '')}"
                    said.setdefault(cell, {})[text] = None
    heading = f"Fills of {paper.paper} ({paper.citation.strip()}):\n\n"
    return {cell: heading + "\n".join(lines) for cell, lines in said.items()}


def _cells(coordinates: Coordinates, config: Config) -> dict[str, Cell]:
    """Return the runs of a place by setting."""
    if why_no_run(coordinates, config):
        return {}
    cells = cells_by_hyperparameters(coordinates, config)
    return {hyperparameters: holding_cell(config, cell) for hyperparameters, cell in cells.items()}


def _verdicts(results: Path, paper: str) -> dict[tuple[str, str, str, str], str]:
    """Return what the ledger says of (artefact, row, column, setting)."""
    path, said = results / "ledger.csv", {}
    for row in read_csv(path, LEDGER).itertuples() if path.exists() else ():
        if row.paper == paper:
            ours = f"{row.mean:.3f}, " if row.mean == row.mean else ""
            text = f": {ours}published {row.published:.3f}, {row.verdict}"
            said[row.artefact, row.row, row.column, row.hyperparameters] = text
    return said


def _intervals(results: Path) -> dict[Cell, dict[str, dict]]:
    """Return of each cell measure to its row of summary.csv."""
    path, found = results / "summary.csv", {}
    for row in read_csv(path, SUMMARY).to_dict("records") if path.exists() else ():
        cell = Cell(row["system"], row["dataset"], row["subset"], from_text(row["overrides"]))
        found.setdefault(cell, {})[row["measure"]] = row
    return found
