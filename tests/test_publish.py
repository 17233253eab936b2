"""Publishing puts a run into the page of a paper, between two marks."""

import shutil
from pathlib import Path

import pytest
import typer

from analogyqa.evaluation import claims
from analogyqa.evaluation.published import LEDGER
from analogyqa.evaluation.summary import SUMMARY, to_frame, write_csv
from analogyqa.files import write_json
from analogyqa.report.archived import views_with_sentences
from builders.projects import load_script
from builders.report import CONFERENCE, cells_in_markdown

PATH = Path(__file__).parents[1] / "papers" / "publish.py"
publish = load_script(PATH)

TABLE = (
    "# Table 4: MRR\n\n## With the paper's hyperparameters\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n"
    "- Data: x.\n"
)
CLAIMS = """# Claims

## Primary claims

| Paper | Claim |
| ----- | ----- |
| p     | a won |
| other | b won |

## Verdicts

| Paper |
| ----- |
| p     |
"""
CELL = ("wikiqa", "comb", "default")
CPU = {"after_epoch": 0, "device": "cpu", "instructions": "AVX2"}
GPU = {"after_epoch": 0, "device": "cuda", "gpu": "NVIDIA H200"}


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "PAPERS", tmp_path / "papers")
    page = tmp_path / "papers" / "p" / "README.md"
    page.parent.mkdir(parents=True)
    # Its Table 8 is a view of sentences.
    shutil.copyfile(PATH.with_name("hyperqa") / "paper.yaml", page.with_name("paper.yaml"))
    page.write_text(f"before\n\n{publish.BEGIN}\nstale\n{publish.END}\n\nafter\n")
    mark = publish.BEGIN_PIECE.format(paper="p", name="claims")
    figure = publish.BEGIN_PIECE.format(paper="p", name="figure6.svg")
    parts = ["top", mark, "stale", publish.END, figure, publish.END, "rest"]
    (tmp_path / "README.md").write_text("\n\n".join(parts) + "\n")
    results = tmp_path / "results"
    for folder in ("tables/p", "figures/p"):
        (results / folder).mkdir(parents=True)
    (results / "claims.md").write_text(CLAIMS)
    (results / "tables" / "p" / "table4.md").write_text(TABLE)
    (results / "figures" / "p" / "figure6.svg").write_text("<svg/>")
    # The last run had only the first three of the four cells.
    for name, seeds, commit, machine in (
        ("a", [0, 1], "abc", CPU),
        ("b", [0], "abc", GPU),
        ("c", [0, 1, 2], "abc", CPU),
        ("d", [0], "old-dirty", CPU),
    ):
        record = {"git_commit": commit, "seeds": seeds, "machines": {"0": [machine]}}
        record["hyperparameters"] = "paper"
        write_json(record_of(results, name), record)
    rows = [dict(zip(publish.CELL, (name, *CELL), strict=True)) for name in ("a", "b", "c", "a")]
    write_csv(to_frame(rows, SUMMARY), results / "summary.csv")
    store_command(results, "snakemake --cores 2")
    return results


def store_command(results, command):
    configuration = {"values": {}, "left_out": {}, "command": command}
    write_json(results / "configuration.json", configuration)


def record_of(results, system):
    return results.joinpath("runs", system, *CELL, "run.json")


def test_a_run_replaces_only_the_text_between_its_marks(results, tmp_path):
    for _ in range(2):  # again, over itself
        publish.main("p", results)
    page = (tmp_path / "papers" / "p" / "README.md").read_text()
    assert page.startswith("before\n\n")
    assert page.endswith("\n\nafter\n")
    assert "stale" not in page
    origin = "1, 2 or 3 seeds, commit abc, CPU (AVX2) and NVIDIA H200, 20"
    assert f"    snakemake --cores 2\n\n{origin}" in page
    assert "### Table 4: MRR\n\n**With the paper's hyperparameters**\n\n| a | b |" in page
    assert "Data: x" not in page
    assert "![figure6](figure6.svg)" in page
    assert (tmp_path / "papers" / "p" / "figure6.svg").read_text() == "<svg/>"


def test_tables_with_sentences_of_the_data_are_left_out(results, tmp_path):
    (results / "tables" / "p" / "table8.md").write_text("# Table 8: pairs\n\n| a sentence |\n")
    publish.main("p", results)
    page = (tmp_path / "papers" / "p" / "README.md").read_text()
    assert "a sentence" not in page
    assert "### Table 8: pairs\n\nNot shown here" in page
    assert "Table 4: MRR" in page


def test_readme_has_the_primary_claims_of_the_paper_alone(results, tmp_path):
    for _ in range(2):
        publish.main("p", results)
    readme = (tmp_path / "README.md").read_text()
    assert readme.startswith("top\n\n") and readme.endswith("\n\nrest\n")
    assert "\n![figure6](papers/p/figure6.svg)\n" in readme
    assert "\n| Paper | Claim |\n| ----- | ----- |\n| p     | a won |\n\n" in readme
    assert not any(word in readme for word in ("stale", "b won", "Verdicts", "### Table 4"))


def test_readme_has_the_verdicts_on_the_papers_of_this_and_of_earlier_runs(results, tmp_path):
    verdicts = ("lower", "not run", "not run")
    shutil.copytree(PATH.with_name("hyperqa"), tmp_path / "papers" / "hyperqa")
    ledger = [{"paper": "hyperqa", "verdict": verdict} for verdict in verdicts]
    write_csv(to_frame(ledger, LEDGER), results / "ledger.csv")
    write_csv(to_frame([{"paper": "p"}], claims.CLAIMS), results / "claims.csv")
    readme = tmp_path / "README.md"
    earlier = ["[other](papers/other/README.md)", "A (2017)", "1", "2", "3", "4", "5", "1 holds"]
    row = f"| {' | '.join(earlier)} |"
    table = f"{publish.RESULTS}\n\n| heads |\n| - |\n{row}\n\n{publish.END}\n"
    readme.write_text(f"{readme.read_text()}\n{table}")
    for _ in range(2):  # again, over itself
        publish.main("p", results)
        *_, kept, hyperqa = cells_in_markdown(readme.read_text())
        assert kept == earlier
        assert "Tay, Tuan" in hyperqa[1]
        assert hyperqa[2:] == ["", "", "1", "", "2", ""]


def test_a_page_of_docs_has_the_figure_by_its_relative_path(results, tmp_path):
    mark = publish.BEGIN_PIECE.format(paper="p", name="figure6.svg")
    page = tmp_path / "docs" / "finding.md"
    page.parent.mkdir()
    page.write_text(f"top\n\n{mark}\nstale\n{publish.END}\n")
    publish.main("p", results)
    assert "\n![figure6](../papers/p/figure6.svg)\n" in page.read_text()
    assert "stale" not in page.read_text()


def test_a_table_with_its_own_marks_is_placed_there_with_its_figure(results, tmp_path):
    page = tmp_path / "papers" / "p" / "README.md"
    mark = publish.BEGIN_PIECE.format(paper="p", name="cross_validation")
    page.write_text(f"{mark}\nstale\n{publish.END}\n\nbetween\n\n{page.read_text()}")
    (results / "tables" / "p" / "cross_validation.md").write_text("# Folds\n\n| c |\n")
    (results / "figures" / "p" / "cross_validation.svg").write_text("<svg/>")
    store_command(results, "first")
    publish.main("p", results)
    for path in ("tables/p/cross_validation.md", "figures/p/cross_validation.svg"):
        (results / path).unlink()
    store_command(results, "second")
    publish.main("p", results)  # has no such table, and keeps that of the first
    study, results_section = page.read_text().split("\n\nbetween\n\n")
    assert (
        "    first\n" in study
        and "### Folds\n\n| c |\n\n![cross_validation](cross_validation.svg)" in study
    )
    assert (
        "    second\n" in results_section
        and "Folds" not in results_section
        and "### Table 4" in results_section
    )
    assert "stale" not in page.read_text()


def test_only_a_named_table_is_published(results, tmp_path):
    page = tmp_path / "papers" / "p" / "README.md"
    mark = publish.BEGIN_PIECE.format(paper="p", name="pairs")
    page.write_text(f"{mark}\n{publish.END}\n\nbetween\n\n{page.read_text()}")
    readme = (tmp_path / "README.md").read_text()
    (results / "tables" / "p" / "pairs.md").write_text(TABLE)
    for name in ("pairs", "Copy of pairs"):
        (results / "figures" / "p" / f"{name}.svg").write_text("<svg/>")
    publish.main("p", results, ["pairs"])
    table, rest = page.read_text().split("\n\nbetween\n\n")
    assert "### Table 4: MRR" in table and "![pairs](pairs.svg)" in table
    assert "stale" in rest
    assert (tmp_path / "README.md").read_text() == readme
    assert [path.name for path in page.parent.glob("*.svg")] == ["pairs.svg"]


@pytest.mark.parametrize(("name", "cause"), [("table4", "write these lines"), ("t", "there are")])
def test_a_named_table_needs_marks_and_has_to_be_in_the_run(results, tmp_path, name, cause):
    page = tmp_path / "papers" / "p" / "README.md"
    before = page.read_text()
    with pytest.raises(typer.BadParameter, match=cause):
        publish.main("p", results, [name])
    assert page.read_text() == before


def test_the_command_of_the_open_choices_names_their_target(results, tmp_path):
    page = tmp_path / "papers" / "p" / "README.md"
    mark = publish.BEGIN_PIECE.format(paper="p", name="sensitivity")
    page.write_text(f"{mark}\n{publish.END}\n\nbetween\n\n{page.read_text()}")
    (results / "tables" / "p" / "sensitivity.md").write_text("# Choices\n\n| c |\n")
    publish.main("p", results)
    study, others = page.read_text().split("\n\nbetween\n\n")
    assert "    snakemake --cores 2 -- all sensitivity\n" in study
    assert "    snakemake --cores 2\n" in others


def test_a_run_without_claims_keeps_those_of_the_readme(results, tmp_path):
    (results / "claims.md").unlink()
    publish.main("p", results)
    assert "stale" in (tmp_path / "README.md").read_text()
    assert "### Table 4" in (tmp_path / "papers" / "p" / "README.md").read_text()


def test_a_resumed_run_names_its_commits_and_uncommitted_code_is_refused(results, tmp_path):
    record = record_of(results, "b")
    record.write_text(record.read_text().replace("abc", "abd"))
    publish.main("p", results)
    page = (tmp_path / "papers" / "p" / "README.md").read_text()
    assert "1, 2 or 3 seeds, commits abc, abd, CPU (AVX2)" in page
    record.write_text(record.read_text().replace("abd", "abd-dirty"))
    with pytest.raises(typer.BadParameter, match="uncommitted code"):
        publish.main("p", results)


def test_numbers_in_the_prose_that_are_not_in_the_run_are_named(results, tmp_path, capsys):
    (results / "tables" / "p" / "table4.md").write_text("# Table 4\n\n| .735 ± .012 | +0.020 |\n")
    page = tmp_path / "papers" / "p" / "README.md"
    page.write_text(
        f"a .735, +.020 (p = .003)\nb .736 of .74\n\n{page.read_text()}c 0.735, 0.812\n"
    )
    store_command(results, "the command of .999")
    publish.main("p", results)
    last = len(page.read_text().splitlines())
    assert capsys.readouterr().out.splitlines() == [
        f"{page}:2: not in this run: .736",
        f"{page}:{last}: not in this run: .812",
    ]


@pytest.mark.parametrize("text", ["no marks", publish.BEGIN, 2 * (publish.BEGIN + publish.END)])
def test_a_page_without_one_pair_of_marks_is_named(tmp_path, text):
    (tmp_path / "README.md").write_text(text)
    with pytest.raises(typer.BadParameter, match=r"README\.md: write these lines"):
        publish.replace_section(tmp_path / "README.md", publish.BEGIN, ["a run"])
    assert (tmp_path / "README.md").read_text() == text


def test_the_legend_explains_only_the_parts_and_marks_that_appear():
    rows = "| A | B |\n| - | - |\n| .62 ± .01 [.60, .64] (.63) = | .5† |\n"
    table = f"(..) {{..}} ≡ no cells\n\n{rows}"
    legend = publish.legend_of([table, "prose {.1, .2} ↑"])
    assert [part in legend for part in ("±", "[..]", "(..)", "{..}")] == [True, True, True, False]
    assert [f"{mark} " in legend for mark in "=↓†↑≡?"] == [True, False, True, False, False, False]
    assert publish.legend_of(["| a | b |"]) == ""
    assert publish.legend_of(["| 0.5 (276) |"]) == ""


def test_results_of_another_paper_are_refused(results, tmp_path):
    write_csv(to_frame([{"paper": "other"}], claims.CLAIMS), results / "claims.csv")
    with pytest.raises(typer.BadParameter, match="of other"):
        publish.main("p", results)
    assert "stale" in (tmp_path / "papers" / "p" / "README.md").read_text()


def test_examples_of_decisions_are_not_published():
    assert views_with_sentences(CONFERENCE) == ["table7"]


@pytest.mark.parametrize(
    "page", sorted(PATH.parent.glob("*/README.md")), ids=lambda p: p.parent.name
)
def test_the_page_of_each_paper_can_be_filled(page, tmp_path):
    copy = tmp_path / "README.md"
    shutil.copyfile(page, copy)
    publish.replace_section(copy, publish.BEGIN, ["a run"])
    assert f"{publish.BEGIN}\n\na run\n\n{publish.END}" in copy.read_text()
