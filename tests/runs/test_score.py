"""Fusing a cell from the runs of other systems."""

import json

import numpy as np
import pandas as pd
import pytest

from analogyqa.cells.cell import system_settings
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import summarise_runs
from analogyqa.files import write_json
from analogyqa.runs.score import fuse_cell
from analogyqa.schemas import CORPUS, METRICS, SCORES, read_table, write_table
from analogyqa.settings.systems import System
from analogyqa.training.data import CellFiles
from builders.cells import SOURCES, toy_job, untrained_system

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
    def fuse(names, fusion="equal"):
        system = System(title="F", ranker={"name": "fused", "parts": names, "fusion": fusion})
        files = CellFiles(str(tmp_path / "corpus.parquet"), None, None, {})
        job = toy_job(system, dict.fromkeys(SEEDS, files), sources={})
        job.settings["parts"] = {
            name: {"systems": {"paper": system_settings(untrained_system())}}
            for name in system.parts
        }
        fuse_cell(job, {name: parts[name] for name in system.parts}, tmp_path / "fused")
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
    metrics = read_table(folder / "metrics.parquet", METRICS)
    config = papers.load("substitutes: {vectors: others, right: the left}")
    row = summarise_runs([(record, metrics)], config).set_index("measure").loc["mrr"]
    assert row["provenance"] == "fused (equal): right, wrong"
    assert row["substitute"] == "vectors for others, right for the left"


@pytest.mark.parametrize("missing", ["a seed", "a pair"])
def test_an_incomplete_part_is_named(fuse, parts, missing):
    path = parts["wrong"] / "scores.parquet"
    scores = read_table(path, SCORES)
    kept = scores[scores["seed"] != 1] if missing == "a seed" else scores.iloc[1:]
    write_table(kept, SCORES, path)
    with pytest.raises(AnalogyQAError, match=r"wrong/scores.parquet: some pairs .* seed [01]"):
        fuse(["right", "wrong"])
