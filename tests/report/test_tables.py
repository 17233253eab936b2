"""The layout of the tables, and their three formats."""

import re

import pandas as pd
import pytest

from analogyqa.evaluation.published import compare_numbers
from analogyqa.evaluation.results import Results
from analogyqa.report.table_formats import Table, escape_latex, to_latex, to_markdown
from analogyqa.report.table_notes import CITED_ROWS
from analogyqa.report.tables import build_table
from analogyqa.settings.paper import Paper, build_own_paper
from analogyqa.settings.run import Config
from builders.report import (
    cells_in_markdown,
    is_tuned,
    make_config,
    make_paper,
    make_summary,
)

# A made-up paper, with small tables.
WHO_COMB = {"Who": {"subset": "who"}, "Comb.": {"subset": "comb"}}
MEASURED = {"MAP": {"measure": "map"}, "MRR": {"measure": "mrr"}}
COMB = {"dataset": "wikiqa", "subset": "comb"}
TINY = make_paper(
    {
        "table1": {
            "title": "Questions",
            "cells": {"dataset": "wikiqa", "count": "questions"},
            "columns": {"Dev": {"split": "dev"}, "Test": {"split": "test"}},
            "rows": WHO_COMB,
            "published": {"Who": [3, 9], "Comb.": ["-", 20]},
        },
        "table2": {
            "title": "Systems in rows",
            "cells": COMB,
            "columns": MEASURED,
            "rows": {
                "Glove": {"system": "glove"},
                "Ghost": {"system": "ghost"},
                "Ours": {"system": "analogy"},
            },
            "published": {"Glove": [0.5, 0.4329], "Ghost": [0.1, 0.2], "Ours": [0.6, 0.75]},
        },
        "table3": {
            "title": "Systems in columns",
            "cells": {"dataset": "wikiqa", "measure": "mrr"},
            "columns": {"Ghost": {"system": "ghost"}, "Ours": {"system": "analogy"}},
            "rows": WHO_COMB,
            "published": {"Who": [0.1, 0.75], "Comb.": [0.2, 0.4]},
        },
        "table4": {
            "title": "Cited, not printed, in per cent",
            "scale": 100,
            "cells": COMB,
            "columns": MEASURED,
            "rows": {"Theirs": "cited", "Ours": {"system": "lwda"}},
            "published": {"Theirs": [70.5, "-"], "Ours": [77.87, "-"]},
        },
        "table5": {
            "title": "Two overrides",
            "cells": COMB | {"system": "analogy", "measure": "mrr"},
            "columns": {"highest": {"aggregate": "max"}, "mean": {"aggregate": "mean"}},
            "rows": {"10": {"p": 10}, "30": {"p": 30}},
            "published": {"10": [0.5, 0.6], "30": [0.7, 0.8]},
        },
        "table6": {
            "title": "Systems and measures in columns",
            "cells": COMB,
            "columns": {
                "Questions": {"count": "questions", "split": "test"},
                "Glove MAP": {"system": "glove", "measure": "map"},
                "Glove P@1": {"system": "glove", "measure": "p_at_1"},
            },
            "rows": {"all": {}},
            "published": {"all": [7, 0.5, 0.6]},
        },
    }
)
QUESTIONS_BY_SPLIT = {split: {"who": 3, "when": 2, "where": 2} for split in ("dev", "test")}
COUNTS = {"wikiqa": {"questions": QUESTIONS_BY_SPLIT}}
INTERVAL, QUESTIONS = "[.500, .700]", "{.400, .800}"
OURS = f".600 ± .012 {INTERVAL}"


def tiny_config(**changes) -> Config:
    return make_config(("wikiqa",), **{"left_out": {"ghost": "not built"}} | changes)


def make_table(
    name: str, config: Config | None = None, paper: Paper = TINY, drop: str = "", **changes
) -> Table:
    """Return a table with results for all its runs but those of the system `drop`."""
    config = config or tiny_config()
    summary = make_summary(config, paper, **changes)
    summary = summary[summary["system"] != drop]
    results = Results(summary, counts=COUNTS)
    return build_table(paper, name, compare_numbers([paper], config, results), config, results)


def body(table: Table) -> list[str]:
    """Return the headings, and the rows without the padding of their cells."""
    text = to_markdown(table).partition("\n- ")[0]
    lines = [re.sub(" +", " ", line) for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("| -")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("table1", ["# Table 1 of tiny2020: Questions",
                    "| | Dev | Test |",
                    "| Who | 3 (3) = | 3 (9) ↓ |",
                    "| Comb. | 7 | 7 (20) ↓ |"]),
        ("table2", ["# Table 2 of tiny2020: Systems in rows",
                    "## In the paper",
                    "| System | ranked by | MAP | MRR |",
                    f"| Glove | analogy | {OURS} (.500) ? | {OURS} (.4329) ↑ |",
                    "| Ghost | | not run (.100) | not run (.200) |",
                    f"| Ours | analogy | {OURS} (.600) ? | {OURS} (.750) ↓ |",
                    "## In the paper, hyperparameters tuned on dev",
                    "| System | ranked by | MAP | MRR |",
                    f"| Ours | analogy | {OURS} (.600) ? | {OURS} (.750) ↓ |",
                    "## Not in the paper",
                    "| System | ranked by | MAP | MRR |",
                    f"| Glove | cosine | {OURS} | {OURS} |",
                    rf"| A \| B | cosine | {OURS} | {OURS} |"]),
        ("table3", ["# Table 3 of tiny2020: Systems in columns",
                    "## In the paper",
                    "| | Ghost | Ours |",
                    f"| Who | not run (.100) | {OURS} (.750) ↓ |",
                    f"| Comb. | not run (.200) | {OURS} (.400) ↑ |",
                    "## In the paper, hyperparameters tuned on dev",
                    "| | Ours |",
                    f"| Who | {OURS} (.750) ↓ |",
                    f"| Comb. | {OURS} (.400) ↑ |",
                    "## Not in the paper: mean {other questions}",
                    "| System | ranked by | Who | Comb. |",
                    f"| Glove | analogy | .600 {QUESTIONS} | .600 {QUESTIONS} |",
                    f"| Glove | cosine | .600 {QUESTIONS} | .600 {QUESTIONS} |",
                    rf"| A \| B | cosine | .600 {QUESTIONS} | .600 {QUESTIONS} |"]),
        ("table4", ["# Table 4 of tiny2020: Cited, not printed, in per cent",
                    "## In the paper",
                    "| System | ranked by | MAP | MRR |",
                    "| Theirs | | (.705) | - |",
                    f"| Ours | analogy | {OURS} (.7787) ↓ | {OURS} |",
                    "## Not in the paper",
                    "| System | ranked by | MAP | MRR |",
                    f"| Glove | cosine | {OURS} | {OURS} |",
                    rf"| A \| B | cosine | {OURS} | {OURS} |"]),
        # The configured point is no override, so it also has tuned hyperparameters.
        ("table5", ["# Table 5 of tiny2020: Two overrides",
                    "## In the paper",
                    "| | highest | mean |",
                    f"| 10 | {OURS} (.500) = | {OURS} (.600) = |",
                    f"| 30 | {OURS} (.700) = | {OURS} (.800) ↓ |",
                    "## In the paper, hyperparameters tuned on dev",
                    "| | highest |",
                    f"| 30 | {OURS} (.700) = |"]),
        ("table6", ["# Table 6 of tiny2020: Systems and measures in columns",
                    "| | Questions | Glove MAP | Glove P@1 |",
                    f"| all | 7 (7) = | {OURS} (.500) ? | {OURS} (.600) = |"]),
    ],
)  # fmt: skip
def test_a_table_has_the_expected_layout_and_values(name, expected):
    config = tiny_config()
    if name == "table3":
        study = config.studies["tiny2020"].model_copy(update={"extra_rows": {"table3": ["glove"]}})
        config = config.model_copy(update={"studies": config.studies | {"tiny2020": study}})
    assert body(make_table(name, config)) == expected


def test_the_columns_of_markdown_are_aligned():
    for block in to_markdown(make_table("table2")).split("\n\n"):
        if block.startswith("| "):
            assert len({len(line) for line in block.splitlines()}) == 1


def test_values_match_their_overrides_and_hyperparameters():
    def mean(cell, _):
        overrides = dict(cell.overrides)
        return 0.1 * len(overrides) + int(overrides.get("p", 30)) / 1000 + 0.5 * is_tuned(cell)

    cells = cells_in_markdown(to_markdown(make_table("table5", mean=mean)))
    numbers = [cell[:4] for row in cells for cell in row if cell.startswith(".")]
    assert numbers == [".110", ".210", ".030", ".130", ".630"]


def test_an_extra_row_without_a_run_is_reported():
    table = make_table("table3", drop="random")
    assert r"| A \| B | cosine | not run | not run |" in body(table)
    assert any(note.startswith("Not run: ") and "A | B (no run" in note for note in table.notes)


class TestOwnData:
    @pytest.mark.parametrize("comparable", [True, False])
    def test_every_system_has_a_row_with_intervals_and_without_published_values(self, comparable):
        config = make_config(("mine",), comparable=comparable)
        table = make_table("table1", config, build_own_paper(config))
        title, head, *rows = body(table)
        assert title == "# mine: mean reciprocal rank"
        assert head == "| System | ranked by | Who | When | Where | Comb | All |"
        assert [row.split(" | ")[0].strip("| ") for row in rows] == [
            "Analogy", "Baseline", "Both sides",
            "Glove (glove)", "Word2Vec", "Glove (glove-cosine)", r"A \| B",
        ]  # fmt: skip
        assert {cell for row in rows for cell in row.strip("| ").split(" | ")[2:]} == {OURS}
        assert table.frame["published"].isna().all()
        assert not any("ublished" in note for note in table.notes[:-1])
        assert table.notes[-1].endswith("in no paper: nothing is published.")

    def test_subsets_whose_names_differ_only_in_case_have_columns_of_their_own(self):
        config = make_config(("mine",), subsets={"who": ["who"], "Who": ["who", "when"]})
        paper = build_own_paper(config)
        assert list(paper.artefacts["table1"].columns) == ["who", "Who", "all"]

    def test_there_is_no_table_without_own_data(self):
        assert build_own_paper(tiny_config()) is None


def note(table: Table, start: str) -> str:
    """Return the only note with a given start."""
    (text,) = (note for note in table.notes if note.startswith(start))
    return text


class TestNotes:
    def test_substitutes_are_named(self):
        assert "Glove, Ours" in note(make_table("table2", substitute="us for them"), "Substitutes")

    def test_a_note_gives_the_means_without_questions_that_have_only_correct_candidates(self):
        table = make_table("table2", all_correct=2, mean_of_others=0.55)
        text = note(table, "Questions with only correct candidates")
        assert "WIKIQA comb, 2 of 9" in text and "Ours (paper) 0.600 and 0.550" in text

    def test_ties_are_counted_by_run(self):
        assert note(make_table("table3"), "Ties: none")
        table = make_table("table2", tied_candidates=lambda cell, _: 4 + is_tuned(cell))
        tied = note(table, "Tied candidates")
        # Two systems have the same title.
        for run in ("glove wikiqa comb 4", "glove-cosine wikiqa comb 4", "hyperparameters=tuned 5"):
            assert f"{run}," in tied

    def test_the_notes_give_data_protocol_hyperparameters_and_origins(self):
        table = make_table("table3")
        assert table.notes[0] == "Data: WIKIQA, test split, questions: who 3, comb 9. Seeds: 2."
        assert "dev MRR" in note(table, "Protocol")
        assert note(table, "Prototypes").endswith("p = 30. Aggregate: max.")
        assert note(table, "Intervals").startswith("Intervals: 95%. Bootstrap samples: 200.")
        assert note(table, "Paper's hyperparameters").endswith("Analogy: the defaults.")
        assert note(table, "Hyperparameters tuned on comb").endswith("Ours: bare (dropout 0.0).")
        assert "Origin of Ours: made up for analogy." in table.notes
        assert "Origin of Glove: made up for glove-cosine." in table.notes
        assert note(table, "Not run") == "Not run: Ghost (not built)."
        assert table.notes[-1] == "Published: Tiny & Co. (2020)."

    def test_all_values_of_overrides_are_given(self):
        text = note(make_table("table5"), "Prototypes")
        assert text.endswith("p = 10 or 30. Aggregate: max or mean.")

    def test_published_values_that_one_run_cannot_give_are_named(self):
        artefact = {
            "title": "Eight questions",
            "cells": {"dataset": "wikiqa", "measure": "mrr"},
            "columns": {"who": {"subset": "who"}},
            "rows": {"Ours": {"system": "analogy"}, "Glove": {"system": "glove"}},
            "published": {"Ours": [0.981], "Glove": [0.875]},
        }
        paper = make_paper({"table1": artefact})
        table = make_table("table1", paper=paper, n_items=8)
        text = note(table, "Compared with a mean of runs")
        assert "Ours (one run on 8 items cannot give 0.981, a mean of 5 runs can" in text
        assert "Glove" not in text  # 7 of 8

    def test_cited_rows_have_one_note(self):
        assert make_table("table4").notes.count(CITED_ROWS) == 1
        assert CITED_ROWS not in make_table("table2").notes
        assert not any("Theirs" in note for note in make_table("table4").notes)

    def test_tables_of_other_data_have_no_marks(self):
        table = make_table("table3", tiny_config(comparable=False))
        assert table.title.endswith("(our data are not the paper's)")
        assert not re.search("[↑↓=] ", " ".join(body(table)))
        text = to_markdown(table)
        assert "not run" in text and "(.100)" not in text
        assert "Not run: Ghost (not built)." in table.notes

    def test_a_table_without_runs_has_no_notes_on_runs(self):
        config = tiny_config(
            left_out=dict.fromkeys(
                ("ghost", "glove", "analogy", "glove-cosine", "random"), "no data"
            )
        )
        notes = make_table("table2", config).notes
        assert not any(
            word in note for note in notes for word in ("interval", "Seeds", "Ties", "±")
        )
        assert any(note.startswith("Not run: ") for note in notes)

    def test_the_legend_has_only_marks_of_the_table(self):
        (marks,) = (note for note in make_table("table2").notes if note.startswith("Marks: "))
        assert all(f"{mark} " in marks for mark in "?↑↓")
        assert "=" not in marks and "†" not in marks
        notes = make_table("table2", substitute="ours for theirs").notes
        assert any("†: " in note for note in notes)

    def test_hyperparameters_and_origins_have_at_most_five_lines_and_a_link(self):
        for name in TINY.artefacts:
            notes = make_table(name, provenance=lambda cell, _: f"origin of {cell.path}").notes
            starts = ("Paper's hyperparameters", "Hyperparameters tuned", "Origin of", "All hyper")
            lines = [note for note in notes if note.startswith(starts)]
            assert len(lines) <= 5
            if lines:
                assert lines[-1].endswith("[report](../../report.html#configuration).")


@pytest.mark.parametrize(
    ("changes", "cell"),
    [({"n_seeds": 1, "run_low": None, "run_high": None}, f".600 {QUESTIONS} (.750) ?"),
     ({"mean": 1.0, "run_low": 1.0, "run_high": 1.0}, f"1.000 {QUESTIONS} (.750) ↑"),
     ({"substitute": "ours for theirs"}, f"{OURS} (.750) ↓†")],
    ids=["one seed", "equal seeds", "substitute"],
)  # fmt: skip
def test_the_interval_and_the_mark_of_a_cell_depend_on_its_runs(changes, cell):
    assert any(row.endswith(f"{cell} |") for row in body(make_table("table2", **changes)))


class TestLatex:
    def test_latex_has_a_caption_links_as_text_and_intervals_below_values(self):
        text = to_latex(make_table("table2"), "tab:tiny2020-table2")
        assert r"\caption{Systems in rows (Table 2 of tiny2020)}" in text
        assert r"\label{tab:tiny2020-table2}" in text
        assert "Table 2 of tiny2020:" not in text
        # Links become text, and intervals are below their values.
        assert "origins: report." in text and "report.html" not in text
        value = r".600 $\pm$ .012 (.600) ?\\{\footnotesize [.500, .700]}"
        assert rf"Ours & analogy & \shortstack{{{value}}} & " in text

    @pytest.mark.parametrize(
        ("text", "latex"),
        [
            ("50% of A & B_c", r"50\% of A \& B\_c"),
            ("#1 {x} $y$", r"\#1 \{x\} \$y\$"),
            ("a~b^c\\d", r"a\textasciitilde{}b\textasciicircum{}c\textbackslash{}d"),
            ("x ± y ↑ ↓", r"x $\pm$ y $\uparrow$ $\downarrow$"),
        ],
    )
    def test_special_characters_are_escaped(self, text, latex):
        assert escape_latex(text) == latex

    @pytest.mark.parametrize("name", ["table2", "table3"])
    def test_groups_are_balanced_and_rows_complete(self, name):
        text = to_latex(make_table(name), "a")
        plain = re.sub(r"\\.", "", text)
        assert plain.count("{") == plain.count("}")
        for environment in ("table", "tabular", "minipage"):
            begins = text.count(rf"\begin{{{environment}}}")
            assert begins == text.count(rf"\end{{{environment}}}") > 0
        for columns, content in re.findall(
            r"\\begin\{tabular\}\{([lc]+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL
        ):
            rows = [line for line in content.splitlines() if line.endswith(r" \\")]
            assert len(rows) > 1
            assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns)}


@pytest.mark.parametrize("name", ["table2", "table3"])
def test_the_top_group_is_bold(name):
    """There is a top group in each column, or in each row if the columns are systems."""
    artefact = TINY.artefacts[name].model_copy(update={"top_group": True})
    paper = TINY.model_copy(update={"artefacts": {name: artefact}})
    config, means = tiny_config(), {"random": 0.59, "glove-cosine": 0.1}

    def values(cell, measure):
        items = [means.get(cell.system, 0.6) + 0.1 * (number % 2) for number in range(20)]
        return pd.DataFrame([items[::-1] if cell.system == "random" else items] * 2)

    summary = make_summary(config, paper)
    results = Results(summary, values, COUNTS)
    numbers = compare_numbers([paper], config, results)
    table = build_table(paper, name, numbers, config, results)
    scored = table.frame[table.frame["mean"].notna()]
    assert (scored["top_group"] == (scored["system"] != "glove-cosine")).all()
    assert table.frame.loc[table.frame["mean"].isna(), "top_group"].isna().all()
    values_in_table = [value for block in table.blocks for _, row in block.rows for value in row]
    assert (
        0 < sum(value.bold for value in values_in_table) == scored["top_group"].sum() < len(scored)
    )
    first = next(value for value in values_in_table if value.bold)
    assert f"**{first.ours}** {first.interval}" in to_markdown(table)
    assert rf"\textbf{{{escape_latex(first.ours)}}}" in to_latex(table, "a")
    assert any(note.startswith("Bold: the highest mean") for note in table.notes)
    plain = build_table(TINY, name, numbers, config, results)
    assert plain.frame["top_group"].isna().all()
    assert not any(note.startswith("Bold") for note in plain.notes)
