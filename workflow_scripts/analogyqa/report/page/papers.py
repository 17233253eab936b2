"""What the report shows of a paper: its tables and figures in their order, its claims and studies.

All of it is read from what a run left; what is not there yet is listed.
"""

import base64
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from analogyqa.plan import Cell, view_cells
from analogyqa.report.claims import CLAIMS
from analogyqa.report.claims_page import claims_table
from analogyqa.report.cross_validation import CROSS_VALIDATION, cross_validation_table
from analogyqa.report.pairs import PAIRS, pairs_table
from analogyqa.report.sensitivity import SENSITIVITY
from analogyqa.report.sensitivity_page import sensitivity_table
from analogyqa.report.summary import Summaries, read_csv
from analogyqa.report.table_formats import Block
from analogyqa.report.tables import FRAME, table_of_frame
from analogyqa.report.views.show import show_view, table_of_view
from analogyqa.report.views.specs import VIEWS
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config


class Drawing(NamedTuple):
    """A figure: its file name, what it shows in words, SVG and data as URIs, its size in pixels."""

    name: str
    alt: str
    svg: str
    data: str
    size: tuple[int, int]


class Section(NamedTuple):
    """A part of a paper: blocks of tables, a drawing, notes, and where its files are.

    `sentences` says whether it shows sentences of the data; `wordy` whether its cells are texts.
    """

    id: str
    heading: str
    blocks: Sequence[Block] = ()
    notes: Sequence[str] = ()
    drawing: Drawing | None = None
    files: Sequence[str] = ()
    sentences: bool = False
    wordy: bool = False


class PaperPart(NamedTuple):
    """A paper in the report; `missing` are the files that no run has made yet."""

    name: str
    citation: str
    sections: list[Section]
    missing: list[str]


def part_of(results: Path, paper: Paper, summaries: Summaries, config: Config) -> PaperPart:
    """Return what is there of a paper.

    Args:
        results: the output folder.
        paper: whose part it is.
        summaries: the rows of the summary by cell and measure.
        config: what the runs were made with.

    Raises AnalogyQAError when a file is damaged.
    """
    sections, missing = [], []
    for name in paper.shown:
        kind = "figure" if name.startswith("figure") else "table"
        path = results / f"{kind}s" / paper.paper / f"{name}.{'svg' if kind == 'figure' else 'csv'}"
        found = None
        if path.exists():
            if kind == "figure":
                found = _figure(path, paper, name, results)
            else:
                found = _table(path, paper, name, summaries, config, results)
        if found:
            sections.append(found)
        else:
            missing.append(path.relative_to(results).with_suffix("").as_posix())
    for make in (_claims, _cross_validation, _pairs, _sensitivity):
        sections += make(results, paper, config)
    return PaperPart(paper.paper, paper.citation, sections, missing)


def _table(
    path: Path, paper: Paper, name: str, summaries: Summaries, config: Config, results: Path
) -> Section | None:
    """Return a table; None where a view lacks the inside of a system that it looks into."""
    sentences = False
    if name in paper.views:
        view = paper.views[name]
        cells = [cell for cell in view_cells(config, view).values() if isinstance(cell, Cell)]
        insides = [results / "runs" / cell.path / "inside.parquet" for cell in cells]
        if not all(inside.exists() for inside in insides):
            return None
        table = table_of_view(show_view(paper, name, insides, config), paper, name, config)
        sentences = VIEWS[view.view].shows_sentences
    else:
        table = table_of_frame(paper, name, read_csv(path, FRAME), summaries, config)
    return Section(
        f"{paper.paper}-{name}",
        table.heading,
        table.blocks,
        notes=table.notes,
        files=_files(results, path, ("csv", "md", "tex")),
        sentences=sentences,
        wordy=name in paper.views,
    )


def _figure(path: Path, paper: Paper, name: str, results: Path) -> Section:
    title = (paper.views if name in paper.views else paper.artefacts)[name].title
    heading = f"Figure {name.removeprefix('figure')} of {paper.paper}: {title}"
    heading = title if paper.paper == OWN else heading
    return Section(
        f"{paper.paper}-{name}",
        heading,
        drawing=_drawing(path, path.with_suffix(".csv"), heading),
        files=_files(results, path, ("svg", "png", "csv")),
    )


def _drawing(svg: Path, csv: Path, heading: str) -> Drawing:
    name = f"{csv.parent.name}-{csv.name}"
    alt = f"{heading}. Its numbers are in {name}, which the link below the figure saves."
    uris = _uri(svg, "image/svg+xml"), _uri(csv, "text/csv;charset=utf-8")
    return Drawing(name, alt, *uris, _size(svg))


def _size(svg: Path) -> tuple[int, int]:
    """Return width and height, without which a page jumps when its figures come."""
    with open(svg, encoding="utf-8") as file:
        head = file.read(2000)
    width, height = (re.search(rf'\b{side}="([\d.]+)pt"', head) for side in ("width", "height"))
    return round(float(width[1]) * 4 / 3), round(float(height[1]) * 4 / 3)


def _uri(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _claims(results: Path, paper: Paper, config: Config) -> list[Section]:
    path = results / "claims.csv"
    if not path.exists() or not paper.claims:
        return []
    frame = read_csv(path, CLAIMS)
    table = claims_table(frame[frame["paper"] == paper.paper], [paper], config)
    return [
        Section(
            f"{paper.paper}-claims",
            f"Claims of {paper.paper}",
            table.blocks[-1:],
            notes=table.notes,
            files=_files(results, path, ("csv", "md")),
            wordy=True,
        )
    ]


def _cross_validation(results: Path, paper: Paper, config: Config) -> list[Section]:
    path = results / "tables" / paper.paper / "cross_validation.csv"
    if not path.exists() or not config.studies[paper.paper].cross_validation:
        return []
    table = cross_validation_table(read_csv(path, CROSS_VALIDATION), paper, (), config)
    return [
        Section(
            f"{paper.paper}-cross_validation",
            table.heading,
            table.blocks,
            notes=table.notes,
            drawing=_drawing_beside(path, table.heading),
            files=_files(results, path, ("csv", "md")),
        )
    ]


def _pairs(results: Path, paper: Paper, config: Config) -> list[Section]:
    path = results / "tables" / paper.paper / "pairs.csv"
    study = config.studies.get(paper.paper)
    if not path.exists() or not (study and study.cross_validation and study.cross_validation.pairs):
        return []
    table = pairs_table(read_csv(path, PAIRS), paper, config)
    return [
        Section(
            f"{paper.paper}-pairs",
            table.heading,
            table.blocks,
            notes=table.notes,
            drawing=_drawing_beside(path, table.heading),
            files=_files(results, path, ("csv", "md")),
        )
    ]


def _sensitivity(results: Path, paper: Paper, config: Config) -> list[Section]:
    path = results / "tables" / paper.paper / "sensitivity.csv"
    study = config.studies[paper.paper].sensitivity if paper.paper in config.studies else None
    if not path.exists() or not study:
        return []
    frame = read_csv(path, SENSITIVITY)
    table = sensitivity_table(frame, config, study)
    heading = f"Sensitivity of {paper.paper} to the open choices"
    return [
        Section(
            f"{paper.paper}-sensitivity",
            heading,
            table.blocks,
            notes=table.notes,
            drawing=_drawing_beside(path, heading),
            files=_files(results, path, ("csv", "md")),
        )
    ]


def _drawing_beside(csv: Path, heading: str) -> Drawing | None:
    """Return the figure that stands beside a table."""
    svg = csv.parents[2] / "figures" / csv.parent.name / f"{csv.stem}.svg"
    return _drawing(svg, csv, heading) if svg.exists() else None


def _files(results: Path, path: Path, kinds: tuple[str, ...]) -> list[str]:
    """Return the files of one name that are there, by their paths below the results."""
    there = [path.with_suffix(f".{kind}") for kind in kinds]
    return [each.relative_to(results).as_posix() for each in there if each.exists()]
