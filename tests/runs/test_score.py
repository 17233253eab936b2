"""Cells that train nothing: the folds of a cross-validation, and the fusion of other runs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP

from analogyqa.cells.cell import Cell, corpora_by_seed, system_settings
from analogyqa.corpora.questions import fold_corpus, fold_ids
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import index_values, join_folds, read_runs, summarise_runs
from analogyqa.files import write_json
from analogyqa.measures import OF_SCORES, RANKED
from analogyqa.runs.record import read_metrics
from analogyqa.runs.score import fuse_cell, score_cell
from analogyqa.schemas import CORPUS, METRICS, SCORES, read_table, write_table
from analogyqa.settings.systems import System
from analogyqa.training.data import CellFiles
from builders.cells import SOURCES, toy_job, untrained_system
from builders.report import make_config

SEEDS = [0, 1, 4]


@pytest.fixture
def parts(tmp_path, corpus):
    """The folders of two runs: one ranks correct candidates first, one ranks by row number."""
    pairs = corpus[(corpus["split"] != "train") & corpus["question_type"].notna()]
    score_of_run = {"right": pairs["label"], "wrong": pd.Series(np.arange(len(pairs)), pairs.index)}
    for name, score in score_of_run.items():
        tables = [pairs.assign(seed=seed, score=score + seed, best_prototype=-1) for seed in SEEDS]
        write_table(pd.concat(tables)[SCORES.names], SCORES, tmp_path / name / "scores.parquet")
        stores = {"vectors": {"origin": f"vectors of {name}"}}
        write_json(tmp_path / name / "run.json", {"sources": SOURCES, "stores": stores})
    write_table(corpus, CORPUS, tmp_path / "corpus.parquet")
    return {name: tmp_path / name for name in score_of_run}


@pytest.fixture
def fuse(parts, tmp_path):
    def fuse(names, fusion="equal", extra=()):
        system = System(title="F", ranker={"name": "fused", "parts": names, "fusion": fusion})
        files = CellFiles(str(tmp_path / "corpus.parquet"), None, None, {})
        job = toy_job(system, dict.fromkeys(SEEDS, files), sources={})
        job.settings["parts"] = {
            name: {"systems": {"paper": system_settings(untrained_system())}}
            for name in system.parts
        }
        known = {name: parts[name] for name in (*system.parts, *extra)}
        fuse_cell(job, known, tmp_path / "fused")
        return tmp_path / "fused"

    return fuse


def test_each_seed_fuses_seeds_relative_to_it(fuse):
    folder = fuse({"right": [0, 1], "wrong": [2]})
    weights = json.loads((folder / "run.json").read_text())["weights"]
    assert {seed: [run[:2] for run in runs] for seed, runs in weights.items()} == {
        "0": [["right", 0], ["right", 1], ["wrong", 4]],
        "1": [["right", 1], ["right", 4], ["wrong", 0]],
        "4": [["right", 4], ["right", 0], ["wrong", 1]],
    }
    assert {run[2] for runs in weights.values() for run in runs} == {1 / 3}


def test_weights_learned_on_dev_rank_test(fuse):
    folder = fuse(["right", "wrong"], "listwise")
    metrics = read_table(folder / "metrics.parquet", METRICS)
    mrr = metrics[(metrics["split"] == "test") & (metrics["measure"] == "mrr")]
    assert (mrr["value"] == 1).all() and set(mrr["seed"]) == set(SEEDS)
    scores = read_table(folder / "scores.parquet", SCORES)
    assert set(scores["split"]) == {"dev", "test"} and (scores["best_prototype"] == -1).all()


def test_the_summary_names_parts_and_substitutes(fuse, papers):
    folder = fuse(["right", "wrong"])
    record = json.loads((folder / "run.json").read_text())
    assert record["sources"] == SOURCES
    runs = read_runs([folder / "run.json"], [folder / "metrics.parquet"])
    config = papers.load("substitutes: {vectors: others, right: the left}")
    row = summarise_runs(runs, config).set_index("measure").loc["mrr"]
    assert row["provenance"] == "fused (equal): right, wrong"
    assert row["substitute"] == "vectors for others, right for the left"


def test_a_part_with_partitions_of_its_own_gives_each_seed_the_model_of_its_partition(fuse, parts):
    parts["right-shift1"] = parts["right"]
    record = json.loads((parts["right"] / "run.json").read_text())
    write_json(parts["right"] / "run.json", record | {"seeds": [4, 0, 1]})
    folder = fuse({"right": [0, 1], "wrong": [0]}, extra=["right-shift1"])
    weights = json.loads((folder / "run.json").read_text())["weights"]
    assert {seed: [run[:2] for run in runs] for seed, runs in weights.items()} == {
        "0": [["right", 0], ["right-shift1", 4], ["wrong", 0]],
        "1": [["right", 1], ["right-shift1", 0], ["wrong", 1]],
        "4": [["right", 4], ["right-shift1", 1], ["wrong", 4]],
    }


def test_a_cross_validation_tests_each_question_once_in_each_seed(tmp_path, corpus, monkeypatch):
    """With the files of a results folder, from the corpus to the joined scores."""
    seeds, folds, runs = [0, 3], 2, []
    for number in range(1, folds + 1):
        cell = Cell("words", "toy", "comb", (("fold", f"{number}of{folds}"),))
        files = {}
        for seed, name in corpora_by_seed(cell.corpus, seeds, seeds).items():
            path = tmp_path / "corpora" / f"{name}.parquet"
            write_table(fold_corpus(corpus, number, folds, partition=seed), CORPUS, path)
            files[seed] = CellFiles(str(path), None, None, {})
        job = toy_job(System(title="W", ranker="bm25"), files, cell=cell)
        job.settings["corpora"] = [Path(at.corpus).stem for at in files.values()]
        folder = tmp_path / "runs" / cell.path
        score_cell(job, folder)
        with monkeypatch.context() as patch:  # a changed measure is computed again
            patch.setitem(RANKED, "mrr", replace(RANKED["mrr"], computed_by=AP))
            again = read_metrics(folder / "metrics.parquet").set_index("measure")["value"]
        assert again["mrr"].tolist() == again["map"].tolist()
        runs += read_runs([folder / "run.json"], [folder / "metrics.parquet"])
    cells = [Cell.from_record(record["cell"]) for record, _ in runs]
    values = index_values(runs)
    assert all(values(cell, "mrr").isna().any(axis=None) for cell in cells)
    joined = join_folds(cells, "mrr", values)
    answerable = corpus[corpus["question_type"].notna() & (corpus["label"] == 1)]
    assert set(joined.columns) == set(fold_ids(answerable, "question_id"))
    assert joined.index.tolist() == seeds and joined.notna().all(axis=None)
    assert len(summarise_runs(runs, make_config())) == folds * len(RANKED | OF_SCORES)


@pytest.mark.parametrize("missing", ["a seed", "a pair"])
def test_an_incomplete_part_is_named(fuse, parts, missing):
    path = parts["wrong"] / "scores.parquet"
    scores = read_table(path, SCORES)
    kept = scores[scores["seed"] != 1] if missing == "a seed" else scores.iloc[1:]
    write_table(kept, SCORES, path)
    with pytest.raises(AnalogyQAError, match=r"wrong/scores.parquet: some pairs .* seed [01]"):
        fuse(["right", "wrong"])
