"""Show a view: a figure, or the blocks of a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from analogyqa.cells import view_tables
from analogyqa.evaluation.verdicts import NOT_RUN
from analogyqa.report.style import Files, own_style, save_figure
from analogyqa.report.table_formats import Block, Table, Value
from analogyqa.report.tables import for_data, heading, names_by_fact, printed_as
from analogyqa.schemas import CORPUS, DECISIONS, INSIDE, read_table
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

SCHEMAS = {"inside": INSIDE, "decisions": DECISIONS, "corpus": CORPUS}


class Panel(NamedTuple):
    """A panel with the table that its view reads; if `table` is empty, `reason` says why."""

    name: str
    table: pd.DataFrame
    reason: str = ""

    def rows(self, kind: str) -> pd.DataFrame:
        return self.table[self.table["kind"] == kind]

    @property
    def answers(self) -> pd.DataFrame:
        """The correct candidates."""
        return self.table[self.table["label"] == 1]

    @property
    def word_norms(self) -> dict[str, float]:
        """The norms of the words, without punctuation."""
        words = self.rows("word")
        pairs = zip(words["text"], words["norm"], strict=True)
        return {word: norm for word, norm in pairs if any(map(str.isalnum, word))}


class ViewContent(NamedTuple):
    """The content of a view: its data, notes for the reader, and a figure or blocks."""

    frame: pd.DataFrame
    notes: list[str]
    figure: Figure | None = None
    blocks: Sequence[Block] = ()


def text_block(
    heading: str, texts: pd.DataFrame, labels: dict[str, str], columns: dict[str, str]
) -> Block:
    """Return a table of texts as a block; `labels` and `columns` give the head of each column."""
    rows = [
        ([row[name] for name in labels], [Value(row[name]) for name in columns])
        for row in texts.to_dict("records")
    ]
    return Block(heading, list(labels.values()), list(columns.values()), rows, wrapped=True)


def build_view(paper: Paper, name: str, paths: Sequence[str | Path], config: Config) -> ViewContent:
    """Return the content of a view, such as `figure4`, from the files that `view_tables` names.

    Raises AnalogyQAError when a file is missing or damaged.
    """
    view = paper.views[name]
    schema, panels = SCHEMAS[view.spec.reads], []
    # For the notes: facts, each with the panel or system that it is about.
    facts: list[tuple[str, str]] = []
    for panel, (file, cell, reason) in view_tables(config, view).items():
        if reason:
            panels.append(Panel(panel, schema.empty_table().to_pandas(), f"{NOT_RUN}: {reason}"))
            facts.append((panels[-1].reason, panel))
            continue
        path = next(path for path in paths if Path(path).as_posix().endswith(file))
        table = read_table(path, schema)
        panels.append(Panel(panel, table))
        if cell:
            seeds = config.seeds_at(cell.subset, cell.overrides)
            # Only the first seed is looked into.
            seeds_text = f"seed {seeds[0]}" if schema is INSIDE else f"seeds: {len(seeds)}"
            ids = table["question_id"]
            data = (
                f"test split of {config.datasets[cell.dataset].title}, {ids[ids != ''].nunique()} "
                f"questions that have a correct answer; with {paper.hyperparameters}, "
                f"{seeds_text}"
            )
            facts.append((data, config.systems[cell.system].title))
    with own_style():
        content = view.spec.load()(panels, view, config)
    notes = [f"{', '.join(names)}: {fact}." for fact, names in names_by_fact(facts).items()]
    return content._replace(notes=[*notes, *content.notes])


def draw_view(content: ViewContent, paper: Paper, name: str, config: Config, files: Files) -> None:
    """Write a figure that `build_view` made."""
    assert content.figure is not None  # a view with a figure's name has one
    title = heading(paper, name, for_data(paper.views[name].title, config))
    with own_style():
        save_figure(content.figure, "\n".join([title, *content.notes]), files)


def tabulate_view(content: ViewContent, paper: Paper, name: str, config: Config) -> Table:
    """Return a table that `build_view` made, with its title and notes."""
    source = f"Published: {paper.citation}" if config.comparable else paper.citation
    return Table(
        title=for_data(paper.views[name].title, config),
        printed_as=printed_as(paper, name),
        blocks=list(content.blocks),
        notes=[*content.notes, source],
        frame=content.frame,
    )
