"""The ledger as Markdown and HTML: nothing is lost, nothing is told by colour alone."""

from html.parser import HTMLParser

import pandas as pd
import pytest

from analogyqa.report.ledger_pages import to_html, to_markdown
from analogyqa.report.summary import LEDGER, typed
from analogyqa.settings.paper import Paper

NASTY = 'A <b> & "c" | d'
PAPER = Paper.model_validate(
    {
        "paper": "tiny2020",
        "citation": "Tiny & Co. (2020).",
        "artefacts": {
            "table1": {
                "title": NASTY,
                "value": "score",
                "cells": {"dataset": "wikiqa", "metric": "mrr"},
                "columns": {"Theirs": {"model": "ghost"}, "Ours": {"model": "analogy"}},
                "rows": {"Who": {"subset": "who"}, "Comb.": {"subset": "comb"}},
                "published": {"Who": [0.1, 0.75], "Comb.": [0.2, 0.4]},
            },
            "figure2": {
                "title": "Best p",
                "value": "best_p",
                "cells": {"model": "analogy", "subset": "comb", "metric": "mrr"},
                "columns": {"MRR": {}},
                "rows": {"WikiQA": {"dataset": "wikiqa"}},
                "published": {"WikiQA": [30]},
            },
        },
    }
)
# Elements that HTML closes by themselves.
VOID = {"meta"}


def make_row(row: str, column: str, verdict: str, **values) -> dict:
    start = {"paper": "tiny2020", "artefact": "table1", "metric": "mrr", "published": 0.5}
    measured = {"mean": 0.6, "sd": 0.01, "ci_low": 0.5, "ci_high": 0.7, "n_seeds": 2}
    if verdict == "not run":
        measured = {}
    return start | measured | {"row": row, "column": column, "verdict": verdict} | values


def make_ledger(*more: dict) -> pd.DataFrame:
    trained = {"provenance": "trained here"}
    rows = [
        make_row("Who", "Theirs", "not run", reason=f"no {NASTY}"),
        make_row("Who", "Ours", "lower", setting="paper", published=0.75, **trained),
        make_row("Who", "Ours", "reproduced", setting="chosen", published=0.65, **trained),
        make_row("Comb.", "Theirs", "not run", reason=f"no {NASTY}"),
        make_row("Comb.", "Ours", "higher", setting="paper", published=0.4, **trained),
        make_row("WikiQA", "MRR", "lower", artefact="figure2", metric="best_p", mean=10, sd=None,
                 published=30, setting="paper", reason="equal means"),
        *more,
    ]  # fmt: skip
    return typed(rows, LEDGER)


class Reader(HTMLParser):
    """Collect the cells with their classes, links and their targets; refuse unbalanced tags."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.cells: list[tuple[str, str]] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.add(tag)
        self.open += [] if tag in VOID else [tag]
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []
        if tag in ("td", "th"):
            self.cells.append((attributes.get("class", ""), ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open) and "sup" not in self.open:
            name, text = self.cells.pop()
            self.cells.append((name, text + data))


def read(*more: dict) -> Reader:
    return Reader(to_html(make_ledger(*more), [PAPER]))


def lines_of(heading: str, text: str) -> list[list[str]]:
    """The rows of one table of a Markdown page."""
    table = text.partition(f"## {heading}\n\n")[2].partition("\n\n")[0]
    rows = [line.strip("|").split(" | ") for line in table.splitlines()[2:]]
    return [[cell.strip() for cell in row] for row in rows]


class TestMarkdown:
    def test_each_printed_row_stands_once_for_each_of_its_settings(self):
        page = to_markdown(make_ledger(), [PAPER])
        heading = f"tiny2020, Table 1: {NASTY}"
        assert lines_of(heading, page) == [
            ["Who", "paper", "➖ not run (.500) [1]",
             "🟧 .600 ± .010 [.500, .700] (.750) ↓ [2]"],
            ["Who", "chosen", "", "🟦 .600 ± .010 [.500, .700] (.650) = [2]"],
            ["Comb.", "paper", "➖ not run (.500) [1]",
             "🟧 .600 ± .010 [.500, .700] (.400) ↑ [2]"],
        ]  # fmt: skip
        assert f"- [1] no {NASTY}\n- [2] trained here\n" in page

    def test_a_count_stands_without_decimals(self):
        page = to_markdown(make_ledger(), [PAPER])
        assert lines_of("tiny2020, Figure 2: Best p", page) == [
            ["WikiQA", "paper", "🟧 10 (30) ↓ [3]"]
        ]

    def test_the_verdicts_are_counted(self):
        assert lines_of("How many", to_markdown(make_ledger(), [PAPER])) == [
            ["tiny2020", "", "0", "0", "0", "2", "0"],
            ["tiny2020", "paper", "0", "1", "2", "0", "0"],
            ["tiny2020", "chosen", "1", "0", "0", "0", "0"],
        ]


class TestHTML:
    def test_tags_are_balanced_and_every_note_is_there_once(self):
        page = read()
        assert page.ids == ["note1", "note2", "note3"]
        assert {link.removeprefix("#") for link in page.links} == set(page.ids)

    def test_it_needs_no_other_file_and_runs_nothing(self):
        page = read()
        assert not page.tags & {"script", "link", "img", "iframe"}
        assert "url(" not in to_html(make_ledger(), [PAPER])

    def test_markup_in_a_name_stays_a_text(self):
        page = to_html(make_ledger(), [PAPER])
        assert NASTY not in page
        assert "<b>" not in page
        assert page.count("A &lt;b&gt; &amp; &quot;c&quot; | d") == 2

    @pytest.mark.parametrize(
        ("verdict", "sign"), [("reproduced", "="), ("higher", "↑"), ("lower", "↓")]
    )
    def test_a_verdict_has_its_colour_and_its_sign(self, verdict, sign):
        more = make_row("Who", "Theirs", verdict, setting="chosen", mean=0.123)
        cells = [(name, text) for name, text in read(more).cells if text.startswith(".123")]
        assert cells == [(verdict, f".123 ± .010 [.500, .700] (.500) {sign}")]

    def test_misses_in_both_directions_have_the_same_colour(self):
        assert ".higher, .lower { background" in to_html(make_ledger(), [PAPER])

    def test_what_is_not_run_says_so_and_other_data_have_no_sign(self):
        more = make_row("Who", "Theirs", "not comparable", setting="chosen", reason="other data")
        cells = read(more).cells
        assert ("not-run", "not run (.500)") in cells
        assert ("not-comparable", ".600 ± .010 [.500, .700] (.500)") in cells


@pytest.mark.parametrize("write", [to_markdown, to_html])
class TestBoth:
    def test_the_same_ledger_gives_the_same_page(self, write):
        assert write(make_ledger(), [PAPER]) == write(make_ledger(), [PAPER])

    def test_an_empty_ledger_and_a_paper_that_it_lacks_give_a_page_without_tables(self, write):
        page = write(make_ledger().iloc[:0], [PAPER])
        assert "Published numbers and ours" in page
        assert "Table 1" not in page
        assert "Tiny" not in page
