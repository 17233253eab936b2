"""Show a view: a figure, or the blocks of a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from analogyqa.plan import Cell, view_cells
from analogyqa.report.figures import STYLE, save_figure
from analogyqa.report.table_formats import Block, Table
from analogyqa.report.verdicts import NOT_RUN, OTHER_DATA
from analogyqa.report.views.specs import VIEWS
from analogyqa.schemas import read_table
from analogyqa.schemas.inside import INSIDE
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

NOTHING = INSIDE.empty_table().to_pandas()


class Panel(NamedTuple):
    """A trained system, with the vectors that its encoder gives to the test split: schema INSIDE.

    Without a run, the table is empty and `reason` says why.
    """

    name: str
    inside: pd.DataFrame
    reason: str = ""

    def rows(self, kind: str) -> pd.DataFrame:
        """Return the rows of a kind."""
        return self.inside[self.inside["kind"] == kind]

    @property
    def answers(self) -> pd.DataFrame:
        """The correct candidates."""
        return self.inside[self.inside["label"] == 1]


class Shown(NamedTuple):
    """The content of a view: its data, notes for the reader, and a figure or blocks."""

    frame: pd.DataFrame
    notes: list[str]
    figure: Figure | None = None
    blocks: Sequence[Block] = ()


def show_view(paper: Paper, name: str, paths: Sequence[str | Path], config: Config) -> Shown:
    """Return the content of a view.

    Args:
        paper, name: the paper and the name of the view, such as `figure4`.
        paths: the files inside.parquet of its cells, each in the folder of its run.
        config: the configuration of the runs.

    Raises AnalogyQAError when a file is missing or damaged.
    """
    view = paper.views[name]
    files = {Cell.from_path(Path(path).parent): path for path in paths}
    panels = []
    # What is shown of which data, to the panels that show it.
    about: dict[str, list[str]] = {}
    for panel, cell in view_cells(config, view).items():
        if isinstance(cell, Cell):
            panels.append(Panel(panel, read_table(files[cell], INSIDE)))
            system = config.systems[cell.system].title
            about.setdefault(_data(panels[-1], cell, config), []).append(system)
        else:
            panels.append(Panel(panel, NOTHING, f"{NOT_RUN}: {cell}"))
            about[f"{NOT_RUN}: {cell}"] = [panel]
    with plt.rc_context(STYLE):
        shown = VIEWS[view.view].load()(panels, view, config)
    notes = [f"{', '.join(whose)}: {what}." for what, whose in about.items()]
    return shown._replace(notes=[*notes, *shown.notes])


def _data(panel: Panel, cell: Cell, config: Config) -> str:
    return (
        f"test split of {config.datasets[cell.dataset].title}, {len(panel.rows('question'))} "
        "questions that have a right answer; with the paper's hyperparameters, seed "
        f"{config.seeds_at(cell.subset, cell.overrides)[0]}"
    )


def draw_view(
    shown: Shown, paper: Paper, name: str, config: Config, files: dict[str, str | Path]
) -> None:
    """Write a figure with its title and notes above it; the same bytes for the same data.

    Args:
        shown: as `show_view` returns it.
        paper, name, config: give the title.
        files: format (png, svg) to path.
    """
    if shown.figure is None:
        raise ValueError(f"{name} is a table")
    lines = [f"{_printed_as(paper, name)}: {_title(paper, name, config)}", *shown.notes]
    with plt.rc_context(STYLE):
        save_figure(shown.figure, "\n".join(lines), files)


def table_of_view(shown: Shown, paper: Paper, name: str, config: Config) -> Table:
    """Return a table that `show_view` made, with its title and notes."""
    return Table(
        label=f"tab:{paper.paper}-{name}",
        title=_title(paper, name, config),
        printed_as=_printed_as(paper, name),
        blocks=list(shown.blocks),
        notes=[*shown.notes, f"Published: {paper.citation}"],
        frame=shown.frame,
    )


def _printed_as(paper: Paper, name: str) -> str:
    kind = "Figure" if paper.views[name].is_figure else "Table"
    return f"{kind} {name.removeprefix(kind.lower())} of {paper.paper}"


def _title(paper: Paper, name: str, config: Config) -> str:
    title = paper.views[name].title
    return title if config.comparable else f"{title} ({OTHER_DATA})"
