"""A paper in the report: its tables and figures in their order, its claims, studies and examples.

All of it is read from the files of a run; what is missing is listed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from analogyqa.cells import explained_cells, view_tables
from analogyqa.errors import REBUILD, AnalogyQAError, explain_damage
from analogyqa.evaluation.published import FRAME
from analogyqa.evaluation.summary import read_csv
from analogyqa.evaluation.verdicts import OTHER_DATA
from analogyqa.report.claims_page import claims_of, claims_table
from analogyqa.report.cross_validation import (
    CROSS_VALIDATION,
    PAIRS,
    cross_validation_table,
    pairs_table,
)
from analogyqa.report.explained import (
    lettered_prototypes,
    margin,
    picture_notes,
    shown_candidates,
    word_text,
)
from analogyqa.report.explanation_figure import picture_svg
from analogyqa.report.html_pages import prose, render, svg_uri
from analogyqa.report.outcomes import findings
from analogyqa.report.page.provenance import Provenance
from analogyqa.report.sensitivity import SENSITIVITY, sensitivity_table
from analogyqa.report.table_formats import Block, Table, count_text
from analogyqa.report.table_notes import INTERVALS, printed_name
from analogyqa.report.tables import table_of_frame
from analogyqa.report.views.show import build_view, tabulate_view
from analogyqa.schemas import EXPLANATIONS, Explanation
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


@dataclass(frozen=True)
class PaperPage:
    """Makes the sections of one paper.

    Attributes:
        results: The output folder.
        paper, config: The paper and the configuration.
        ledger, claims: The verdicts on all papers, columns LEDGER and CLAIMS.
        summary: The spread of every run and measure, columns SUMMARY.
        computed: The tables to show where a file is missing, by paper and name.
    """

    results: Path
    paper: Paper
    config: Config
    ledger: pd.DataFrame
    claims: pd.DataFrame
    summary: pd.DataFrame
    computed: Mapping[tuple[str, str], Table]

    def part(self, provenance: Provenance) -> PaperPart:
        """Return what the results contain of the paper; add the numbers of tables to `provenance`.

        Raises AnalogyQAError if a file is damaged.
        """
        paper, sections, missing = self.paper, [], []
        for name in paper.tables_and_figures:
            kind = "figures" if name.startswith("figure") else "tables"
            path = self.results / kind / paper.paper / f"{name}.csv"
            section = self._figure(name, path) if kind == "figures" else self._table(name, path)
            if section is None:
                missing.append(f"{kind}/{paper.paper}/{name}")
                continue
            sections.append(section)
            if kind == "tables" and name in paper.artefacts and path.exists():
                provenance.add(paper, name, section.id, section.blocks)
        readme, config = (
            path.read_text(encoding="utf-8") if path.exists() else ""
            for path in (PAPERS / paper.paper / name for name in ("README.md", "config.yaml"))
        )
        choices = re.search(r"(?ms)^## Our choices?\n(.*?)(?=^## |\Z)", readme)
        return PaperPart(
            name=paper.paper,
            citation=paper.citation,
            findings=findings(paper, self.ledger, self.claims),
            sections=[*sections, *self._studies()],
            missing=missing,
            choices=prose(choices[1] if choices else ""),
            config=config,
            examples=examples_section(self.results, paper, self.config),
        )

    def _table(self, name: str, csv: Path) -> Section | None:
        """Return a table; None if it, or a table that its view reads, is missing."""
        paper, config = self.paper, self.config
        if not csv.exists():
            table = self.computed.get((paper.paper, name))
            return self._section(table, name, csv) if table else None
        if name not in paper.views:
            table = table_of_frame(paper, name, read_csv(csv, FRAME), self.summary, config)
            return self._section(table, name, csv)
        view = paper.views[name]
        paths = [self.results / path for path, *_ in view_tables(config, view).values() if path]
        if not all(path.exists() for path in paths):
            return None
        table = tabulate_view(build_view(paper, name, paths, config), paper, name, config)
        section = self._section(table, name, csv)
        return section._replace(has_sentences=view.spec.shows_sentences, is_wordy=True)

    def _figure(self, name: str, csv: Path) -> Section | None:
        """Return a figure, with the published best points of its lines next to ours."""
        svg, paper = csv.with_suffix(".svg"), self.paper
        if not (svg.exists() and csv.exists()):
            return None
        short, title = printed_name(name), (paper.views | paper.artefacts)[name].title
        ledger = self.ledger
        best = ledger[
            ledger["paper"].eq(paper.paper) & ledger["artefact"].eq(name) & ledger["kind"].eq(BEST)
        ]
        lines = [
            ([line], [count_text(row)._replace(verdict=row["verdict"]) for row in rows])
            for line, part in best.groupby("row", sort=False)
            if (rows := part.to_dict("records"))
        ]
        columns = [f"best {column}".strip() for column in best["column"].unique()]
        return Section(
            f"{paper.paper}-{name}",
            short,
            self._heading(name, title),
            [Block("Best points", ["Line"], columns, lines)] if lines else (),
            [f"{row['row']}, {row['column']}: {row['reason']}." for row in best.to_dict("records")],
            _drawing(svg, csv, f"{short} of {paper.paper}: {title}"),
            self._files(csv),
        )

    def _studies(self) -> Iterator[Section]:
        """Yield the claims and the studies of the paper that have results."""
        paper, config = self.paper, self.config
        studies, folder = config.studies_of(paper.paper), self.results / "tables" / paper.paper
        judged = self.claims[self.claims["paper"] == paper.paper]
        if not judged.empty:
            table = claims_table(judged, [paper], config)
            table = table._replace(
                title=f"Claims of {paper.paper}", blocks=claims_of(paper, judged)
            )
            section = self._section(table, "claims", self.results / "claims.csv")
            yield section._replace(is_wordy=True)
        csv, study = folder / "cross_validation.csv", studies.cross_validation
        if csv.exists() and study:
            frame = read_csv(csv, CROSS_VALIDATION)
            table = cross_validation_table(frame, paper, study, (), config)
            yield self._section(table, "cross_validation", csv)
        csv = folder / "pairs.csv"
        if csv.exists() and study and study.pairs:
            table = pairs_table(read_csv(csv, PAIRS), paper, config)
            yield self._section(table, "pairs", csv)
        csv, varied = folder / "sensitivity.csv", studies.sensitivity
        if csv.exists() and varied:
            table = sensitivity_table(read_csv(csv, SENSITIVITY), config, varied)
            table = table._replace(title=f"Sensitivity of {paper.paper} to the open choices")
            yield self._section(table, "sensitivity", csv)

    def _section(self, table: Table, name: str, csv: Path) -> Section:
        """Return a table with the figure of the same name, if there is one."""
        paper = self.paper
        svg = self.results / "figures" / paper.paper / f"{name}.svg"
        title = table.title.removesuffix(f" ({OTHER_DATA})")
        return Section(
            f"{paper.paper}-{name}",
            printed_name(name).replace("_", "-"),
            self._heading(name, title) if name in paper.tables_and_figures else title,
            [_without_empty_columns(block) for block in table.blocks],
            [note for note in table.notes if not _is_in_page_legend(note)],
            _drawing(svg, csv, table.heading) if svg.exists() else None,
            self._files(csv),
        )

    def _heading(self, name: str, title: str) -> str:
        """Return the heading of a table or figure; those of the user's own data have no number."""
        return title if self.paper.paper == OWN else f"{printed_name(name)}: {title}"

    def _files(self, csv: Path) -> list[str]:
        """Return the files of an artefact by their paths below the results."""
        paths = (csv.with_suffix(f".{kind}") for kind in ("svg", "png", "csv", "md", "tex"))
        return [path.relative_to(self.results).as_posix() for path in paths if path.exists()]


def _is_in_page_legend(note: str) -> bool:
    """Return whether the legend of the page has a note, or its sentence on other data."""
    return note.startswith(("Cell: mean", INTERVALS, "Marks: ")) or OTHER_DATA in note.lower()


def _without_empty_columns(block: Block) -> Block:
    kept = [
        place
        for place in range(len(block.columns))
        if any(values[place].parts not in ([], [NOT_PRINTED]) for _, values in block.rows)
    ]
    rows = [(labels, [values[place] for place in kept]) for labels, values in block.rows]
    return block._replace(columns=[block.columns[place] for place in kept], rows=rows)


def _drawing(svg: Path, csv: Path, heading: str) -> Drawing:
    """Return a figure with its size; without it, the page jumps as its figures load."""
    text = svg.read_text(encoding="utf-8")
    sizes = re.findall(r'\b(?:width|height)="([\d.]+)pt"', text[:2000])[:2]
    if len(sizes) < 2:
        raise AnalogyQAError(f"{svg}: has no width and height. {REBUILD}")
    width, height = (round(float(size) * 4 / 3) for size in sizes)
    alt = f"{heading}. Its numbers are in {csv.name}, linked below."
    return Drawing(alt, svg_uri(text), (width, height))


def examples_section(results: Path, paper: Paper, config: Config) -> Markup:
    """Return the clearest answers of a paper, explained in HTML; "" for none.

    They have sentences of the data. `results` is the output folder.

    Raises AnalogyQAError if a file is damaged.
    """
    groups: dict[str, list[Explanation]] = {}
    for cell in explained_cells(config, paper):
        path = results / "runs" / cell.path / "examples.json"
        title = f"{config.systems[cell.system].title} on {config.datasets[cell.dataset].title}"
        if not path.exists():
            continue
        with explain_damage(path, "not a list of explanations"):
            explanations = EXPLANATIONS.validate_json(path.read_bytes())
        for explanation in explanations:
            is_correct = explanation.candidates[0].label == 1
            group = f"{title}: answered {'correctly' if is_correct else 'incorrectly'}"
            if explanation.shifts:
                groups.setdefault(group, []).append(explanation)
    if not groups:
        return Markup()
    html = render(
        "examples.html",
        paper=paper.paper,
        results=results.as_posix(),
        groups=groups,
        picture=lambda explanation: svg_uri(picture_svg(explanation, explanation.shifts)),
        notes=lambda explanation: list(picture_notes(explanation, explanation.shifts)),
        margin=margin,
        shown_candidates=shown_candidates,
        lettered_prototypes=lettered_prototypes,
        word_text=word_text,
    )
    return Markup(html)
