"""A result comes back from an archive if a run would make the same one."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from analogyqa.cells import Cell
from analogyqa.evaluation.summary import RECORDED, read_record
from analogyqa.files import write_json
from analogyqa.restore import Archived, copy_results, files_to_make, refuse_changed
from analogyqa.runs.depends_on import sha256

FIRST, FUSED = Cell("first", "wikiqa", "comb"), Cell("fused", "wikiqa", "comb")
SETTINGS = {"seeds": [0]}


@pytest.fixture
def folders(tmp_path):
    """Return an archive with two runs, of which the second fuses the first, and a folder."""
    archive, results = tmp_path / "archive", tmp_path / "results"
    for cell in (FIRST, FUSED):
        run = archive / "runs" / cell.path
        run.mkdir(parents=True)
        for name in ("scores.parquet", "metrics.parquet", "run.json"):
            (run / name).write_text(cell.system)
    results.mkdir()
    (results / "corpus").write_text("who ?")
    return archive, results


def archived(folders, **changes):
    """Return both runs; `changes` are of the first one's job or record."""
    archive, results = folders
    found = {}
    for cell in (FIRST, FUSED):
        own = changes if cell == FIRST else {}
        record = {"cell": cell.record(), "settings": SETTINGS, "code": "c",
                  "inputs": {"corpus": sha256(results / "corpus"), "scores of first": "s"}
                  | own.get("inputs", {})}  # fmt: skip
        params = SimpleNamespace(settings=own.get("settings", SETTINGS), code=own.get("code", "c"))
        inputs: dict = {"corpus": str(results / own.get("corpus", "corpus"))}
        if cell == FUSED:
            inputs["records"] = [str(results / "runs" / FIRST.path / "run.json")]
        job = SimpleNamespace(input=inputs, params=params)
        name = f"runs/{cell.path}"
        found[name] = Archived(archive / name, job, record)
    return found


def test_runs_come_back_with_one_time_and_are_not_copied_twice(folders):
    _, results = folders
    kept, refused = refuse_changed(archived(folders), results)
    assert refused == {}
    assert len(copy_results(kept, results)) == 2
    files = [path for path in results.rglob("*") if path.suffix]
    assert len(files) == 6 and len({path.stat().st_mtime_ns for path in files}) == 1
    assert all(path.stat().st_mtime >= (results / "corpus").stat().st_mtime for path in files)
    assert copy_results(kept, results) == []


@pytest.mark.parametrize(
    "changes", [{"settings": {"seeds": [0, 1]}}, {"code": "d"}, {"inputs": {"corpus": "other"}}]
)
def test_a_changed_run_and_what_fuses_it_stay_away(folders, changes):
    _, results = folders
    kept, refused = refuse_changed(archived(folders, **changes), results)
    assert kept == {} and [*refused] == [f"runs/{FIRST.path}", f"runs/{FUSED.path}"]


@pytest.mark.parametrize("scores", ["s", "other"])
def test_what_fuses_a_run_that_is_there_comes_back_if_its_scores_are_the_same(folders, scores):
    _, results = folders
    path = results / "runs" / FIRST.path / "run.json"
    there = dict.fromkeys(RECORDED) | {"cell": FIRST.record(), "scores": scores}
    write_json(path, there)
    kept, _ = refuse_changed(archived(folders, code="d"), results)
    assert [*kept] == ([f"runs/{FUSED.path}"] if scores == "s" else [])
    copy_results(kept, results)
    assert read_record(path) == there


def test_a_run_whose_measures_were_left_out_stays_away(folders):
    archive, results = folders
    (archive / "runs" / FUSED.path / "metrics.parquet").unlink()
    kept, refused = refuse_changed(archived(folders), results)
    assert [*kept] == [f"runs/{FIRST.path}"] and [*refused] == [f"runs/{FUSED.path}"]


def test_missing_files_are_made_first(folders):
    _, results = folders
    found = archived(folders, corpus="other")
    assert files_to_make(found.values()) == [os.fspath(results / "other")]
    assert [Path(path).name for path in found[f"runs/{FIRST.path}"].inputs("corpus")] == ["other"]
