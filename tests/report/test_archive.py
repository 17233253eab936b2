"""An archive contains no sentences of the data and can be verified after unpacking."""

import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from urllib.request import urlopen

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.claims import judge_claims
from analogyqa.evaluation.published import build_ledger, compare_numbers
from analogyqa.evaluation.summary import index_values, read_record, read_results, write_csv
from analogyqa.files import write_json, write_text
from analogyqa.report import stored
from analogyqa.report.archive import (
    EMPTIED,
    METADATA,
    changed_files,
    sort_files,
    write_crate,
    write_without_texts,
)
from analogyqa.report.page import build_page
from analogyqa.report.stored import (
    CONFIGURATION,
    PACKED,
    find_archives,
    is_archive,
    read_configuration,
    store_configuration,
    unpack,
)
from analogyqa.report.tables import build_table
from analogyqa.report.verify import verify
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import record_hash
from analogyqa.runs.score import score_cell
from analogyqa.schemas import CORPUS, INSIDE, METRICS, read_table, write_table
from analogyqa.settings.load import REPOSITORY
from analogyqa.settings.systems import System
from analogyqa.sources.registry import load_registry
from builders.cells import COMB, toy_job
from builders.report import make_config, make_paper
from builders.results import provenance

HERE = Path(__file__).parent
CELL = Cell("bm25", "wikiqa", "comb")
RUN = f"runs/{CELL.path}"
SYSTEM = {"title": "BM25", "ranker": "bm25"}
CONFIG = make_config(("wikiqa",), {"bm25": SYSTEM}, (), ())
PAPER = make_paper(
    {
        "table1": {
            "title": "Scores",
            "cells": {"dataset": "wikiqa", "measure": "mrr"},
            "columns": {"BM25": {"system": "bm25"}},
            "rows": {"Comb.": {"subset": "comb"}},
            "published": {"Comb.": [0.5]},
        }
    }
)
PAPERS = {PAPER.paper: PAPER}
SOURCE = "wikiqa-train"
# No rule makes these, although they lie among files that may be given away.
LITTER = [
    f"runs/{CELL.path} (copy)/run.json",
    "corpora/._wikiqa.parquet",
    "tables/tiny2020/Copy of table1.md",
    "tables/tiny2020/reviewers.txt",
    "tables/tiny2020/caf\udce9.csv",
]


@pytest.fixture(scope="module")
def archive(write_cell_files, tmp_path_factory):
    """The archive of a results folder with one run."""
    folder = tmp_path_factory.mktemp("archive")
    results, run = folder / "results", folder / "results" / "runs" / CELL.path
    files = write_cell_files(folder / "tables", 0).without_prototypes()
    corpus = results / "corpora" / "wikiqa.parquet"
    corpus.parent.mkdir(parents=True)
    corpus.write_bytes(Path(files.corpus).read_bytes())
    files = files._replace(corpus=str(corpus), vectors=None)
    job = toy_job(System(**SYSTEM), {0: files}, COMB, CELL, sources={"train": SOURCE})
    score_cell(job, run)
    made = [run / "run.json"], [run / "metrics.parquet"], [], [corpus]
    computed = read_results(CONFIG, [CELL], *made)
    numbers = compare_numbers([PAPER], CONFIG, computed)
    write_csv(computed.summary, results / "summary.csv")
    write_csv(build_ledger(numbers), results / "ledger.csv")
    table = build_table(PAPER, "table1", numbers, CONFIG, computed).frame
    write_csv(table, results / "tables" / PAPER.paper / "table1.csv")
    claims, comparisons = judge_claims([PAPER], CONFIG, index_values([]), {})
    write_csv(claims, results / "claims.csv")
    write_csv(comparisons, results / "comparisons.csv")
    store_configuration(results, {}, {}, "make it")
    # The other paper comes from an earlier run, and its views may show sentences.
    for name in ("questions/tiny2020.md", "tables/other2020/table8.md", "my notes.txt", *LITTER):
        write_text(results / name, "who is thing 0 ?")
    target = folder / "results.zip"
    contents = sort_files(results, CONFIG, [PAPER])
    assert contents.left_out == {
        "": sorted(["my notes.txt", *LITTER]),
        "questions/*": ["questions/tiny2020.md"],
        "runs/*/scores.parquet": [f"{RUN}/scores.parquet"],
        "tables/*": ["tables/other2020/table8.md"],
    }
    write_crate(results, contents, "make it", load_registry(REPOSITORY / "sources.yaml"), target)
    return target


@pytest.fixture
def unpacked(archive, tmp_path):
    zipfile.ZipFile(archive).extractall(tmp_path)
    return tmp_path


def differences_by_file(folder):
    differences = verify(folder, CONFIG, PAPERS)
    return {file.relative_to(folder).as_posix(): text for file, text in differences}


def test_an_unpacked_archive_can_be_verified_and_contains_no_text_of_the_data(unpacked, corpus):
    assert differences_by_file(unpacked) == {}
    assert not (unpacked / "questions").exists() and not (unpacked / "my notes.txt").exists()
    emptied = read_table(unpacked / "corpora" / "wikiqa.parquet", CORPUS)
    assert set(emptied["question"]) | set(emptied["candidate"]) == {""}
    columns = [name for name in CORPUS.names if name not in ("question", "candidate")]
    assert emptied[columns].astype(str).equals(corpus[columns].astype(str))
    texts = {*corpus["question"], *corpus["candidate"]}
    page = build_page(unpacked, CONFIG, PAPERS, "make it")
    write_text(unpacked / "report.html", page)
    write_json(unpacked / "origins.json", provenance(page))
    files = [path for path in unpacked.rglob("*.*") if "workflow" not in path.parts]
    assert len(files) > 10
    assert [path for path in files for text in texts if text.encode() in path.read_bytes()] == []


def test_an_archive_is_not_unpacked_over_a_folder(archive, tmp_path):
    folder = tmp_path / "results"
    write_text(unpack(archive, folder) / "later.txt", "of a run that went on here")
    with pytest.raises(AnalogyQAError, match="Name the folder"):
        unpack(archive, folder)
    assert (folder / "later.txt").exists() and is_archive(folder)


def test_an_archive_that_is_compressed_as_a_whole_has_the_same_files(archive, tmp_path):
    results, packed = archive.with_name("results"), tmp_path / f"a{PACKED}"
    contents = sort_files(results, CONFIG, [PAPER])
    write_crate(results, contents, "make it", load_registry(REPOSITORY / "sources.yaml"), packed)
    folders = unpack(archive, tmp_path / "zip"), unpack(packed, tmp_path / "packed")
    first, second = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")
         if path.is_file() and path.name != METADATA}
        for folder in folders
    )  # fmt: skip
    assert first == second and is_archive(folders[1])
    with tarfile.open(packed) as file:
        assert {member.uname for member in file} == {""} and "" not in file.getnames()
    assert find_archives(tmp_path) == {"a": packed}


def test_a_changed_byte_of_an_archive_is_found_when_it_is_unpacked(tmp_path):
    # Some changes only ended the list of files early, before the checksum was read.
    for name in "abcd":
        write_text(tmp_path / "files" / name, name * 2000)
    with tarfile.open(tmp_path / f"a{PACKED}", "w:xz") as file:
        file.add(tmp_path / "files", "")
    whole = (tmp_path / f"a{PACKED}").read_bytes()

    @given(at=st.integers(0, len(whole) - 1), flip=st.integers(1, 255))
    def check(at, flip):
        changed = tmp_path / f"b{PACKED}"
        changed.write_bytes(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :])
        with pytest.raises(AnalogyQAError, match=str(changed)):
            unpack(changed, tmp_path / "results")
        assert not (tmp_path / "results").exists()

    check()


def test_no_file_of_an_archive_is_written_elsewhere(tmp_path):
    write_text(tmp_path / "file", "text")
    with tarfile.open(tmp_path / f"a{PACKED}", "w:xz") as file:
        file.add(tmp_path / "file", "../elsewhere")
    with pytest.raises(AnalogyQAError, match="outside of"):
        unpack(tmp_path / f"a{PACKED}", tmp_path / "results")
    assert not (tmp_path / "elsewhere").exists()


def test_a_damaged_file_is_named_with_its_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr(CONFIGURATION, "damaged")
    with pytest.raises(AnalogyQAError, match=f"a.zip/{CONFIGURATION}: "):
        read_configuration(stored.unpacked(tmp_path / "a.zip"))


def test_the_archive_lists_what_is_in_it_and_what_is_not(unpacked):
    page = (unpacked / "README.md").read_text(encoding="utf-8")
    assert "| runs | 2 |" in page and "| corpora | 1 |" in page
    assert all(f"`{name}`".replace("\udce9", "\\udce9") in page for name in LITTER)


def test_a_run_of_another_name_is_not_archived(unpacked):
    copy = unpacked / "runs" / CELL.path.replace("bm25", "bm25-old")
    shutil.copytree(unpacked / "runs" / CELL.path, copy)
    with pytest.raises(AnalogyQAError, match=rf"bm25-old.*another cell, {CELL.path}"):
        write_crate(unpacked, sort_files(unpacked, CONFIG, [PAPER]), "", {}, unpacked / "again.zip")
    assert not (unpacked / "again.zip").exists()


def test_changed_missing_and_damaged_files_are_reported(unpacked):
    path = unpacked / "corpora" / "wikiqa.parquet"
    table = read_table(path, CORPUS)
    table.loc[0, "label"] = 1 - table.loc[0, "label"]
    write_table(table, CORPUS, path)
    (unpacked / "workflow" / "Snakefile").unlink()
    assert {"corpora/wikiqa.parquet", "workflow/Snakefile"} <= {*differences_by_file(unpacked)}
    (unpacked / RUN / "metrics.parquet").unlink()
    assert differences_by_file(unpacked)[f"{RUN}/metrics.parquet"] == "is missing"
    path.write_bytes(b"PAR1")
    assert "corpora/wikiqa.parquet" in differences_by_file(unpacked)


@pytest.fixture(scope="module")
def unpacked_once(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(archive).extractall(folder)
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != METADATA]
    return folder, sorted(paths)


@given(st.data())
def test_one_changed_byte_of_any_file_is_found(unpacked_once, data):
    folder, paths = unpacked_once
    path = data.draw(st.sampled_from(paths))
    before = path.read_bytes()
    assume(before)
    place = data.draw(st.integers(0, len(before) - 1))
    other = data.draw(st.integers(1, 255))
    path.write_bytes(before[:place] + bytes([before[place] ^ other]) + before[place + 1 :])
    try:
        assert [changed for changed, _ in changed_files(folder)] == [path]
    finally:
        path.write_bytes(before)


@pytest.fixture
def change_record(unpacked):
    """Return a function that changes what the record says about the run and its system."""

    def change(vectors=None, inputs=None, **system) -> None:
        path = unpacked / RUN / "run.json"
        record = read_record(path)
        record["settings"]["vectors"] = vectors
        record["settings"]["systems"]["paper"] |= system
        record |= {"inputs": inputs} if inputs else {}
        write_json(path, record | {"content_hash": record_hash(record)})
        metadata = json.loads((unpacked / METADATA).read_text("utf-8"))
        (entity,) = (at for at in metadata["@graph"] if at["@id"] == f"{RUN}/run.json")
        entity["sha256"] = sha256(path)
        write_json(unpacked / METADATA, metadata)

    return change


def test_a_run_on_lemmas_is_compared_with_them_even_if_the_last_run_had_no_such_vectors(
    unpacked, change_record
):
    lemmas = unpacked / "lemmas" / "wikiqa" / "content.parquet"
    table = read_table(unpacked / "corpora" / "wikiqa.parquet", CORPUS)
    write_table(table, CORPUS, lemmas)
    change_record({"lemmas": {"keep": ["NOUN"]}}, {"corpus, seed 0": sha256(lemmas)})
    assert differences_by_file(unpacked) == {}
    write_table(table.iloc[1:], CORPUS, lemmas)
    assert [*differences_by_file(unpacked)] == ["lemmas/wikiqa/content.parquet"]


def test_measures_of_a_run_on_rewritten_texts_are_verified_without_these_texts(
    unpacked, change_record
):
    change_record(rewriting="entity")  # `rewritten/` is not in an archive
    path = unpacked / RUN / "metrics.parquet"
    metrics = read_table(path, METRICS)
    metrics.loc[0, "value"] += 0.5
    write_table(metrics, METRICS, path)
    assert next(iter(differences_by_file(unpacked))) == f"{RUN}/metrics.parquet"


def test_the_metadata_name_files_tools_and_sources(unpacked):
    graph = json.loads((unpacked / "ro-crate-metadata.json").read_text("utf-8"))["@graph"]
    by_id = {entity["@id"]: entity for entity in graph}
    run = by_id[f"#{CELL.path}"]
    assert run["instrument"] == {"@id": "workflow/workflow_scripts/score_candidates.py"}
    metrics = by_id[f"runs/{CELL.path}/metrics.parquet"]
    assert {"@id": metrics["@id"]} in run["result"]
    assert metrics["sha256"] == sha256(unpacked / metrics["@id"])
    workflow_run = by_id["#run"]
    assert workflow_run["instrument"] == by_id["./"]["mainEntity"] == {"@id": "workflow/Snakefile"}
    assert {"@id": f"#source-{SOURCE}"} in workflow_run["object"]
    assert "research" in by_id[f"#source-{SOURCE}"]["license"].lower()


def test_the_text_columns_of_every_emptied_table_are_empty(tmp_path):
    assert {schema for schema, _ in EMPTIED.values()} == {CORPUS, INSIDE}
    path, target = tmp_path / "inside.parquet", tmp_path / "empty.parquet"
    row = {"kind": "word", "id": "w", "question_id": "", "label": -1, "text": "sun",
           "words": ["sun"], "norm": 2.0, "vector": [1.0, 2.0]}  # fmt: skip
    write_table(pd.DataFrame([row]), INSIDE, path)
    write_without_texts(path, "runs/a/b/c/default/inside.parquet", target)
    (emptied,) = read_table(target, INSIDE).to_dict("records")
    assert [*emptied.pop("words"), *emptied.pop("vector")] == []
    assert emptied == {name: row[name] for name in emptied} | {"text": ""}


@pytest.mark.slow
def test_the_ro_crate_validator_reports_no_error(archive, tmp_path):
    """The validator has a separate environment, because it needs an older version of rich."""
    try:
        urlopen("https://w3id.org/ro/crate/1.1/context", timeout=20).close()
    except OSError as error:
        pytest.skip(f"the validator reads the terms of RO-Crate from w3id.org: {error}")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    programs = tmp_path / "venv" / "bin"
    requirements = HERE / "validator.txt"
    subprocess.run(
        [programs / "python", "-m", "pip", "install", "-q", "-r", requirements], check=True
    )
    completed = subprocess.run(
        [programs / "rocrate-validator", "--no-interactive", "validate", archive,
         "--profile-identifier", "provenance-run-crate-0.5"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stdout
