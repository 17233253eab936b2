"""The report: its numbers are those of the ledger, and it is one page for every reader."""

import re
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.claims import CLAIMS
from analogyqa.evaluation.summary import read_csv, write_csv
from analogyqa.report.html_pages import svg_uri
from analogyqa.report.page import (
    Run,
    build_page,
    commits_and_machines,
    duration,
    read_run_records,
    time_block,
)
from analogyqa.report.trace import number_ids, origin, shown_numbers, text_lines
from analogyqa.settings.artefacts import CITED
from builders.golden import page_text
from builders.report import make_config
from builders.results import PAPER, PageReader, make_results, provenance

COMMAND = "snakemake --cores all --configfile my.yaml"
SMALL = make_config(("wikiqa",), left_out={"ghost": "not built"})
PAPERS = {PAPER.paper: PAPER}


@pytest.fixture
def folder(built, tmp_path) -> Path:
    """A copy of the folder that a test may change."""
    return shutil.copytree(built[0], tmp_path / "results")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, pd.DataFrame, str]:
    """The folder, the ledger and the page built from them."""
    folder = tmp_path_factory.mktemp("results")
    ledger = make_results(folder, SMALL, PAPER)
    return folder, ledger, build_page(folder, SMALL, PAPERS, COMMAND)


def test_the_page_is_as_reviewed(built, golden):
    folder, _, text = built
    golden(page_text(text, folder), "page.html")


def test_the_origin_of_every_number_matches_the_command_why(built):
    folder, _, text = built
    page = PageReader(text)
    embedded = provenance(text)
    assert len({*page.values("id")} & {*embedded["numbers"]}) == len(embedded["numbers"]) > 20
    in_picture = page.values("data-number")
    assert len(in_picture) > 5 and {*in_picture} < {*embedded["numbers"]}
    numbers = list(shown_numbers(folder, PAPER, "table1", SMALL))
    for name, number in zip(number_ids(numbers), numbers, strict=True):
        if number.values["kind"] != CITED:
            opened = embedded["numbers"][name]
            facts = opened["facts"] | (embedded["runs"][opened["run"]] if opened["run"] else {})
            known = origin(folder, number, SMALL, COMMAND)
            expected = {key: text_lines(value) for key, value in known.items()}
            verdict = expected.pop("verdict", [""])[0]
            assert facts.pop("verdict", [""])[0].startswith(verdict)
            assert facts == expected


def test_the_page_of_other_data_has_one_warning_and_no_published_values(folder):
    other = SMALL.model_copy(update={"comparable": False})
    text = build_page(folder, other, PAPERS, COMMAND)
    assert len(re.findall("(?i)our data are not the paper", text)) == 1
    numbers = provenance(text)["numbers"].values()
    assert ["not built"] in [number["facts"].get("reason") for number in numbers]
    page = PageReader(text)
    assert not any("published" in attributes.get("class", "") for _, attributes in page.tags)
    rows = [row for title, _, rows in page.tables if title.startswith("Table 1: ") for row in rows]
    systems = {row[0] for row in rows}
    assert {"Ours", "Ghost"} <= systems and "Theirs" not in systems


def test_the_page_needs_no_network(built):
    page = PageReader(built[2])
    assert not {tag for tag, _ in page.tags} & {"link", "iframe", "object", "base"}
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts and not any("src" in attributes for attributes in scripts)
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    links = page.values("href") + page.values("src")
    assert not any(re.match(r"(?!data:)\w+:|//", link) for link in links)
    assert not any(word in built[2] for word in ("url(", "@import", "@font-face", "fetch("))


def test_every_link_has_a_target_and_every_id_is_unique(built):
    folder, _, text = built
    page = PageReader(text)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    links = [link for link in page.values("href") if not link.startswith("data:")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert [link for link in links if link[0] != "#" and not (folder / link).exists()] == []


def test_headings_tables_and_images_are_accessible(built):
    page = PageReader(built[2])
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    tags = Counter(tag for tag, _ in page.tags)
    assert tags["table"] == tags["caption"] > 0 and tags["main"] == 1
    assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")
    assert all(attributes.get("alt") for tag, attributes in page.tags if tag == "img")


def test_the_configuration_is_shown_without_passwords(built):
    folder, _, text = built
    secret = SMALL.model_copy(update={"tracking_uri": "http://me:secret@host"})
    assert "secret" not in build_page(folder, secret, PAPERS, COMMAND)
    assert "samples: 200" in text


def test_runs_with_other_settings_are_counted_at_the_top_and_marked(built):
    folder, _, text = built
    assert "other settings" not in text
    analogy = SMALL.systems["analogy"]
    training = analogy.training.model_copy(update={"learning_rate": 0.5})
    systems = SMALL.systems | {"analogy": analogy.model_copy(update={"training": training})}
    page = build_page(folder, SMALL.model_copy(update={"systems": systems}), PAPERS, COMMAND)
    (runs,) = [rows for _, caption, rows in PageReader(page).tables if caption[:9] == "Every run"]
    marked = {row[0] for row in runs[1:] if "other settings" in row[1]}
    assert marked == {row[0] for row in runs[1:] if row[0].split()[0] == "analogy"} != set()
    assert "learning_rate: 0.001, now 0.5" in page
    assert f"{len(marked)} of {len(runs) - 1} runs" in page


def test_runs_that_are_not_of_the_configuration_are_not_listed(built):
    systems = {name: at for name, at in SMALL.systems.items() if name != "analogy"}
    listed, left = (
        {run.label.split()[0] for run in read_run_records(built[0], config)}
        for config in (SMALL, SMALL.model_copy(update={"systems": systems}))
    )
    assert left == listed - {"analogy"} != listed


def test_without_results_the_command_that_makes_them_is_given(folder, tmp_path):
    with pytest.raises(AnalogyQAError, match=f"no results yet. Make them first: {COMMAND}"):
        build_page(tmp_path / "empty", SMALL, PAPERS, COMMAND)
    (folder / "ledger.csv").unlink()  # a run that has not finished shows what it has
    (folder / "tables/tiny2020/table2.csv").unlink()
    page = build_page(folder, SMALL, PAPERS, COMMAND)
    assert "Table 1: Systems in rows" in page and "Table 2: Systems in columns" in page


def test_a_claim_that_the_paper_no_longer_has_is_named(folder):
    claims = read_csv(folder / "claims.csv", CLAIMS)
    write_csv(claims.assign(claim="gone"), folder / "claims.csv")
    with pytest.raises(AnalogyQAError, match=f"'gone'.* {COMMAND}"):
        build_page(folder, SMALL, PAPERS, COMMAND)


def test_missing_files_and_a_paper_that_was_added_later_are_named(folder):
    (folder / "tables/tiny2020/table2.csv").unlink()
    (folder / "claims.csv").unlink()
    (folder / "figures/tiny2020/figure1.csv").unlink()
    later = PAPER.model_copy(update={"paper": "later"})
    page = build_page(folder, SMALL, PAPERS | {"later": later}, COMMAND)
    missing = "tables/tiny2020/table2, figures/tiny2020/figure1"
    assert f"Not made yet: {missing}. To make them" in page
    assert "Not made yet: tables/later/table1, tables/later/table2" in page
    assert 'id="tiny2020-table1"' in page and 'id="tiny2020-table2"' not in page


def test_damaged_lines_of_a_benchmark_are_skipped(folder):
    _, expected = time_block(folder).rows[0]
    path = next((folder / "benchmarks").rglob("*.jsonl"))
    line = path.read_text()
    path.write_text(f'{line}{line[:20]}\n\n[1]\n{{"s": 5}}\n{{"s": null}}\n')
    assert time_block(folder).rows[0][1] == expected


def test_the_section_of_a_paper_has_its_claims_and_ours(folder):
    path = folder / "claims.csv"
    claims = read_csv(path, CLAIMS)
    added = claims.iloc[:1].assign(text="one of ours", ours=True)
    write_csv(pd.concat([claims, added]), path)
    page = PageReader(build_page(folder, SMALL, PAPERS, COMMAND))
    tables = [rows for heading, _, rows in page.tables if heading == "Claims of tiny2020"][:2]
    assert [rows[1][0] for rows in tables] == ["ours is better (primary)", "one of ours (primary)"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (7500, "2 h 05 min")]
)
def test_a_time_is_given_in_words(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("commit", "expected"),
    [
        ("0123456789abcdef0123", "0123456789ab"),
        ("0123456789abcdef0123-dirty", "0123456789ab-dirty"),
        ("unknown", "unknown"),
    ],
)
def test_a_commit_is_shortened_and_uncommitted_changes_are_marked(commit, expected):
    run = Run("a/b/c/d", "a b c", {"git_commit": commit, "machines": {}}, "")
    assert commits_and_machines([run, run]) == f"2 runs of commit {expected}"


@pytest.mark.parametrize(
    ("svg", "shortened"),
    [
        ('<path d="M 12.34567 0.015625"/>', "<path d='M 12.34 0.015625'/>"),
        ("<!DOCTYPE svg><!-- a --><metadata>m</metadata><g>\n </g>", "<g> </g>"),
        ('<text id="a">it\'s</text>', '<text id="a">it\'s</text>'),
    ],
)
def test_a_picture_is_written_shorter_and_drawn_as_before(svg, shortened):
    assert unquote(svg_uri(svg)) == f"data:image/svg+xml,{shortened}"


def test_the_question_of_a_paper_is_the_title_and_of_several_a_heading(built):
    first = PAPER.model_copy(update={"question": "Is <it> so?"})
    (page, both) = (
        build_page(built[0], SMALL, papers, COMMAND)
        for papers in ({"tiny2020": first}, {"tiny2020": first, "later": PAPER})
    )
    assert "<h1>Is &lt;it&gt; so?</h1>" in page and page.count("Is &lt;it&gt; so?") == 2
    assert '<a href="#tiny2020">Is &lt;it&gt; so?</a></h2>' in both
