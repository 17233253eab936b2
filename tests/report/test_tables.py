"""The layout of the tables, and their three formats."""

import re

import pandas as pd
import pytest

from analogyqa.plan import cells_of
from analogyqa.report.ledger import build_ledger
from analogyqa.report.summary import SUMMARY, read_csv, typed, write_csv
from analogyqa.report.table_formats import Table, escape_latex, to_latex, to_markdown
from analogyqa.report.tables import _FRAME, build_table
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config, load_config

# A paper of our own: small enough to write its tables out by hand.
PAPER = Paper.model_validate(
    {
        "paper": "tiny2020",
        "citation": "Tiny & Co. (2020).",
        "artefacts": {
            "table1": {
                "title": "Questions",
                "value": "questions",
                "cells": {"dataset": "wikiqa"},
                "columns": {"Dev": {"split": "dev"}, "Test": {"split": "test"}},
                "rows": {"Who": {"subset": "who"}, "Comb.": {"subset": "comb"}},
                "published": {"Who": [3, 9], "Comb.": [7, 20]},
            },
            "table2": {
                "title": "Systems in rows",
                "value": "score",
                "cells": {"dataset": "wikiqa", "subset": "comb"},
                "columns": {"MAP": {"metric": "map"}, "MRR": {"metric": "mrr"}},
                "rows": {
                    "Glove": {"model": "glove"},
                    "Ghost": {"model": "ghost"},
                    "Ours": {"model": "analogy"},
                },
                "published": {"Glove": [0.5, 0.4329], "Ghost": [0.1, 0.2], "Ours": [0.6, 0.75]},
            },
            "table3": {
                "title": "Systems in columns",
                "value": "score",
                "cells": {"dataset": "wikiqa", "metric": "mrr"},
                "columns": {"Ghost": {"model": "ghost"}, "Ours": {"model": "analogy"}},
                "rows": {"Who": {"subset": "who"}, "Comb.": {"subset": "comb"}},
                "published": {"Who": [0.1, 0.75], "Comb.": [0.2, 0.4]},
            },
        },
    }
)
COUNTS = {
    "wikiqa": {split: {"who": 3, "when": 2, "where": 2} for split in ("train", "dev", "test")}
}


def make_config(**changes) -> Config:
    mean = {"encoder": "mean", "vectors": "wiki"}
    values = {
        "output_dir": "results",
        "seeds": 2,
        "datasets": {
            "wikiqa": {
                "title": "WikiQA", "reader": "wikiqa", "train": "a", "dev": "b", "test": "c"
            }
        },
        "vectors": {"wiki": {"source": "wiki.vec"}},
        "models": {
            "analogy": {
                "title": "Analogy", "encoder": "bigru", "vectors": "wiki", "ranker": "analogy"
            },
            "glove": mean | {"title": "Glove", "ranker": "analogy"},
            "glove-cosine": mean | {"title": "Glove", "ranker": "cosine"},
            "random": {"title": "A | B", "encoder": "random", "ranker": "cosine"},
        },
        "left_out": {"ghost": "not built"},
        "selection": {"models": ["analogy"], "settings": {"bare": {"dropout": 0.0}}},
    }  # fmt: skip
    return load_config(values | changes)


def make_summary(config: Config, **changes) -> pd.DataFrame:
    values = {"mean": 0.6, "sd": 0.0123, "ci_low": 0.5, "ci_high": 0.7, "n_seeds": 2}
    values |= {"tied_candidates": 0, **changes}
    rows = [
        {
            **cell._asdict(),
            **values,
            "metric": metric,
            "n_questions": 9 if cell.subset == "comb" else 3,
            "setting": {"analogy": "paper"}.get(cell.model, "bare" if "+" in cell.model else ""),
            "provenance": cell.model.partition("+")[0],
        }
        for cell in cells_of(config)
        for metric in ("map", "mrr")
    ]
    return typed(rows, SUMMARY)


def make_table(name: str, config: Config | None = None, **changes) -> Table:
    config = config or make_config()
    summary = make_summary(config, **changes)
    return build_table(PAPER, name, build_ledger([PAPER], config, summary, COUNTS), summary, config)


def body(table: Table) -> str:
    """The Markdown without the notes."""
    return to_markdown(table).partition("\n- ")[0].strip()


def test_counts_stand_beside_the_published_with_a_mark_each():
    assert body(make_table("table1")) == (
        "# Table 1 of tiny2020: Questions\n"
        "\n"
        "| Type  | Dev     | Test     |\n"
        "| ----- | ------- | -------- |\n"
        "| Who   | 3 (3) = | 3 (9) ↓  |\n"
        "| Comb. | 7 (7) = | 7 (20) ↓ |"
    )


def test_systems_in_rows_have_a_row_for_each_setting_and_the_others_their_own_block():
    assert body(make_table("table2")) == (
        "# Table 2 of tiny2020: Systems in rows\n"
        "\n"
        "## In the paper\n"
        "\n"
        "| System               | ranked by | MAP                               "
        "| MRR                                |\n"
        "| -------------------- | --------- | --------------------------------- "
        "| ---------------------------------- |\n"
        "| Glove                | analogy   | .600 ± .012 [.500, .700] (.500) = "
        "| .600 ± .012 [.500, .700] (.4329) ↑ |\n"
        "| Ghost                |           | not run (.100)                    "
        "| not run (.200)                     |\n"
        "| Ours, paper setting  | analogy   | .600 ± .012 [.500, .700] (.600) = "
        "| .600 ± .012 [.500, .700] (.750) ↓  |\n"
        "| Ours, chosen setting | analogy   | .600 ± .012 [.500, .700] (.600) = "
        "| .600 ± .012 [.500, .700] (.750) ↓  |\n"
        "\n"
        "## Not in the paper\n"
        "\n"
        "| System | ranked by | MAP                      | MRR                      |\n"
        "| ------ | --------- | ------------------------ | ------------------------ |\n"
        "| Glove  | cosine    | .600 ± .012 [.500, .700] | .600 ± .012 [.500, .700] |\n"
        "| A \\| B | cosine    | .600 ± .012 [.500, .700] | .600 ± .012 [.500, .700] |"
    )


def test_systems_in_columns_have_a_block_for_each_setting_and_the_others_become_rows():
    assert body(make_table("table3")) == (
        "# Table 3 of tiny2020: Systems in columns\n"
        "\n"
        "## At the paper's setting\n"
        "\n"
        "| Type  | Ghost          | Ours                              |\n"
        "| ----- | -------------- | --------------------------------- |\n"
        "| Who   | not run (.100) | .600 ± .012 [.500, .700] (.750) ↓ |\n"
        "| Comb. | not run (.200) | .600 ± .012 [.500, .700] (.400) ↑ |\n"
        "\n"
        "## At the setting chosen on dev\n"
        "\n"
        "| Type  | Ours                              |\n"
        "| ----- | --------------------------------- |\n"
        "| Who   | .600 ± .012 [.500, .700] (.750) ↓ |\n"
        "| Comb. | .600 ± .012 [.500, .700] (.400) ↑ |\n"
        "\n"
        "## Not in the paper: mean [interval]\n"
        "\n"
        "| System | ranked by | Who               | Comb.             |\n"
        "| ------ | --------- | ----------------- | ----------------- |\n"
        "| Glove  | analogy   | .600 [.500, .700] | .600 [.500, .700] |\n"
        "| Glove  | cosine    | .600 [.500, .700] | .600 [.500, .700] |\n"
        "| A \\| B | cosine    | .600 [.500, .700] | .600 [.500, .700] |"
    )


def test_the_notes_count_ties():
    assert any(note.startswith("Ties: none") for note in make_table("table3").notes)
    tied = make_table("table3", tied_candidates=4).notes
    assert any(note.startswith("Tied candidates, over all seeds: analogy who 4, ") for note in tied)


def test_the_notes_say_data_seeds_protocol_settings_and_origin():
    notes = make_table("table3").notes
    assert notes[0] == "Data: WikiQA, test split, questions: who 3, comb 9. Seeds: 2."
    assert "p = 30 prototypes" in notes[1]
    assert "95% intervals: bootstrap over seeds and questions (2000 samples)." in notes
    assert any(note.startswith("Paper's setting: loss printed, margin 0.1, ") for note in notes)
    assert "Setting chosen on comb by Ours: bare (dropout 0.0)." in notes
    assert "Origin: Ours (analogy); Glove (glove); Glove (glove-cosine); A | B (random)." in notes
    assert "Not run: Ghost (not built)." in notes
    assert notes[-1] == "Published: Tiny & Co. (2020)."


def test_other_data_get_no_marks_and_the_title_says_why():
    table = make_table("table3", make_config(comparable=False))
    text = to_markdown(table)
    assert table.title.endswith("(our data are not the paper's)")
    assert not re.search("[↑↓=] ", body(table))
    assert "not run (.100)" in text
    assert "Not run: Ghost (not built)." in text


def test_one_seed_has_no_deviation():
    table = make_table("table2", make_config(seeds=1), n_seeds=1)
    assert "±" not in body(table)
    assert ".600 [.500, .700] (.750) ↓" in body(table)


def test_a_perfect_score_keeps_its_digit():
    assert "1.000 ± .012 [1.000, 1.000]" in body(
        make_table("table2", mean=1.0, ci_low=1.0, ci_high=1.0)
    )


@pytest.mark.parametrize("name", ["table1", "table2", "table3"])
def test_no_line_of_a_table_is_wider_than_120_columns(name):
    assert max(map(len, body(make_table(name)).splitlines())) <= 120


def test_two_models_of_one_title_keep_their_own_rows():
    models = {
        name: {"title": "Same", "encoder": "random", "ranker": "cosine"} for name in ("a", "b")
    }
    config = make_config(models=models, selection={}, vectors={})
    assert body(make_table("table2", config)).count("| Same ") == 2


def test_the_frame_has_one_row_per_value_and_survives_the_round_trip(tmp_path):
    frame = make_table("table3").frame
    assert not frame.duplicated(["block", "row", "column", "model", "setting"]).any()
    assert frame["block"].value_counts().to_dict() == {"paper": 6, "not in the paper": 6}
    write_csv(frame, tmp_path / "table.csv")
    pd.testing.assert_frame_equal(read_csv(tmp_path / "table.csv", _FRAME), frame)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("50% of A & B_c", r"50\% of A \& B\_c"),
        ("#1 {x} $y$", r"\#1 \{x\} \$y\$"),
        ("a~b^c\\d", r"a\textasciitilde{}b\textasciicircum{}c\textbackslash{}d"),
        ("x ± y ↑ ↓", r"x $\pm$ y $\uparrow$ $\downarrow$"),
    ],
)
def test_latex_prints_special_characters_as_they_stand(text, latex):
    assert escape_latex(text) == latex


def test_latex_puts_the_interval_small_below_the_value():
    assert (
        r"Ours, paper setting & analogy & \shortstack{.600 $\pm$ .012 (.600) ="
        r"\\{\footnotesize [.500, .700]}} & " in to_latex(make_table("table2"))
    )


@pytest.mark.parametrize("name", ["table1", "table2", "table3"])
def test_latex_is_balanced_and_every_row_fills_its_columns(name):
    text = to_latex(make_table(name))
    plain = re.sub(r"\\.", "", text)
    assert plain.count("{") == plain.count("}")
    for kind in ("table", "tabular", "minipage"):
        assert text.count(rf"\begin{{{kind}}}") == text.count(rf"\end{{{kind}}}") > 0
    for columns, inside in re.findall(
        r"\\begin\{tabular\}\{([lc]+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL
    ):
        rows = [line for line in inside.splitlines() if line.endswith(r" \\")]
        assert len(rows) > 1
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns)}


def test_the_same_runs_give_the_same_text():
    first, second = make_table("table2"), make_table("table2")
    assert to_markdown(first) == to_markdown(second)
    assert to_latex(first) == to_latex(second)
