"""A few words find a number, and its origin."""

import shlex

import pytest

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_text
from analogyqa.report.stored import METADATA
from analogyqa.report.trace import (
    find_number,
    number_ids,
    origin,
    run_log,
    shown_numbers,
    text_lines,
)
from builders.report import make_config, make_paper
from builders.results import PAPER, make_results

CONFIG = make_config(("wikiqa",))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trace") / "my results"
    make_results(folder, CONFIG, PAPER)
    return folder


@pytest.fixture
def find(results):
    return lambda *words: find_number(results, CONFIG, {PAPER.paper: PAPER}, words)


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["table2", "Comb.", "Ours"], "analogy/wikiqa/comb/default"),
        (["TABLE2", "comb", "analogy"], "analogy/wikiqa/comb/default"),
        (["analogy", "who", "table2", "wikiqa", "mrr"], "analogy/wikiqa/who/default"),
        (["table2", "who", "analogy", "tuned"], "analogy/wikiqa/who/hyperparameters=tuned"),
        (["table1", "map", "glove"], "glove/wikiqa/comb/default"),
        (["table1", "map", "random"], "random/wikiqa/comb/default"),  # a row that is not printed
    ],
)
def test_words_identify_the_cell_of_a_score(find, words, path):
    assert find(*words).cell.path == path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no table or figure"),
        (["tabel1", "map"], "did you mean table1"),
        (["table2", "who", "anology"], "'anology'.*did you mean analogy"),
        (["table2", "who", "comb"], "no number of table2.*who, comb"),
        (["table2", "base", "paper"], "2 numbers.*Who.*; .*Comb"),
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


def test_a_score_comes_with_its_record_and_a_command(find, results):
    number = find("table2", "comb", "ours")
    names = [f"runs/{number.cell.path}/{name}" for name in ("metrics.parquet", "run.json")]
    write_text(results / names[0], "")
    facts = origin(results, number, CONFIG, "snakemake")
    assert (facts["published"], facts["n_seeds"], facts["seeds"]) == (0.4, 2, [0, 1])
    assert facts["git_commit"] == "abc" and "log" in facts
    assert "slurm_job" not in facts  # the record has none
    config = CONFIG.model_copy(update={"output_dir": "my results"})
    command, files = (origin(results, number, config, "make")[key] for key in ("command", "files"))
    assert shlex.split(command) == ["make", "--", f"my results/{names[0]}"]
    assert files == [str(results / name) for name in names]
    (metadata := results / METADATA).touch()  # an archive, which is read in a temporary folder
    archived = origin(results, number, config, "make")
    metadata.unlink()
    assert (archived["command"], archived["files"]) == (command, names)


def test_all_solvers_of_a_job_share_its_log(tmp_path):
    log = tmp_path / "logs" / "solve_analogies" / "glove" / "pairs-@ties=shared.log"
    write_text(log, "")
    for solver in ("3cosadd", "3cosmul"):
        overrides = (("solver", solver), ("ties", "shared"))
        assert run_log(tmp_path, Cell("glove", "pairs", "all", overrides)) == log
    assert run_log(tmp_path, Cell("glove", "pairs", "all", (("solver", "3cosadd"),))) is None


def test_a_cited_number_has_no_files_and_a_missing_system_is_not_run(find, results):
    cited = origin(results, find("table1", "map", "theirs"), CONFIG, "snakemake")
    assert (cited["published"], "files" in cited) == (0.3, False)
    missing = origin(results, find("table1", "map", "ghost"), CONFIG, "snakemake")
    assert missing["verdict"] == "not run"


def test_the_id_of_a_number_does_not_depend_on_the_order_of_rows(results):
    numbers = list(shown_numbers(results, PAPER, "table2", CONFIG))
    ids = number_ids(numbers)
    assert "table2-of-tiny2020/analogy/wikiqa/comb/mrr" in ids and len({*ids}) == len(ids)
    assert number_ids(numbers[::-1]) == ids[::-1]
    # Two rows of a table may have the same coordinates.
    twin = numbers[0]._replace(values=numbers[0].values | {"row": "Twin"})
    (first, *_, last) = number_ids([*numbers, twin])
    assert {first, last} == {f"{ids[0]}/Who/Base", f"{ids[0]}/Twin/Base"}


def test_seeds_that_agree_share_a_line():
    machines = {seed: [{"device": "cpu", "instructions": "AVX2"}] for seed in "01"}
    assert text_lines(machines) == ["all seeds: device: cpu, instructions: AVX2"]
    corpora = {"corpus, seed 0": "a", "corpus, seed 1": "a"}
    others = {"train, seed 0": "b", "train, seed 1": "c", "vectors, seed 0": "d"}
    lines = ["train, seed 0: b", "train, seed 1: c", "vectors, seed 0: d"]
    assert text_lines(corpora | others) == ["corpus, all seeds: a", *lines]


def test_an_interval_that_is_too_wide_is_named_as_in_tables(find, results):
    number = find("table2", "Comb.", "Ours")
    wide = number._replace(values=number.values | {"run_low": 0.0, "run_high": 1.0})
    facts = origin(results, wide, CONFIG, "make")
    assert facts["prediction_interval"] == "interval too wide (2 seeds)" and "run_low" not in facts
