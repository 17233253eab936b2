"""The runs of a paper in MLflow: its cells, with descriptions, and its tables and figures."""

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
        results: The output folder; its ledger.csv and summary.csv are used if they exist.
        paper: The paper.
        cells: The cells of the paper that have a record.
        config: The configuration of the runs.

    Raises AnalogyQAError when a record or a table is damaged.
    """
    results = Path(results)
    # A run may hold several cells.
    cells = dict.fromkeys(holding_cell(config, cell) for cell in cells)
    described, intervals = descriptions(results, paper, config), _intervals(results)
    runs = [cell_run(results, cell, described.get(cell, ""), intervals.get(cell)) for cell in cells]
    documents = documents_run(results, paper.paper)
    return [*runs, documents] if documents else runs


def descriptions(results: Path, paper: Paper, config: Config) -> dict[Cell, str]:
    """Return a description of each cell in Markdown.

    It lists the numbers in tables, with their verdicts, and the lines in figures that come from it.
    """
    lines: dict[Cell, dict[str, None]] = {}
    verdicts = _verdicts(results, paper.paper)
    for name, artefact in paper.artefacts.items():
        title = re.sub(r"(\d+)", r" \1", name).capitalize()
        if artefact.is_figure:
            for panel, line, _, coordinates in artefact.points(config.sweeps):
                for cell in _cells(coordinates, config).values():
                    text = ", ".join(filter(None, [panel, line]))
                    lines.setdefault(cell, {})[f"- {title}: {text}"] = None
            continue
        for number in artefact.numbers():
            if number.kind == SCORE:
                for hyperparameters, cell in _cells(number.coordinates, config).items():
                    key = (name, number.row, number.column, hyperparameters)
                    text = f"- {title}: {number.row}, {number.column}{verdicts.get(key, '')}"
                    lines.setdefault(cell, {})[text] = None
    heading = f"Shown in {paper.paper} ({paper.citation.strip()}):\n\n"
    return {cell: heading + "\n".join(cell_lines) for cell, cell_lines in lines.items()}


def _cells(coordinates: Coordinates, config: Config) -> dict[str, Cell]:
    """Return the cells of the runs at some coordinates, by hyperparameters."""
    if why_no_run(coordinates, config):
        return {}
    cells = cells_by_hyperparameters(coordinates, config)
    return {hyperparameters: holding_cell(config, cell) for hyperparameters, cell in cells.items()}


def _verdicts(results: Path, paper: str) -> dict[tuple[str, str, str, str], str]:
    """Return our mean, the published value and the verdict for each number in the ledger.

    Keys are (artefact, row, column, hyperparameters).
    """
    path, verdicts = results / "ledger.csv", {}
    for row in read_csv(path, LEDGER).itertuples() if path.exists() else ():
        if row.paper == paper:
            mean = f"{row.mean:.3f}, " if row.mean == row.mean else ""
            text = f": {mean}published {row.published:.3f}, {row.verdict}"
            verdicts[row.artefact, row.row, row.column, row.hyperparameters] = text
    return verdicts


def _intervals(results: Path) -> dict[Cell, dict[str, dict]]:
    """Return the rows of summary.csv by cell and measure."""
    path, rows = results / "summary.csv", {}
    for row in read_csv(path, SUMMARY).to_dict("records") if path.exists() else ():
        cell = Cell(row["system"], row["dataset"], row["subset"], from_text(row["overrides"]))
        rows.setdefault(cell, {})[row["measure"]] = row
    return rows
