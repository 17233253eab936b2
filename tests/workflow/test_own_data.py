"""The page on own data, from a file that another machine wrote to ranked answers."""

import csv
import shutil
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from builders.pages import EXTENDING, commands_of, texts_of
from builders.projects import REPOSITORY, copy_checkout, read_csv, run_program

pytestmark = [pytest.mark.workflow, pytest.mark.draw]

PAGE = EXTENDING[1:2]
SAMPLE = REPOSITORY / "sample" / "wikiqa" / "WikiQA-train.tsv"
QUESTIONS = 30


def write_excel(path: Path) -> None:
    """Write questions of the sample as a European Excel does: semicolons, and no UTF-8."""
    rows = pd.read_csv(SAMPLE, sep="\t", quoting=csv.QUOTE_NONE)
    answered = rows.loc[rows["Label"] == 1, "QuestionID"].unique()[:QUESTIONS]
    rows = rows[rows["QuestionID"].isin(answered)].rename(columns={"Sentence": "Answer"})
    rows["Answer"] += ' "Café"; ok'
    rows[["Question", "Answer", "Label"]].to_csv(path, sep=";", index=False, encoding="cp1252")


def test_the_page_leads_from_a_spreadsheet_to_ranked_answers(tmp_path):
    checkout = copy_checkout(tmp_path / "checkout")
    (checkout / "data").mkdir()
    write_excel(checkout / "data" / "mine.csv")
    (checkout / "data" / "answers.txt").write_text("It comes from Kyoto.\nIt was long.\n")
    (checkout / "my.yaml").write_text(texts_of("yaml", PAGE)[0])
    run = partial(run_program, checkout=checkout)
    (commands,) = (text for text in texts_of("", PAGE) if text.startswith("snakemake --cores all"))
    training, comparing, ranking = commands_of(commands)
    printed = run(*training)
    assert "read as cp1252" in printed and "only 10 test questions" in printed
    results = checkout / "results" / "mine"
    report = results / "report.html"
    rows = read_csv(results / "tables" / "own" / "table1.csv")
    assert {row["system"] for row in rows} == {"analogy", "similarity", "bm25"}
    assert {(row["column"], row["n_items"]) for row in rows} == {("All", "10")}
    compared = run(*comparing)
    assert all(name in compared for name in ("analogy", "similarity", "bm25"))
    ranked = run(*ranking)
    assert "It comes from Kyoto." in ranked and "It was long." in ranked
    assert "Mine: mean reciprocal rank" in report.read_text("utf-8")
    # An unfinished run: commands work on what is there.
    for path in (*results.glob("*.csv"), *results.glob("runs/bm25/**/run.json")):
        path.unlink()
    shutil.rmtree(results / "tables")
    run("analogyqa", "report", "--config", "my.yaml")
    page = report.read_text("utf-8")
    assert "Mine: mean reciprocal rank" in page and page.count(">not run<") == 1
    assert "1 run is not finished" in run("analogyqa", "verify", "results/mine")
    assert run(*ranking) == ranked
    archived = run("analogyqa", "archive", "results/mine")
    assert "bm25/mine/all/default/run.json is missing" in archived
