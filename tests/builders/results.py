"""An output folder with made-up runs, and a reader of its report page."""

import gzip
import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

from analogyqa.cells import Cell
from analogyqa.evaluation.claims import judge_claims
from analogyqa.evaluation.published import build_ledger, compare_numbers
from analogyqa.evaluation.summary import Results, write_csv
from analogyqa.files import write_json, write_text
from analogyqa.report.table_formats import to_markdown
from analogyqa.report.tables import build_table
from analogyqa.settings.overrides import from_text
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from builders.report import make_paper, make_record, make_summary

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="345.6pt" height="288pt"></svg>\n'
COMB = {"dataset": "wikiqa", "subset": "comb"}
ROWS = {name: {"system": name.lower()} for name in ("Glove", "Ghost")}
ROWS |= {"Ours": {"system": "analogy"}, "Theirs": "cited"}
NUMBERS = {"Glove": [0.35, 0.4329], "Ghost": [0.1, 0.2], "Ours": [0.6, 0.75], "Theirs": [0.3, "-"]}
PAPER = make_paper(
    {
        "table1": {
            "title": "Systems in rows <b>",
            "cells": COMB,
            "columns": {"MAP": {"measure": "map"}, "MRR": {"measure": "mrr"}},
            "rows": ROWS,
            "published": NUMBERS,
        },
        "table2": {
            "title": "Systems in columns",
            "cells": {"dataset": "wikiqa", "measure": "mrr"},
            "columns": {"Base": {"system": "similarity"}, "Ours": {"system": "analogy"}},
            "rows": {"Who": {"subset": "who"}, "Comb.": {"subset": "comb"}},
            "published": {"Who": [0.1, 0.75], "Comb.": [0.2, 0.4]},
        },
        "figure1": {
            "title": "Dropout",
            "cells": {"system": "analogy", "measure": "mrr", **COMB},
            "x": {"dropout": [0, 0.25, 0.5]},
            "lines": {"MRR": {}},
        },
    },
    better={
        "claim": "ours is better",
        "where": "section 1",
        "primary": "paper",
        "cells": COMB | {"measure": "mrr"},
        "comparisons": [{"better": {"system": "analogy"}, "worse": {"system": "similarity"}}],
    },
)


def means(cell: Cell, measure: str) -> float:
    """Return a mean that differs between runs and measures."""
    return round(0.3 + (sum(map(ord, cell.path + measure)) % 4001) / 10_000, 6)


def make_results(folder: Path, config: Config, *papers: Paper) -> pd.DataFrame:
    """Write the files that the page is built from, and return the ledger."""
    intervals = {
        "run_low": lambda cell, measure: means(cell, measure) - 0.05,
        "run_high": lambda cell, measure: means(cell, measure) + 0.05,
    }
    summary = make_summary(config, *papers, mean=means, **intervals)
    results = Results(summary)
    numbers = compare_numbers(papers, config, results)
    ledger = build_ledger(numbers)
    write_csv(summary, folder / "summary.csv")
    write_csv(ledger, folder / "ledger.csv")
    claims, _ = judge_claims(papers, config, lambda cell, measure: None, {})
    write_csv(claims, folder / "claims.csv")
    for paper in papers:
        for name in paper.artefacts:
            is_figure = name.startswith("figure")
            path = folder / ("figures" if is_figure else "tables") / paper.paper / name
            if is_figure:
                write_text(path.with_suffix(".svg"), SVG)
                write_text(path.with_suffix(".csv"), "x,mean\n1,0.5\n")
            else:
                table = build_table(paper, name, numbers, config, results)
                write_csv(table.frame, path.with_suffix(".csv"))
                write_text(path.with_suffix(".md"), to_markdown(table))
    cells = summary[["system", "dataset", "subset", "overrides"]].drop_duplicates()
    for system, dataset, subset, overrides in cells.itertuples(index=False):
        cell = Cell(system, dataset, subset, from_text(overrides))
        record = make_record(cell, settings=cell.settings(config), wall_seconds=7300)
        job = f"train_encoder/{system}/{dataset}-{subset}-{overrides}"
        benchmark = '{"s": 60, "cpu_time": 30, "max_rss": 512.0}\n'
        write_json(folder / "runs" / cell.path / "run.json", record)
        write_text(folder / "logs" / f"{job}.log", "done\n")
        write_text(folder / "benchmarks" / f"{job}.jsonl", benchmark)
    return ledger


def provenance(text: str) -> dict:
    """Return the data that the dialogs of a report show."""
    encoded = re.search(r'id="provenance">(.*?)</script>', text)[1]
    return json.loads(gzip.decompress(b64decode(encoded)))


class PageReader(HTMLParser):
    """The tables and tags of a page, whose tags must be balanced.

    A table is (heading, caption, rows of texts without notes).
    """

    VOID = ("meta", "img", "br", "input")

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.tables: list[tuple[str, str, list[list[str]]]] = []
        self.heading, self.caption = "", ""
        self.feed(text)
        self.close()
        assert not self.open

    def values(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.tags if name in attributes]

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open += [] if tag in self.VOID else [tag]
        if tag == "h3":
            self.heading = ""
        elif tag == "table":
            self.tables.append((self.heading, "", []))
        elif tag == "tr":
            self.tables[-1][2].append([])
        elif tag in ("td", "th"):
            self.tables[-1][2][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "h3" in self.open:
            self.heading += data
        elif "caption" in self.open:
            heading, caption, rows = self.tables[-1]
            self.tables[-1] = (heading, caption + data, rows)
        elif {"td", "th"} & set(self.open) and "sup" not in self.open:
            self.tables[-1][2][-1][-1] += data
