"""Publishing puts a run into the page of a paper, between two marks."""

import os
import shutil
from pathlib import Path

import pytest
import typer

from analogyqa.evaluation.claims import CLAIMS
from analogyqa.evaluation.coverage import BEST_OF, COVERAGE
from analogyqa.evaluation.published import FRAME, IN_PAPER, LEDGER
from analogyqa.evaluation.summary import SUMMARY, to_frame, write_csv
from analogyqa.files import write_json, write_text
from builders.projects import load_script

PATH = Path(__file__).parents[1] / "papers" / "publish.py"
publish = load_script(PATH)

PAPER = "hyperqa"  # its Table 8 is a view of sentences
OTHER = "mappsent"
ARCHIVES = Path("published", "README.md")
PAGES = ("papers/hyperqa/README.md", "README.md", "docs/finding.md", str(ARCHIVES))
CLAIM = {"paper": PAPER, "kind": "score", "protocol": "paper", "verdict": "holds"}
CLAIMS_OF_RUN = (
    CLAIM | {"claim": "hyperbolic-beats-cosine", "role": "primary", "text": "a won"},
    CLAIM | {"claim": "improves-with-size", "role": "secondary", "text": "b won"},
    CLAIM | {"paper": "other", "claim": "c", "role": "primary", "text": "c won"},
)
SCORE = {"paper": PAPER, "artefact": "table2", "block": IN_PAPER, "kind": "score", "mean": 0.735}
SCORE |= {
    "measure": "map",
    "published": 0.712,
    "run_low": 0.7,
    "run_high": 0.74,
    "sd": 0.012,
    "column": "MAP",
}
SCORES = (
    SCORE | {"row": "HyperQA", "verdict": "inconclusive"},
    SCORE | {"row": "AP-CNN", "verdict": "not run", "mean": None},
)
TABLES = {
    "table2": "# Table 2 of hyperqa: Best < all\n\n| .712 |\n\n- Data: x.\n",
    "table4": (
        "# Table 4: MRR\n\n## With the paper's hyperparameters\n\n| a | b |\n| - | - |\n"
        "| .735 ± .012 [.60, .74] (.63) = | +0.020 |\n\n- Data: x.\n"
    ),
    "table8": "# Table 8: pairs\n\n| a sentence |\n",
    "cross_validation": "# Folds\n\n| c |\n",
    "sensitivity": "# Choices\n\n| d |\n",
}
VERDICTS = [
    {"paper": PAPER, "verdict": verdict, "kind": kind}
    for verdict, kind in (("lower", "score"), ("not run", "score"), ("reproduced", "count"))
]
CELL = ("wikiqa", "comb", "default")
CPU = {"after_epoch": 0, "device": "cpu", "instructions": "AVX2"}
GPU = {"after_epoch": 0, "device": "cuda", "gpu": "NVIDIA H200"}
# A cell, its seeds, commit and machine. The last run had only the first three.
RUNS = (
    ("a", [0, 1], "abc", CPU),
    ("b", [0], "abc", GPU),
    ("c", [0, 1, 2], "abc", CPU),
    ("d", [0], "old-dirty", CPU),
)
VARIED = "hyperqa/wikiqa/all/margin=3"  # a cell of the open choices


def section(name: str = "") -> str:
    """Return a place for a run, or for a piece of one, on a page."""
    begin = publish.BEGIN_PIECE.format(paper=PAPER, name=name) if name else publish.BEGIN
    return f"{begin}\nstale\n{publish.END}"


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "PAPERS", tmp_path / "papers")
    monkeypatch.setattr(publish, "ARCHIVES", tmp_path / ARCHIVES.parent)
    lines = f"{publish.RESULTS}\n\n- stale\n\n{publish.END}"
    texts = (
        ["a .735, +.020 (p = .003)\nb .736 of .74", section("cross_validation"),
         section("sensitivity"), section(), "c 0.735, 0.812"],
        ["top", section("claims"), section("figure6.svg"), lines, "rest"],
        ["top", section("figure6.svg"), "rest"],
        [lines],
    )  # fmt: skip
    for page, parts in zip(PAGES, texts, strict=True):
        write_text(tmp_path / page, "\n\n".join(parts) + "\n")
    for paper in (PAPER, OTHER):
        path = Path(paper, "paper.yaml")
        write_text(tmp_path / "papers" / path, (PATH.parent / path).read_text("utf-8"))
    results = tmp_path / "results"
    for name, text in TABLES.items():
        write_text(results / "tables" / PAPER / f"{name}.md", text)
    write_csv(to_frame(SCORES, FRAME), results / "tables" / PAPER / "table2.csv")
    for name in ("figure6", "verdicts", "cross_validation", "Copy of figure6"):
        write_text(results / "figures" / PAPER / f"{name}.svg", "<svg/>")
    for name, seeds, commit, machine in RUNS:
        record = {"git_commit": commit, "seeds": seeds, "machines": {"0": [machine]}}
        write_json(record_of(results, name), record | {"hyperparameters": "paper"})
        os.utime(record_of(results, name), (0, 0))
    rows = [dict(zip(publish.CELL, (name, *CELL), strict=True)) for name in ("a", "b", "c", "a")]
    write_csv(to_frame(rows, SUMMARY), results / "summary.csv")
    varied = {"git_commit": "abc", "seeds": [0, 1, 2, 3], "machines": {"0": [CPU]}}
    write_json(results / "runs" / VARIED / "run.json", varied | {"hyperparameters": "paper"})
    os.utime(results / "runs" / VARIED / "run.json", (0, 0))
    write_csv(to_frame(VERDICTS, LEDGER), results / "ledger.csv")
    write_csv(to_frame(CLAIMS_OF_RUN, CLAIMS), results / "claims.csv")
    store_command(results, "snakemake --cores 2")
    make_archive(tmp_path / "published" / PAPER, VERDICTS, CLAIMS_OF_RUN)
    return results


def make_archive(path, verdicts, claims=()):
    write_csv(to_frame(verdicts, LEDGER), path / "ledger.csv")
    write_csv(to_frame(claims, CLAIMS), path / "claims.csv")
    shutil.make_archive(path, "xztar", path)


def store_command(results, command):
    values = {"papers": [PAPER], "output_dir": "results", "seeds": 2}
    configuration = {"values": values, "left_out": {}, "command": command}
    write_json(results / "configuration.json", configuration)


def record_of(results, system):
    return results.joinpath("runs", system, *CELL, "run.json")


def pages(results) -> list[str]:
    return [(results.parent / page).read_text("utf-8") for page in PAGES]


def test_a_run_is_published_between_the_marks_of_all_pages(results, golden, capsys):
    for _ in range(2):  # again, over itself
        publish.main(PAPER, results)
        messages = capsys.readouterr().out.replace(f"{results.parent}/", "")
        parts = zip((*PAGES, "numbers that are not in the run"), (*pages(results), messages),
                    strict=True)  # fmt: skip
        golden("\n".join(f"=== {name}\n{text}" for name, text in parts), "published.txt")
    figures = [path.name for path in (results.parent / "papers" / PAPER).glob("*.svg")]
    assert sorted(figures) == ["cross_validation.svg", "figure6.svg", "verdicts.svg"]


def test_a_run_without_a_table_or_claims_keeps_those_of_an_earlier_run(results):
    store_command(results, "first")
    publish.main(PAPER, results)
    write_csv(to_frame([], CLAIMS), results / "claims.csv")
    for path in results.glob("*/*/cross_validation.*"):
        path.unlink()
    store_command(results, "second")
    publish.main(PAPER, results)
    page, readme, *_ = pages(results)
    study = page.partition("<summary>Folds")[0]
    assert "    first\n" in study and "    second\n" not in study
    assert "    second\n" in page and page.count("](cross_validation.svg)") == 1
    assert "    first\n" in readme and "a won" in readme


def test_only_a_named_table_is_published(results):
    before = pages(results)
    publish.main(PAPER, results, ["cross_validation"])
    page, *others = pages(results)
    assert "<summary>Folds" in page and page.count("stale") == 2
    assert others == before[1:]
    assert [path.name for path in results.parent.rglob("papers/*/*.svg")] == [
        "cross_validation.svg"
    ]


def test_named_artefacts_are_shown_first_also_without_published_scores(results):
    paper = results.parent / "papers" / PAPER / "paper.yaml"
    paper.write_text(paper.read_text().replace("[table2, figure3]", "[table2, figure6]"))
    write_csv(to_frame([], FRAME), results / "tables" / PAPER / "table2.csv")
    publish.main(PAPER, results)
    run = pages(results)[0].partition(publish.BEGIN)[2]
    assert run.lstrip().startswith("![Figure 6:")
    assert "\n**Table 2: Best < all**\n\n| .712 |\n" in run.partition("<details>")[0]
    assert run.count("Table 2") == run.count("](figure6.svg)") == 1


def test_the_coverage_is_published_between_its_marks(results):
    page = results.parent / PAGES[2]
    page.write_text(section("coverage"))
    row = {"n_seeds": 9, "cells": 20, "coverage": 0.94, "nominal": 0.95}
    row |= {f"best_of_{runs}": 0.125 for runs in BEST_OF}
    write_csv(to_frame([row], COVERAGE), results / "coverage.csv")
    publish.main(PAPER, results, ["coverage"])
    cells = page.read_text().splitlines()[-3].strip("| ").split("|")
    assert [cell.strip() for cell in cells] == ["9", "20", "94.0%", *["12.5%"] * len(BEST_OF)]


@pytest.mark.parametrize(
    ("commit", "only", "cause"),
    [
        ("abd-dirty", [], "uncommitted code"),
        ("abd", ["table4"], "write these lines"),
        ("abd", ["t"], "there are"),
    ],
)
def test_what_cannot_be_published_is_refused(results, commit, only, cause):
    record = record_of(results, "b")
    record.write_text(record.read_text().replace("abc", commit))
    before = pages(results)
    with pytest.raises(typer.BadParameter, match=cause):
        publish.main(PAPER, results, only)
    assert pages(results) == before


def test_a_resumed_run_names_its_commits(results):
    record = record_of(results, "b")
    record.write_text(record.read_text().replace("abc", "abd"))
    assert "1, 2 or 3 seeds, commits abc, abd, CPU (AVX2)" in publish.origin(results)


def test_a_run_of_the_sensitivity_alone_names_all_its_runs(results):
    (results / "summary.csv").unlink()
    record_of(results, "d").unlink()  # of code that was not committed, and in no summary
    assert "1, 2, 3 or 4 seeds, commit abc, CPU (AVX2) and NVIDIA H200" in publish.origin(results)


def test_a_figure_of_the_open_choices_has_their_command_and_seeds(results):
    page = results.parent / PAGES[0]
    page.write_text(section("sensitivity.svg"))
    write_text(results / "figures" / PAPER / "sensitivity.svg", "<svg/>")
    publish.main(PAPER, results, ["sensitivity.svg"])
    text = page.read_text()
    assert "4 seeds" in text and "-- sensitivity" in text and "](sensitivity.svg)" in text


def test_the_totals_are_those_of_all_archives(results):
    """A study has no published numbers, and an unfinished run no ledger."""
    other = {"paper": OTHER, "kind": "score"}
    folder = publish.ARCHIVES
    make_archive(folder / "first", [other | {"verdict": v} for v in ("lower", "higher")])
    make_archive(folder / "study", [])
    shutil.make_archive(folder / "unfinished", "xztar", results / "tables")
    publish.main(PAPER, results)
    total, lines = (
        page.partition(publish.RESULTS)[2].strip().splitlines() for page in pages(results)[1::2]
    )
    assert "of 4 published scores, 3 were run with the paper's data: 0 reproduced, 1 h" in total[0]
    assert "2 lower, 0 inconclusive; 1 not run; counts that agree: 1 of 1; primary cl" in total[0]
    assert [line.split("]")[0] for line in lines[:2]] == [f"- [{OTHER}", f"- [{PAPER}"]


def test_a_page_is_not_published_before_its_archive(results):
    publish.find_archives(publish.ARCHIVES)[PAPER].unlink()
    before = pages(results)
    with pytest.raises(typer.BadParameter, match="Write that of this run first"):
        publish.main(PAPER, results)
    assert pages(results) == before


def test_results_of_another_paper_are_refused(results):
    before = pages(results)
    write_csv(to_frame([{"paper": "other"}], CLAIMS), results / "claims.csv")
    with pytest.raises(typer.BadParameter, match="of other"):
        publish.main(PAPER, results)
    assert pages(results) == before


@pytest.mark.parametrize("text", ["no marks", publish.BEGIN, 2 * (publish.BEGIN + publish.END)])
def test_a_page_without_one_pair_of_marks_is_named(tmp_path, text):
    (tmp_path / "README.md").write_text(text)
    with pytest.raises(typer.BadParameter, match=r"README\.md: write these lines"):
        publish.replace_section(tmp_path / "README.md", publish.BEGIN, ["a run"])
    assert (tmp_path / "README.md").read_text() == text


def test_the_legend_explains_only_the_parts_and_marks_that_appear():
    rows = "| A | B |\n| - | - |\n| .62 ± .01 [.60, .64] (.63) = | .5† |\n"
    legend = publish.legend_of([f"(..) {{..}} ≡ no cells\n\n{rows}", "prose {.1, .2} ↑"])
    assert [part in legend for part in ("±", "[..]", "(..)", "{..}")] == [True, True, True, False]
    assert [f"{mark} " in legend for mark in "=↓†↑≡?"] == [True, False, True, False, False, False]
    assert publish.legend_of(["| a | b |"]) == publish.legend_of(["| 0.5 (276) |"]) == ""


@pytest.mark.parametrize(
    "page", sorted(PATH.parent.glob("*/README.md")), ids=lambda p: p.parent.name
)
def test_the_page_of_each_paper_can_be_filled(page, tmp_path):
    copy = Path(shutil.copyfile(page, tmp_path / "README.md"))
    publish.replace_section(copy, publish.BEGIN, ["a run"])
    assert f"{publish.BEGIN}\n\na run\n\n{publish.END}" in copy.read_text()
