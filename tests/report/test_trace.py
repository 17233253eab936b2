"""A few words find a number, and its origin."""

import shlex

import pytest

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.published import compare_numbers
from analogyqa.evaluation.summary import RECORDED, Results, write_csv
from analogyqa.files import write_json, write_text
from analogyqa.report.tables import build_table
from analogyqa.report.trace import find_number, origin, run_log
from builders.report import make_config, make_paper, make_summary

PAPER = make_paper(
    {
        "table1": {
            "title": "Scores",
            "cells": {"dataset": "wikiqa", "measure": "mrr"},
            "columns": {"Theirs": "cited", "Glove": {"system": "glove"},
                        "Ours": {"system": "analogy"}},
            "rows": {"Who": {"subset": "who"}, "Comb.": {"subset": "comb"}},
            "published": {"Who": [0.1, 0.2, 0.3], "Comb.": [0.4, 0.5, 0.6]},
        },
        "table2": {
            "title": "Questions",
            "cells": {"dataset": "wikiqa", "count": "questions"},
            "columns": {"Test": {"split": "test"}},
            "rows": {"Who": {"subset": "who"}},
            "published": {"Who": [9]},
        },
    }
)  # fmt: skip
CONFIG = make_config()


@pytest.fixture
def find(tmp_path):
    results = Results(make_summary(CONFIG, PAPER))
    numbers = compare_numbers([PAPER], CONFIG, results)
    for name in PAPER.artefacts:
        frame = build_table(PAPER, name, numbers, CONFIG, results).frame
        write_csv(frame, tmp_path / "tables" / PAPER.paper / f"{name}.csv")
    return lambda *words: find_number(tmp_path, CONFIG, {PAPER.paper: PAPER}, words)


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["table1", "Comb.", "Ours"], "analogy/wikiqa/comb/default"),
        (["TABLE1", "comb", "analogy"], "analogy/wikiqa/comb/default"),
        (["analogy", "who", "table1", "wikiqa", "mrr"], "analogy/wikiqa/who/default"),
        (["table1", "who", "analogy", "tuned"], "analogy/wikiqa/who/hyperparameters=tuned"),
        (["table1", "who", "glove"], "glove/wikiqa/who/default"),
        (["table1", "who", "random"], "random/wikiqa/who/default"),  # a row that is not printed
    ],
)
def test_words_identify_the_cell_of_a_score(find, words, path):
    assert find(*words).cell.path == path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no table or figure"),
        (["tabel1", "who"], "did you mean table1"),
        (["table1", "who", "anology"], "'anology'.*did you mean analogy"),
        (["table1", "who", "comb"], "no number of table1.*who, comb"),
        (["table1", "glove"], "2 numbers.*Who.*; .*Comb"),
    ],
)
def test_words_that_match_no_number_or_several_are_refused(find, words, message):
    with pytest.raises(AnalogyQAError, match=message):
        find(*words)


def test_a_view_is_refused_with_the_tables_that_show_numbers(tmp_path):
    view = {"title": "T", "view": "deciding", "panels": {"A": {"system": "analogy"}}}
    cells = {"dataset": "wikiqa", "subset": "comb"}
    table = {"title": "T", "columns": {"MRR": {"measure": "mrr"}}, "rows": {"A": {}}}
    table |= {"published": {"A": [0.5]}, "cells": cells | {"system": "analogy"}}
    paper = make_paper({"table1": table, "table7": view | {"cells": cells}})
    with pytest.raises(AnalogyQAError, match=r"^table7 .*table1$"):
        find_number(tmp_path, CONFIG, {paper.paper: paper}, ["table7"])


def test_a_score_comes_with_its_record_and_a_command(find, tmp_path):
    number, results = find("table1", "comb", "ours"), tmp_path / "my results"
    folder = results / "runs" / number.cell.path
    record = {"cell": number.cell.record(), "settings": {}, "content_hash": "abc"}
    record |= dict.fromkeys(RECORDED - record.keys())
    write_json(folder / "run.json", record | {"seeds": [0, 1], "git_commit": "abc"})
    write_text(folder / "metrics.parquet", "")
    log = results / "logs" / "train_encoder" / "analogy" / "wikiqa-comb-default.log"
    write_text(log, "")
    facts = origin(results, number, "snakemake")
    assert (facts["published"], facts["mean"], facts["n_seeds"]) == (0.6, 0.6, 2)
    assert (facts["seeds"], facts["git_commit"], facts["log"]) == ([0, 1], "abc", str(log))
    assert "device" not in facts  # the record has none
    path = str(folder / "metrics.parquet")
    assert shlex.split(facts["command"]) == ["snakemake", "--", path]  # its name has a space
    assert facts["files"] == [path, str(folder / "run.json")]


def test_all_solvers_of_a_job_share_its_log(tmp_path):
    log = tmp_path / "logs" / "solve_analogies" / "glove" / "pairs-@ties=shared.log"
    write_text(log, "")
    for solver in ("3cosadd", "3cosmul"):
        overrides = (("solver", solver), ("ties", "shared"))
        assert run_log(tmp_path, Cell("glove", "pairs", "all", overrides)) == log
    assert run_log(tmp_path, Cell("glove", "pairs", "all", (("solver", "3cosadd"),))) is None


def test_a_cited_number_has_no_files_and_a_missing_count_is_not_run(find, tmp_path):
    cited = origin(tmp_path, find("table1", "who", "theirs"), "snakemake")
    assert (cited["published"], "files" in cited) == (0.1, False)
    missing = origin(tmp_path, find("table2", "who", "test"), "snakemake")
    assert missing["verdict"] == "not run"
