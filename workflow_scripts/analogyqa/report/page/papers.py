"""The papers in the report: their claims, tables, figures, studies and examples.

All of it is read from the files of a run; what is missing is listed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from analogyqa.cells import explained_cells, view_tables
from analogyqa.errors import REBUILD, AnalogyQAError, explain_damage
from analogyqa.evaluation.claims import CLAIM_MARKS, PRIMARY, SECONDARY, UNDECIDED, effect_text
from analogyqa.evaluation.published import FRAME
from analogyqa.evaluation.significance import p_text
from analogyqa.evaluation.summary import read_csv
from analogyqa.evaluation.verdicts import OTHER_DATA
from analogyqa.measures import MEASURES
from analogyqa.report import explained
from analogyqa.report.explained import picture_svg
from analogyqa.report.html_pages import prose, render, svg_uri
from analogyqa.report.ledger_pages import claim_blocks_in_short, claims_table, judged_on
from analogyqa.report.outcomes import findings
from analogyqa.report.sensitivity import SENSITIVITY, sensitivity_table
from analogyqa.report.stored import is_archive
from analogyqa.report.studies import CROSS_VALIDATION, PAIRS, cross_validation_table, pairs_table
from analogyqa.report.table_formats import Block, Table, value_text
from analogyqa.report.tables import INTERVALS, lay_out, printed_name
from analogyqa.report.verdict_picture import STEPS
from analogyqa.report.views.show import build_view, tabulate_view
from analogyqa.schemas import EXPLANATIONS, Explanation
from analogyqa.settings.artefacts import BEST, NOT_PRINTED
from analogyqa.settings.load import PAPERS
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config
from analogyqa.tasks import dataset_task

# The columns of the table of each study.
STUDIES = {"cross_validation": CROSS_VALIDATION, "pairs": PAIRS, "sensitivity": SENSITIVITY}


@dataclass(frozen=True)
class PaperPage:
    """Makes the sections of one paper."""

    results: Path  # the output folder
    paper: Paper
    config: Config
    ledger: pd.DataFrame  # of all papers, columns LEDGER
    claims: pd.DataFrame  # of all papers, columns CLAIMS
    summary: pd.DataFrame  # columns SUMMARY
    computed: Mapping[tuple[str, str], Table]  # to show where a file is missing, by paper and name

    def part(self, shown: list[tuple[Paper, str, dict]]) -> dict:
        """Return, for the template, what the results contain of the paper.

        `missing` are the files that no run has made yet; `hidden` are those that an archive lacks,
        because they are made of sentences of the data; `choices` is what we decided where the paper
        is silent. Tables are added to `shown`, see `page_provenance`.

        Raises AnalogyQAError if a file is damaged.
        """
        paper, sections = self.paper, []
        missing: list[str] = []
        hidden: list[str] = []
        for name in paper.tables_and_figures:
            kind = "figures" if name.startswith("figure") else "tables"
            path = self.results / kind / paper.paper / f"{name}.csv"
            section = self._figure(name, path) if kind == "figures" else self._table(name, path)
            if section is None:
                is_hidden = name in paper.views and is_archive(self.results)
                (hidden if is_hidden else missing).append(f"{kind}/{paper.paper}/{name}")
                continue
            sections.append(section)
            if kind == "tables" and name in paper.artefacts and path.exists():
                shown.append((paper, name, section))
        readme, config = (
            path.read_text(encoding="utf-8") if path.exists() else ""
            for path in (PAPERS / paper.paper / name for name in ("README.md", "config.yaml"))
        )
        choices = re.search(r"(?ms)^## Our choices?\n(.*?)(?=^## |\Z)", readme)
        return {
            "name": paper.paper,
            "citation": paper.citation,
            "findings": findings(paper, self.ledger, self.claims),
            "sections": [*sections, *self._studies()],
            "missing": missing,
            "hidden": hidden,
            "choices": prose(choices[1] if choices else ""),
            "config": config,
            "examples": examples_section(self.results, paper, self.config),
        }

    def _table(self, name: str, csv: Path) -> dict | None:
        """Return a table; None if it, or a table that its view reads, is missing."""
        paper, config = self.paper, self.config
        if not csv.exists():
            table = self.computed.get((paper.paper, name))
            return self._section(table, name, csv) if table else None
        if name not in paper.views:
            table = lay_out(paper, name, read_csv(csv, FRAME), self.summary, config)
            return self._section(table, name, csv)
        view = paper.views[name]
        paths = [self.results / path for path, *_ in view_tables(config, view).values() if path]
        if not all(path.exists() for path in paths):
            return None
        table = tabulate_view(build_view(paper, name, paths, config), paper, name, config)
        shows_sentences = view.spec.shows_sentences
        return self._section(table, name, csv, has_sentences=shows_sentences, is_wordy=True)

    def _figure(self, name: str, csv: Path) -> dict | None:
        """Return a figure, with the published best points of its lines next to ours."""
        paper, ledger = self.paper, self.ledger
        if not (csv.with_suffix(".svg").exists() and csv.exists()):
            return None
        best = ledger[
            ledger["paper"].eq(paper.paper) & ledger["artefact"].eq(name) & ledger["kind"].eq(BEST)
        ]
        lines = [
            ([line], [value_text(row)._replace(verdict=row["verdict"]) for row in records])
            for line, part in best.groupby("row", sort=False)
            if (records := part.to_dict("records"))
        ]
        columns = [f"best {column}".strip() for column in best["column"].unique()]
        table = Table(
            (paper.views | paper.artefacts)[name].title,
            [Block("Best points", ["Line"], columns, lines)] if lines else [],
            [],
            f"{printed_name(name)} of {paper.paper}",
        )
        notes = [f"{r['row']}, {r['column']}: {r['reason']}." for r in best.to_dict("records")]
        return self._section(table, name, csv, notes=notes)

    def _studies(self) -> Iterator[dict]:
        """Yield the claims and the studies of the paper that have results."""
        paper, config = self.paper, self.config
        judged = self.claims[self.claims["paper"] == paper.paper]
        if not judged.empty:
            table = claims_table(judged, [paper], config)._replace(
                title=f"Claims of {paper.paper}", blocks=claim_blocks_in_short(paper, judged)
            )
            yield self._section(table, "claims", self.results / "claims.csv", is_wordy=True)
        studies = config.paper_studies(paper.paper)
        folds, varied = studies.cross_validation, studies.sensitivity
        csvs = {name: self.results / "tables" / paper.paper / f"{name}.csv" for name in STUDIES}
        frames = {name: read_csv(csv, STUDIES[name]) for name, csv in csvs.items() if csv.exists()}
        tables: dict[str, Table] = {}
        if folds and "cross_validation" in frames:
            table = cross_validation_table(frames["cross_validation"], paper, folds, (), config)
            tables["cross_validation"] = table
        if folds and folds.pairs and "pairs" in frames:
            tables["pairs"] = pairs_table(frames["pairs"], paper, config)
        if varied and "sensitivity" in frames:
            table = sensitivity_table(frames["sensitivity"], config, varied)
            title = f"Sensitivity of {paper.paper} to the open choices"
            tables["sensitivity"] = table._replace(title=title)
        for name, table in tables.items():
            yield self._section(table, name, csvs[name])

    def _section(self, table: Table, name: str, csv: Path, **facts) -> dict:
        """Return a table or figure; a table with the figure of the same name, if there is one.

        `short` is its name in the list of contents. `facts` replace what is assumed of it.
        """
        paper = self.paper
        svg = self.results / "figures" / paper.paper / f"{name}.svg"
        title = table.title.removesuffix(f" ({OTHER_DATA})")
        # The user's own tables and figures have no number.
        if name in paper.tables_and_figures and paper.paper != OWN:
            title = f"{printed_name(name)}: {title}"
        # The legend of the page has these notes, and its top the sentence on other data.
        in_legend = ("Cell: mean", INTERVALS, "Marks: ")
        notes = [
            note
            for note in table.notes
            if not note.startswith(in_legend) and OTHER_DATA not in note.lower()
        ]
        files = (csv.with_suffix(f".{kind}") for kind in ("svg", "png", "csv", "md", "tex"))
        return {
            "id": f"{paper.paper}-{name}",
            "short": printed_name(name).replace("_", "-"),
            "heading": title,
            "blocks": [_without_empty_columns(block) for block in table.blocks],
            "notes": notes,
            "drawing": _drawing(svg, csv, table.heading) if svg.exists() else None,
            "files": [path.relative_to(self.results).as_posix() for path in files if path.exists()],
            "ids": {},  # of its numbers, by row of the csv
            "has_sentences": False,  # sentences of the data
            "is_wordy": False,  # its cells are long texts
            **facts,
        }


def _without_empty_columns(block: Block) -> Block:
    kept = [
        place
        for place in range(len(block.columns))
        if any(values[place].parts not in ([], [NOT_PRINTED]) for _, values in block.rows)
    ]
    rows = [(labels, [values[place] for place in kept]) for labels, values in block.rows]
    return block._replace(columns=[block.columns[place] for place in kept], rows=rows)


def _drawing(svg: Path, csv: Path, heading: str) -> dict:
    """Return a figure with its size; without it, the page jumps as its figures load."""
    text = svg.read_text(encoding="utf-8")
    sizes = re.findall(r'\b(?:width|height)="([\d.]+)pt"', text[:2000])[:2]
    if len(sizes) < 2:
        raise AnalogyQAError(f"{svg}: has no width and height. {REBUILD}")
    alt = f"{heading}. Its numbers are in {csv.name}, linked below."
    size = [round(float(size) * 4 / 3) for size in sizes]
    return {"alt": alt, "svg": svg_uri(text), "size": size}


def examples_section(results: Path, paper: Paper, config: Config) -> Markup:
    """Return the clearest answers of a paper, explained in HTML; "" for none.

    They have sentences of the data. `results` is the output folder.

    Raises AnalogyQAError if a file is damaged.
    """
    groups: dict[str, list[Explanation]] = {}
    for cell in explained_cells(config, paper):
        path = results / "runs" / cell.path / "examples.json"
        if not path.exists():
            continue
        with explain_damage(path, "not a list of explanations"):
            explanations = EXPLANATIONS.validate_json(path.read_bytes())
        title = f"{config.systems[cell.system].title} on {config.datasets[cell.dataset].title}"
        for explanation in explanations:
            answered = "correctly" if explanation.candidates[0].label == 1 else "incorrectly"
            if explanation.shifts:
                groups.setdefault(f"{title}: answered {answered}", []).append(explanation)
    if not groups:
        return Markup()
    html = render(
        "examples.html",
        paper=paper.paper,
        results=results.as_posix(),
        groups=groups,
        picture=lambda explanation: svg_uri(picture_svg(explanation, explanation.shifts)),
        notes=lambda explanation: list(explained.picture_notes(explanation, explanation.shifts)),
        margin=explained.margin,
        shown_candidates=explained.shown_candidates,
        lettered_prototypes=explained.lettered_prototypes,
        word_text=explained.word_text,
    )
    return Markup(html)


# In the drawing of a card, in pixels: where no effect is, and how far from there marks and labels
# may be.
ZERO, REACH, LABELLED = 150, 130, 98


def claim_cards(claims: pd.DataFrame, papers: Iterable[Paper], config: Config) -> Iterator[dict]:
    """Yield, for the template, a card for each primary claim.

    The judgements of a card are its rows of `claims`, columns CLAIMS, with what they rest on
    (`judged_on`), the `mark` of the verdict, `facts` in words, and the places of `low`, `effect`
    and `high` in a drawing (`interval`), in pixels. `published` and `band` are the places of the
    published effect, with its label, and of the equivalence margin. All cards have one axis.
    """
    primary = claims[claims["role"].ne(SECONDARY)]
    ends = primary[["low", "high", "paper_effect", "margin"]].abs().stack()
    ticks = MaxNLocator(4, steps=STEPS, symmetric=True).tick_values(
        -max(ends, default=1), max(ends, default=1)
    )

    def place(value: float, most: float = REACH) -> float:
        return round(ZERO + min(max(REACH * value / ticks[-1], -most), most), 1)

    for paper in papers:
        of_paper = primary[primary["paper"].eq(paper.paper)]
        for name, rows in of_paper.groupby("claim", sort=False):
            claim = paper.claims[str(name)]
            side = claim.sides()[0][0]
            dataset = config.datasets.get(side.dataset)  # None if it is not configured
            items = dataset_task(dataset).items if dataset else ""
            published, margin = rows["paper_effect"].max(), rows["margin"].max()
            card: dict = {
                "paper": paper.paper,
                "claim": claim.claim,
                "where": f"{claim.where}; {MEASURES[side.measured].short}",
                "ticks": [(place(tick), f"{tick:+.3g}" if tick else "0") for tick in ticks],
                "judgements": [
                    row
                    | {
                        "judged_on": judged_on(row, paper),
                        "mark": CLAIM_MARKS[row["verdict"]],
                        "decides": row["role"] == PRIMARY,
                        "facts": _claim_facts(row, items),
                        "interval": {}
                        if pd.isna(row["p_value"])
                        else {key: place(row[key]) for key in ("low", "effect", "high")},
                    }
                    for row in rows.to_dict("records")
                ],
                "published": (),
                "band": () if pd.isna(margin) else (place(-margin), place(margin)),
            }
            if pd.notna(published):
                label = place(published, LABELLED)
                card["published"] = (place(published), label, f"published {published:+.3f}")
            yield card


def _claim_facts(row: dict, items: str) -> list[str]:
    if pd.isna(row["p_value"]):
        return [row["reason"]] if row["reason"] else []
    needed = ""
    if row["verdict"] == UNDECIDED:
        published = f"the published {row['paper_effect']:+.3f}"
        if pd.isna(row["paper_effect"]):
            needed = f"a difference of {row['detectable']:.3f} would probably be found"
        elif pd.isna(row["items_needed"]):
            needed = f"with so few seeds, no number of {items} would show {published}"
        else:
            needed = f"about {row['items_needed']:.0f} {items} would show {published}"
    facts = [
        row["evidence"].rpartition(" (")[0],  # without the effect, which follows
        f"{effect_text(row['effect'], row, row['kind'])}, p {p_text(row['p_value'], '= ')}",
        f"{row['n_items']} {items}, seeds: {row['n_seeds']}",
        needed,
        row["reason"],
    ]
    return list(filter(None, facts))
