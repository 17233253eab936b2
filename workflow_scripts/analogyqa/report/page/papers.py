"""A paper in the report: its tables and figures in their order, its claims and studies.

All of it is read from the files of a run; what is missing is listed.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from analogyqa.plan import view_tables
from analogyqa.report.claims import CLAIMS
from analogyqa.report.claims_page import claims_of, claims_table
from analogyqa.report.cross_validation import CROSS_VALIDATION, cross_validation_table
from analogyqa.report.legend import heading
from analogyqa.report.pairs import PAIRS, pairs_table
from analogyqa.report.sensitivity import SENSITIVITY, sensitivity_table
from analogyqa.report.summary import Summaries, read_csv
from analogyqa.report.table_formats import Block, Table
from analogyqa.report.tables import FRAME, table_of_frame
from analogyqa.report.views.show import show_view, table_of_view
from analogyqa.report.views.specs import VIEWS
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import Studies


class Drawing(NamedTuple):
    """A figure: file name and alternative text, SVG and data as URIs, size in pixels."""

    name: str
    alt: str
    svg: str
    data: str
    size: tuple[int, int]


class Section(NamedTuple):
    """A part of a paper: blocks of tables, a drawing, notes, and the paths of its files.

    `has_sentences`: whether it shows sentences of the data; `is_wordy`: whether its cells are long
    texts.
    """

    id: str
    heading: str
    blocks: Sequence[Block] = ()
    notes: Sequence[str] = ()
    drawing: Drawing | None = None
    files: Sequence[str] = ()
    has_sentences: bool = False
    is_wordy: bool = False


class PaperPart(NamedTuple):
    """A paper in the report; `missing` are the files that no run has made yet."""

    name: str
    citation: str
    sections: list[Section]
    missing: list[str]


def paper_part(results: Path, paper: Paper, summaries: Summaries, config: Config) -> PaperPart:
    """Return what the results, an output folder, contain of a paper.

    Raises AnalogyQAError if a file is damaged.
    """
    sections, missing = [], []
    for name in paper.shown:
        kind, suffix = ("figure", "svg") if name.startswith("figure") else ("table", "csv")
        path = results / f"{kind}s" / paper.paper / f"{name}.{suffix}"
        section = None
        if path.exists() and kind == "figure":
            section = _figure(path, paper, name, results)
        elif path.exists():
            section = _table(path, paper, name, summaries, config, results)
        if section:
            sections.append(section)
        else:
            missing.append(path.relative_to(results).with_suffix("").as_posix())
    sections += _studies(results, paper, config)
    return PaperPart(paper.paper, paper.citation, sections, missing)


def _table(
    path: Path, paper: Paper, name: str, summaries: Summaries, config: Config, results: Path
) -> Section | None:
    """Return a table; None for a view whose tables are missing."""
    if name not in paper.views:
        table = table_of_frame(paper, name, read_csv(path, FRAME), summaries, config)
        return _section(table, paper, name, path, results)
    view = paper.views[name]
    paths = [results / table.path for table in view_tables(config, view).values() if table.path]
    if not all(path.exists() for path in paths):
        return None
    table = table_of_view(show_view(paper, name, paths, config), paper, name, config)
    has_sentences = VIEWS[view.view].shows_sentences
    section = _section(table, paper, name, path, results)
    return section._replace(has_sentences=has_sentences, is_wordy=True)


def _figure(path: Path, paper: Paper, name: str, results: Path) -> Section:
    title = heading(paper, name, (paper.views | paper.artefacts)[name].title)
    drawing = _drawing(path, path.with_suffix(".csv"), title)
    return Section(f"{paper.paper}-{name}", title, drawing=drawing, files=_files(path, results))


def _studies(results: Path, paper: Paper, config: Config) -> Iterator[Section]:
    """Yield the claims and the studies of a paper that have results."""
    studies, folder = config.studies.get(paper.paper, Studies()), results / "tables" / paper.paper
    path = results / "claims.csv"
    if path.exists() and paper.claims:
        frame = read_csv(path, CLAIMS)
        table = claims_table(frame[frame["paper"] == paper.paper], [paper], config)
        blocks = claims_of(paper, frame)
        table = table._replace(title=f"Claims of {paper.paper}", blocks=blocks)
        yield _section(table, paper, "claims", path, results)._replace(is_wordy=True)
    path, study = folder / "cross_validation.csv", studies.cross_validation
    if path.exists() and study:
        table = cross_validation_table(read_csv(path, CROSS_VALIDATION), paper, study, (), config)
        yield _section(table, paper, "cross_validation", path, results)
    path = folder / "pairs.csv"
    if path.exists() and study and study.pairs:
        table = pairs_table(read_csv(path, PAIRS), paper, config)
        yield _section(table, paper, "pairs", path, results)
    path, varied = folder / "sensitivity.csv", studies.sensitivity
    if path.exists() and varied:
        table = sensitivity_table(read_csv(path, SENSITIVITY), config, varied)
        table = table._replace(title=f"Sensitivity of {paper.paper} to the open choices")
        yield _section(table, paper, "sensitivity", path, results)


def _section(table: Table, paper: Paper, name: str, csv: Path, results: Path) -> Section:
    """Return a table with the figure of the same name, if there is one."""
    svg = results / "figures" / paper.paper / f"{name}.svg"
    return Section(
        f"{paper.paper}-{name}",
        table.heading,
        table.blocks,
        table.notes,
        _drawing(svg, csv, table.heading) if svg.exists() else None,
        _files(csv, results),
    )


def _drawing(svg: Path, csv: Path, heading: str) -> Drawing:
    name = f"{csv.parent.name}-{csv.name}"
    alt = f"{heading}. The link below the figure saves its numbers, {name}."
    uris = _uri(svg, "image/svg+xml"), _uri(csv, "text/csv;charset=utf-8")
    return Drawing(name, alt, *uris, _size(svg))


def _size(svg: Path) -> tuple[int, int]:
    """Return width and height in pixels; without them, the page jumps as its figures load."""
    with open(svg, encoding="utf-8") as file:
        head = file.read(2000)
    width, height = re.findall(r'\b(?:width|height)="([\d.]+)pt"', head)[:2]
    return round(float(width) * 4 / 3), round(float(height) * 4 / 3)


def _uri(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _files(path: Path, results: Path) -> list[str]:
    """Return the files of an artefact by their paths below the results."""
    paths = (path.with_suffix(f".{kind}") for kind in ("svg", "png", "csv", "md", "tex"))
    return [path.relative_to(results).as_posix() for path in paths if path.exists()]
