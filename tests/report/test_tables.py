"""The tables of papers: layout, values, notes and formats."""

import pandas as pd
import pytest

from analogyqa.evaluation.published import compare_numbers
from analogyqa.evaluation.summary import Results
from analogyqa.measures import ACCURACY, SHARED_TIES
from analogyqa.report.table_formats import Table, escape_latex, to_latex, to_markdown
from analogyqa.report.tables import build_table
from analogyqa.settings.paper import Paper, build_own_paper
from analogyqa.settings.run import Config
from builders.report import (
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


def tiny_config(**changes) -> Config:
    return make_config(("wikiqa",), **{"left_out": {"ghost": "not built"}} | changes)


def make_table(
    name: str, config: Config | None = None, paper: Paper = TINY, values=None, **changes
) -> Table:
    """Return a table with results for all runs of a paper."""
    config = config or tiny_config()
    results = Results(make_summary(config, paper, **changes), values, COUNTS)
    return build_table(paper, name, compare_numbers([paper], config, results), config, results)


def with_extra_row() -> Config:
    config = tiny_config()
    study = config.studies["tiny2020"].model_copy(update={"extra_rows": {"table3": ["glove"]}})
    return config.model_copy(update={"studies": config.studies | {"tiny2020": study}})


def with_data_of_ours() -> Config:
    config = tiny_config()
    datasets = {
        name: at.model_copy(update={"comparable": False}) for name, at in config.datasets.items()
    }
    return config.model_copy(update={"datasets": datasets})


def mean_by_overrides(cell, _) -> float:
    overrides = dict(cell.overrides)
    return 0.1 * len(overrides) + int(overrides.get("p", 30)) / 1000 + 0.5 * is_tuned(cell)


OWN_CONFIG, OTHER_OWN_CONFIG = make_config(("mine",)), make_config(("mine",), comparable=False)
EIGHT_QUESTIONS = make_paper(
    {
        "table1": {
            "title": "A value that one run cannot give, and one that it can, 7 of 8",
            "cells": {"dataset": "wikiqa", "measure": "mrr"},
            "columns": {"who": {"subset": "who"}},
            "rows": {"Ours": {"system": "analogy"}, "Glove": {"system": "glove"}},
            "published": {"Ours": [0.981], "Glove": [0.875]},
        }
    }
)
NOTHING_RUN = dict.fromkeys(("ghost", "glove", "analogy", "glove-cosine", "random"), "no data")
TABLES = {
    "counts": lambda: make_table("table1"),
    "rows": lambda: make_table("table2"),
    "columns": lambda: make_table("table3", with_extra_row()),
    "cited": lambda: make_table("table4"),
    # The configured point is no override, so it also has tuned hyperparameters.
    "overrides": lambda: make_table("table5", mean=mean_by_overrides),
    "measures": lambda: make_table("table6"),
    "own": lambda: make_table("table1", OWN_CONFIG, build_own_paper(OWN_CONFIG)),
    "own_other": lambda: make_table("table1", OTHER_OWN_CONFIG, build_own_paper(OTHER_OWN_CONFIG)),
    "other_data": lambda: make_table("table3", tiny_config(comparable=False)),
    "data_of_ours": lambda: make_table("table2", with_data_of_ours(), substitute="us for them"),
    "nothing_run": lambda: make_table("table2", tiny_config(left_out=NOTHING_RUN)),
    "several_runs": lambda: make_table("table1", paper=EIGHT_QUESTIONS, n_items=8),
    "one_seed": lambda: make_table("table2", n_seeds=1, run_low=None, run_high=None),
    "equal_seeds": lambda: make_table("table2", mean=1.0, run_low=1.0, run_high=1.0),
    "facts": lambda: make_table(
        "table2",
        substitute="us for them",
        all_correct=2,
        mean_of_others=0.55,
        tied_candidates=lambda cell, _: 4 + is_tuned(cell),
        provenance=lambda cell, _: f"origin of {cell.path}",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_as_reviewed(name, golden):
    golden(to_markdown(TABLES[name]()), f"tables/{name}.md")


def test_latex_is_as_reviewed(golden):
    golden(to_latex(make_table("table2"), "tab:tiny2020-table2"), "tables/rows.tex")


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("50% of A & B_c", r"50\% of A \& B\_c"),
        ("#1 {x} $y$", r"\#1 \{x\} \$y\$"),
        ("a~b^c\\d", r"a\textasciitilde{}b\textasciicircum{}c\textbackslash{}d"),
        ("x ± y ↑ ↓", r"x $\pm$ y $\uparrow$ $\downarrow$"),
    ],
)
def test_special_characters_are_escaped(text, latex):
    assert escape_latex(text) == latex


def test_own_subsets_whose_names_differ_only_in_case_have_columns_of_their_own():
    config = make_config(("mine",), subsets={"who": ["who"], "Who": ["who", "when"]})
    paper = build_own_paper(config)
    assert list(paper.artefacts["table1"].columns) == ["who", "Who", "all"]
    assert build_own_paper(tiny_config()) is None


def test_values_that_ties_decide_have_the_accuracy_with_shared_ties():
    artefact = {"title": "T", "cells": {"dataset": "wikiqa", "subset": "who"}}
    artefact["columns"] = {name: {"measure": name} for name in (ACCURACY, SHARED_TIES)}
    artefact |= {"rows": {"Glove": {"system": "glove"}, "Random": {"system": "random"}}}
    paper = make_paper({"table1": artefact})

    def mean(cell, measure):
        return 0.3 if (measure, cell.system) == (SHARED_TIES, "glove") else 0.6

    block, *_ = make_table("table1", paper=paper, mean=mean).blocks
    marks = {labels[0]: [value.mark for value in values] for labels, values in block.rows}
    assert marks == {"Glove": ["‡ .300", ""], "Random": ["", ""]}


@pytest.mark.parametrize("name", ["table2", "table3"])
def test_the_top_group_is_bold(name):
    """There is a top group in each column, or in each row if the columns are systems."""
    artefact = TINY.artefacts[name].model_copy(update={"top_group": True})
    paper = TINY.model_copy(update={"artefacts": {name: artefact}})
    means = {"random": 0.59, "glove-cosine": 0.1}

    def values(cell, measure):
        items = [means.get(cell.system, 0.6) + 0.1 * (number % 2) for number in range(20)]
        return pd.DataFrame([items[::-1] if cell.system == "random" else items] * 2)

    table = make_table(name, paper=paper, values=values)
    scored = table.frame[table.frame["mean"].notna()]
    assert (scored["top_group"] == (scored["system"] != "glove-cosine")).all()
    assert table.frame.loc[table.frame["mean"].isna(), "top_group"].isna().all()
    bold = [v for block in table.blocks for _, row in block.rows for v in row if v.bold]
    assert 0 < len(bold) == scored["top_group"].sum() < len(scored)
    assert f"**{bold[0].ours}** {bold[0].interval}" in to_markdown(table)
    assert rf"\textbf{{{escape_latex(bold[0].ours)}}}" in to_latex(table, "a")
    assert any(note.startswith("Bold: the highest mean") for note in table.notes)
    assert make_table(name, values=values).frame["top_group"].isna().all()
