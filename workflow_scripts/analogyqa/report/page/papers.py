"""A paper in the report: its tables and figures in their order, its claims and studies.

All of it is read from the files of a run; what is missing is listed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from analogyqa.cells import view_tables
from analogyqa.errors import REBUILD, AnalogyQAError
from analogyqa.evaluation.summary import Summaries, read_csv
from analogyqa.evaluation.verdicts import OTHER_DATA
from analogyqa.report.claims_page import claims_of, claims_table
from analogyqa.report.cross_validation import (
    CROSS_VALIDATION,
    PAIRS,
    cross_validation_table,
    pairs_table,
)
from analogyqa.report.html_pages import prose, svg_uri
from analogyqa.report.legend import INTERVALS, printed_name
from analogyqa.report.outcomes import findings
from analogyqa.report.page.examples import examples_section
from analogyqa.report.page.provenance import Provenance
from analogyqa.report.sensitivity import SENSITIVITY, sensitivity_table
from analogyqa.report.table_formats import Block, Table, count_text
from analogyqa.report.tables import FRAME, table_of_frame
from analogyqa.report.views.show import build_view, table_of_view
from analogyqa.settings.artefacts import BEST, NOT_PRINTED
from analogyqa.settings.load import PAPERS
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config


class Drawing(NamedTuple):
    """A figure: alternative text, SVG as a URI, size in pixels."""

    alt: str
    svg: str
    size: tuple[int, int]


class Section(NamedTuple):
    """A part of a paper: blocks of tables, a drawing, notes, and the paths of its files.

    `short` is its name in the list of contents. `has_sentences`: whether it shows sentences of the
    data; `is_wordy`: whether its cells are long texts.
    """

    id: str
    short: str
    heading: str
    blocks: Sequence[Block] = ()
    notes: Sequence[str] = ()
    drawing: Drawing | None = None
    files: Sequence[str] = ()
    has_sentences: bool = False
    is_wordy: bool = False


class PaperPart(NamedTuple):
    """A paper in the report.

    `findings` are sentences; `missing` are the files that no run has made yet; `choices` is what we
    decided where the paper is silent, and `config` the text of its config.yaml. `examples` are
    explained questions, with sentences of the data.
    """

    name: str
    citation: str
    findings: list[str]
    sections: list[Section]
    missing: list[str]
    choices: Markup
    config: str
    examples: Markup


def paper_part(
    results: Path,
    paper: Paper,
    frames: tuple[pd.DataFrame, pd.DataFrame],
    summaries: Summaries,
    config: Config,
    provenance: Provenance,
    tables: Mapping[tuple[str, str], Table] = MappingProxyType({}),
) -> PaperPart:
    """Return what the results, an output folder, contain of a paper.

    `frames` are the ledger and the claims. The numbers of the tables are added to `provenance`.
    `tables` are shown where a file is missing, by paper and name.

    Raises AnalogyQAError if a file is damaged.
    """
    ledger, claims = frames
    sections, missing = [], []
    for name in paper.tables_and_figures:
        kind, suffix = ("figure", "svg") if name.startswith("figure") else ("table", "csv")
        path = results / f"{kind}s" / paper.paper / f"{name}.{suffix}"
        section = None
        if kind == "figure" and path.exists() and path.with_suffix(".csv").exists():
            section = _figure(path, paper, name, results, ledger)
        elif kind == "table" and path.exists():
            section = _table(path, paper, name, summaries, config, results)
        elif (paper.paper, name) in tables:
            section = _section(tables[paper.paper, name], paper, name, path, results)
        if section:
            sections.append(section)
            if name in paper.artefacts and kind == "table" and path.exists():
                provenance.add(paper, name, section.id, section.blocks)
        else:
            missing.append(path.relative_to(results).with_suffix("").as_posix())
    sections += _studies(results, paper, claims, config)
    sentences = findings(paper, ledger, claims)
    choices, config_text = _choices(paper)
    examples = examples_section(results, paper, config)
    return PaperPart(
        paper.paper, paper.citation, sentences, sections, missing, choices, config_text, examples
    )


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
    table = table_of_view(build_view(paper, name, paths, config), paper, name, config)
    section = _section(table, paper, name, path, results)
    return section._replace(has_sentences=view.spec.shows_sentences, is_wordy=True)


def _figure(path: Path, paper: Paper, name: str, results: Path, ledger: pd.DataFrame) -> Section:
    """Return a figure, with the published best points of its lines next to ours."""
    short, title = printed_name(name), (paper.views | paper.artefacts)[name].title
    drawing = _drawing(path, path.with_suffix(".csv"), f"{short} of {paper.paper}: {title}")
    best = ledger[
        ledger["paper"].eq(paper.paper) & ledger["artefact"].eq(name) & ledger["kind"].eq(BEST)
    ]
    rows = {
        line: [count_text(row)._replace(verdict=row["verdict"]) for row in part.to_dict("records")]
        for line, part in best.groupby("row", sort=False)
    }
    columns = [f"best {column}".strip() for column in best["column"].unique()]
    blocks = [Block("Best points", ["Line"], columns, [([line], rows[line]) for line in rows])]
    return Section(
        f"{paper.paper}-{name}",
        short,
        _heading(paper, name, title),
        blocks if rows else (),
        [f"{row['row']}, {row['column']}: {row['reason']}." for row in best.to_dict("records")],
        drawing,
        _files(path, results),
    )


def _studies(
    results: Path, paper: Paper, claims: pd.DataFrame, config: Config
) -> Iterator[Section]:
    """Yield the claims and the studies of a paper that have results."""
    studies, folder = config.studies_of(paper.paper), results / "tables" / paper.paper
    judged = claims[claims["paper"] == paper.paper]
    if not judged.empty:
        table = claims_table(judged, [paper], config)
        table = table._replace(title=f"Claims of {paper.paper}", blocks=claims_of(paper, judged))
        path = results / "claims.csv"
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
    short = printed_name(name).replace("_", "-")
    title = table.title.removesuffix(f" ({OTHER_DATA})")
    return Section(
        f"{paper.paper}-{name}",
        short,
        _heading(paper, name, title) if name in paper.tables_and_figures else title,
        [_without_empty_columns(block) for block in table.blocks],
        [note for note in table.notes if not _is_in_page_legend(note)],
        _drawing(svg, csv, table.heading) if svg.exists() else None,
        _files(csv, results),
    )


def _is_in_page_legend(note: str) -> bool:
    """Return whether the legend of the page has a note, or its sentence on other data."""
    return note.startswith(("Cell: mean", INTERVALS, "Marks: ")) or OTHER_DATA in note.lower()


def _heading(paper: Paper, name: str, title: str) -> str:
    """Return the heading of a table or figure; those of the user's own data have no number."""
    return title if paper.paper == OWN else f"{printed_name(name)}: {title}"


def _without_empty_columns(block: Block) -> Block:
    kept = [
        place
        for place in range(len(block.columns))
        if any(values[place].parts not in ([], [NOT_PRINTED]) for _, values in block.rows)
    ]
    rows = [(labels, [values[place] for place in kept]) for labels, values in block.rows]
    return block._replace(columns=[block.columns[place] for place in kept], rows=rows)


def _choices(paper: Paper) -> tuple[Markup, str]:
    """Return our choices, from the paper's README.md, and the text of its config.yaml."""
    folder = PAPERS / paper.paper
    readme, config = (
        path.read_text(encoding="utf-8") if path.exists() else ""
        for path in (folder / "README.md", folder / "config.yaml")
    )
    chosen = re.search(r"(?ms)^## Our choices?\n(.*?)(?=^## |\Z)", readme)
    return prose(chosen[1] if chosen else ""), config


def _drawing(svg: Path, csv: Path, heading: str) -> Drawing:
    alt = f"{heading}. Its numbers are in {csv.name}, linked below."
    return Drawing(alt, svg_uri(svg.read_text(encoding="utf-8")), _size(svg))


def _size(svg: Path) -> tuple[int, int]:
    """Return width and height in pixels; without them, the page jumps as its figures load."""
    with open(svg, encoding="utf-8") as file:
        head = file.read(2000)
    sizes = re.findall(r'\b(?:width|height)="([\d.]+)pt"', head)[:2]
    if len(sizes) < 2:
        raise AnalogyQAError(f"{svg}: has no width and height. {REBUILD}")
    width, height = (round(float(size) * 4 / 3) for size in sizes)
    return width, height


def _files(path: Path, results: Path) -> list[str]:
    """Return the files of an artefact by their paths below the results."""
    paths = (path.with_suffix(f".{kind}") for kind in ("svg", "png", "csv", "md", "tex"))
    return [path.relative_to(results).as_posix() for path in paths if path.exists()]
