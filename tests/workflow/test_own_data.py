"""The page on own data, from a file that another machine wrote to ranked answers."""

import csv
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from builders.pages import EXTENDING, commands_of, texts_of
from builders.projects import REPOSITORY, clean_environment, copy_checkout, read_csv

pytestmark = [pytest.mark.workflow, pytest.mark.draw]

PAGE = EXTENDING[1:2]
SAMPLE = REPOSITORY / "sample" / "wikiqa" / "WikiQA-train.tsv"
QUESTIONS = 30


def write_excel(path: Path) -> None:
    """Write questions of the sample as a European Excel does: semicolons, and no UTF-8."""
    with open(SAMPLE, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    answered = dict.fromkeys(row["QuestionID"] for row in rows if row["Label"] == "1")
    kept = list(answered)[:QUESTIONS]
    with open(path, "w", encoding="cp1252", newline="") as file:
        table = csv.writer(file, delimiter=";")
        table.writerow(["Question", "Answer", "Label"])
        for row in rows:
            if row["QuestionID"] in kept:
                table.writerow([row["Question"], f'{row["Sentence"]} "Café"; ok', row["Label"]])


def test_the_page_leads_from_a_spreadsheet_to_ranked_answers(tmp_path):
    checkout = copy_checkout(tmp_path / "checkout")
    (checkout / "data").mkdir()
    write_excel(checkout / "data" / "mine.csv")
    (checkout / "data" / "answers.txt").write_text("It comes from Kyoto.\nIt was long.\n")
    (checkout / "my.yaml").write_text(texts_of("yaml", PAGE)[0])
    environment = clean_environment(checkout)
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"

    def run(command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    (commands,) = (text for text in texts_of("", PAGE) if text.startswith("snakemake --cores all"))
    training, comparing, ranking = commands_of(commands)
    said = run(training)
    assert "read as cp1252" in said and "only 10 test questions" in said
    results = checkout / "results" / "mine"
    rows = read_csv(results / "tables" / "own" / "table1.csv")
    assert {row["system"] for row in rows} == {"analogy", "similarity", "bm25"}
    assert {(row["column"], row["n_items"]) for row in rows} == {("All", "10")}
    assert all(name in run(comparing) for name in ("analogy", "similarity", "bm25"))
    ranked = run(ranking)
    assert all(answer in ranked for answer in ("It comes from Kyoto.", "It was long."))
    assert "Mine: mean reciprocal rank" in (checkout / "results/mine/report.html").read_text(
        "utf-8"
    )
    # An unfinished run: commands work on what is there.
    for path in (*results.glob("*.csv"), *results.glob("runs/bm25/**/run.json")):
        path.unlink()
    shutil.rmtree(results / "tables")
    run(["analogyqa", "report", "--config", "my.yaml"])
    page = (results / "report.html").read_text("utf-8")
    assert "Mine: mean reciprocal rank" in page and page.count(">not run<") == 1
    assert "1 run is not finished" in run(["analogyqa", "verify", "results/mine"])
    assert run(ranking) == ranked
    assert "bm25/mine/all/default/run.json is missing" in run(
        ["analogyqa", "archive", "results/mine"]
    )
