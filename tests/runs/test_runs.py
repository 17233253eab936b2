"""The record of a run, and the choice between settings."""

import json
import platform

import numpy as np
import pandas as pd
import pytest
import torch

from analogyqa.errors import AnalogyQAError
from analogyqa.examples.data import ranked_sentences
from analogyqa.plan import Cell
from analogyqa.runs import train
from analogyqa.runs.choose import choose_setting, chosen_setting
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import environment, run_record
from analogyqa.runs.score import score_cell
from analogyqa.runs.train import train_cell
from analogyqa.schemas import CORPUS, HISTORY, METRICS, SCORES, read_table, write_table
from analogyqa.settings.systems import Model, Training
from analogyqa.training import devices, loop
from analogyqa.training.devices import machine_of
from analogyqa.vectors.store import write_store

CELL = Cell("analogy", "toy", "comb", 3)
TRAINED = Model(title="A", encoder="bigru", vectors="some", ranker="analogy")
UNTRAINED = Model(title="M", encoder="mean", vectors="some", ranker="analogy")
TRAINING = Training(sentence_dim=4, max_epochs=2)
SOURCES = {"train": "toy-train", "dev": "toy-dev", "test": "toy-test"}


@pytest.fixture
def files(cell_files):
    return {seed: cell_files(seed) for seed in (0, 5)}


@pytest.fixture
def run(files, tmp_path):
    """Train a cell into a folder of a name; keyword arguments replace the usual ones."""

    def run(name, **changed):
        given = {
            "cell": CELL,
            "model": TRAINED,
            "training": TRAINING,
            "setting": "paper",
            "files": files,
            "sources": SOURCES,
            "lowercase": True,
            "device": "cpu",
            "checkpoints": tmp_path / "checkpoints",
            "folder": tmp_path / name,
        }
        train_cell(**given | changed)
        return tmp_path / name

    return run


def record_of(folder):
    return json.loads((folder / "run.json").read_text("utf-8"))


# The record


def test_a_record_differs_with_the_scores_and_not_with_the_machine(tmp_path):
    def hash_of(scores, **more):
        (tmp_path / "scores").write_bytes(scores)
        record = run_record({}, {}, [0], {}, tmp_path / "scores", **more)
        return record["content_hash"]

    assert hash_of(b"a", device="cpu") == hash_of(b"a", device="cuda")
    assert hash_of(b"a") != hash_of(b"b")


def test_a_record_names_versions_and_platform(tmp_path):
    (tmp_path / "scores").touch()
    record = run_record({}, {}, [0], {}, tmp_path / "scores", device="cpu")
    assert record["versions"]["python"] == platform.python_version()
    assert {"torch", "numpy", "fasttext"} <= set(record["versions"])
    assert record["peak_memory_mb"] > 0
    assert record["device"] == "cpu"


def test_the_slurm_job_is_in_the_record(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    assert environment()["slurm_job"] == "17"


# Cells


def test_training_a_cell_writes_its_record_and_three_tables(run):
    folder = run("a")
    assert sorted(path.name for path in folder.iterdir()) == [
        "history.parquet",
        "metrics.parquet",
        "run.json",
        "scores.parquet",
    ]
    for name, schema in (("scores", SCORES), ("metrics", METRICS), ("history", HISTORY)):
        assert set(read_table(folder / f"{name}.parquet", schema)["seed"]) == {0, 5}


def test_the_record_says_what_was_run(run):
    record = record_of(run("a"))
    assert record["cell"] == {"model": "analogy", "dataset": "toy", "subset": "comb", "p": 3}
    assert record["seeds"] == [0, 5]
    assert record["settings"]["training"]["sentence_dim"] == 4
    assert record["settings"]["setting"] == "paper"
    assert record["settings"]["vectors"] == {"name": "vectors", "origin": "toy"}
    assert record["settings"]["sentence_vectors"] is None
    assert record["device"] == "cpu"
    machine = {"after_epoch": 0, **machine_of(torch.device("cpu"))}
    assert record["machines"] == {"0": [machine], "5": [machine]}


def test_a_training_is_not_done_again_on_another_device(run, monkeypatch):
    """Which device it was is no part of the name of its checkpoint: its state says so."""
    monkeypatch.setattr(torch, "__version__", "2.13.0+cpu")
    first = run("a")
    monkeypatch.setattr(devices, "machine_of", lambda device: {"device": "cuda"})
    monkeypatch.setattr(torch, "__version__", "2.13.0+cu130")
    second = run("b")
    assert read_table(first / "history.parquet", HISTORY).equals(
        read_table(second / "history.parquet", HISTORY)
    )
    last = [own[-1] for own in record_of(second)["machines"].values()]
    assert last == [{"after_epoch": 2, "device": "cuda"}] * 2


def test_the_record_names_every_input_with_its_hash(run, files):
    folder = run("a")
    inputs = record_of(folder)["inputs"]
    names = [
        "corpus",
        "vectors",
        "prototypes",
        *(f"quadruples {s}" for s in ("train", "dev", "test")),
    ]
    assert sorted(inputs) == sorted(f"{name}, seed {seed}" for name in names for seed in (0, 5))
    assert inputs["quadruples dev, seed 5"] == sha256(files[5].quadruples["dev"])
    assert record_of(folder)["scores"] == sha256(folder / "scores.parquet")


def test_the_same_cell_gives_the_same_bytes(run, tmp_path):
    first, second = run("a"), run("b", checkpoints=tmp_path / "others")
    assert (first / "scores.parquet").read_bytes() == (second / "scores.parquet").read_bytes()
    assert record_of(first)["content_hash"] == record_of(second)["content_hash"]


def test_seeds_that_are_trained_side_by_side_give_the_same_bytes(run, tmp_path):
    epochs = []
    first = run("a", on_epoch=lambda history: epochs.append((history[-1][0], len(history))))
    beside = []
    second = run(
        "b",
        threads=2,
        checkpoints=tmp_path / "others",
        on_epoch=lambda history: beside.append((history[-1][0], len(history))),
    )
    assert (first / "scores.parquet").read_bytes() == (second / "scores.parquet").read_bytes()
    assert record_of(first)["content_hash"] == record_of(second)["content_hash"]
    names = {path.name for path in (tmp_path / "checkpoints").iterdir()}
    assert {path.name for path in (tmp_path / "others").iterdir()} == names
    assert sorted(beside) == sorted(epochs) == [(0, 1), (0, 2), (5, 1), (5, 2)]


def test_the_same_training_under_another_name_is_not_done_again(run, monkeypatch):
    first = run("a")
    monkeypatch.setattr(loop, "epoch_batches", None)
    second = run("b", cell=CELL._replace(model="analogy+chosen"), setting="chosen")
    assert (first / "scores.parquet").read_bytes() == (second / "scores.parquet").read_bytes()
    assert (first / "history.parquet").read_bytes() == (second / "history.parquet").read_bytes()


def test_another_setting_has_checkpoints_of_its_own(run, tmp_path):
    run("a")
    run("b", training=TRAINING.model_copy(update={"dropout": 0.0}))
    assert len(list((tmp_path / "checkpoints").iterdir())) == 4


def test_an_untrained_cell_has_no_history(files, tmp_path):
    score_cell(CELL, UNTRAINED, TRAINING, files, SOURCES, True, tmp_path / "a")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "metrics.parquet",
        "run.json",
        "scores.parquet",
    ]
    record = record_of(tmp_path / "a")
    assert record["settings"]["training"] is None
    assert record["seeds"] == [0, 5]
    assert set(read_table(tmp_path / "a" / "scores.parquet", SCORES)["seed"]) == {0, 5}


@pytest.fixture
def corpus_only(files):
    """The tables of a cell that reads nothing but the corpus."""
    return {
        seed: own._replace(vectors=None, prototypes=None, quadruples={})
        for seed, own in files.items()
    }


def test_a_model_without_prototypes_needs_the_corpus_only(corpus_only, tmp_path):
    model = Model(title="R", encoder="random", ranker="cosine")
    score_cell(CELL._replace(p=0), model, TRAINING, corpus_only, SOURCES, True, tmp_path / "a")
    record = record_of(tmp_path / "a")
    assert sorted(record["inputs"]) == ["corpus, seed 0", "corpus, seed 5"]
    assert record["settings"]["vectors"] is None


STORED = Model(title="S", sentence_vectors="means", ranker="analogy")


@pytest.fixture
def stored(files, corpus, tmp_path):
    """The tables of a cell with a store of sentence vectors, and no word vectors."""
    sentences = ranked_sentences(corpus)
    vectors = np.random.default_rng(0).normal(size=(len(sentences), 4)).astype(np.float32)
    found = np.ones(len(sentences), dtype=bool)
    path = str(tmp_path / "sentence_vectors" / "means.npy")
    write_store(vectors, found, sentences, "an encoder", path)
    evaluated = {"dev", "test"}
    return {
        seed: own._replace(
            vectors=None,
            sentence_vectors=path,
            quadruples={split: own.quadruples[split] for split in evaluated},
        )
        for seed, own in files.items()
    }


def test_the_record_names_the_sentence_vectors_and_where_they_come_from(stored, tmp_path):
    score_cell(CELL, STORED, TRAINING, stored, SOURCES, True, tmp_path / "a")
    record = record_of(tmp_path / "a")
    assert record["settings"]["sentence_vectors"] == {"name": "means", "origin": "an encoder"}
    assert record["settings"]["vectors"] is None
    assert record["inputs"]["sentence vectors, seed 5"] == sha256(stored[5].sentence_vectors)
    assert set(read_table(tmp_path / "a" / "scores.parquet", SCORES)["seed"]) == {0, 5}


def test_the_record_names_who_found_the_entities(run):
    sources = SOURCES | {"entities": "some_model"}
    first, second = run("a"), run("b", sources=sources)
    assert record_of(second)["settings"]["sources"] == sources
    assert record_of(first)["content_hash"] != record_of(second)["content_hash"]


def test_bm25_reads_the_corpus_only_and_is_scored_for_each_seed(corpus_only, tmp_path):
    model = Model(title="B", ranker="bm25")
    score_cell(CELL._replace(p=0), model, TRAINING, corpus_only, SOURCES, True, tmp_path / "a")
    record = record_of(tmp_path / "a")
    assert sorted(record["inputs"]) == ["corpus, seed 0", "corpus, seed 5"]
    assert record["settings"]["model"]["ranker"] == "bm25"
    scores = read_table(tmp_path / "a" / "scores.parquet", SCORES)
    by_seed = [own["score"].tolist() for _, own in scores.groupby("seed")]
    assert len(by_seed) == 2
    assert by_seed[0] == by_seed[1]


@pytest.mark.parametrize("split", ["dev", "test"])
def test_bm25_names_a_split_without_questions_of_its_subset(corpus_only, corpus, tmp_path, split):
    gone = (corpus["split"] == split) & corpus["question_type"].notna()
    for files in corpus_only.values():
        write_table(corpus[~gone], CORPUS, files.corpus)
    model = Model(title="B", ranker="bm25")
    with pytest.raises(AnalogyQAError, match=rf"no question of comb in the {split} split has a"):
        score_cell(CELL._replace(p=0), model, TRAINING, corpus_only, SOURCES, True, tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_failed_training_leaves_the_earlier_run_as_it_was(run, files):
    folder = run("a")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    broken = {0: files[0]._replace(prototypes="none.parquet")}
    with pytest.raises((AnalogyQAError, OSError), match=r"none\.parquet"):
        run("a", files=broken)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# The choice


def history(path, *by_seed):
    """Write a history: for each seed the dev MRR of its epochs."""
    rows = [
        (seed, epoch, 1.0, 0.0, mrr, 1.0, 1.0)
        for seed, values in enumerate(by_seed)
        for epoch, mrr in enumerate(values, start=1)
    ]
    write_table(pd.DataFrame(rows, columns=HISTORY.names), HISTORY, path)
    return str(path)


def test_the_setting_with_the_best_mean_over_seeds_is_chosen(tmp_path):
    histories = {
        "paper": history(tmp_path / "a", [0.1, 0.9, 0.2], [0.1]),
        "hinge": history(tmp_path / "b", [0.6], [0.2, 0.6]),
        "other": history(tmp_path / "c", [0.5], [0.5]),
    }
    choose_setting(histories, "comb", tmp_path / "choice.json")
    assert chosen_setting(tmp_path / "choice.json") == "hinge"
    record = json.loads((tmp_path / "choice.json").read_text())
    assert record["dev"] == pytest.approx({"paper": 0.5, "hinge": 0.6, "other": 0.5})
    assert (record["metric"], record["subset"]) == ("mrr", "comb")


def test_the_first_of_equal_settings_is_chosen(tmp_path):
    equal = history(tmp_path / "a", [0.5])
    choose_setting({"z": equal, "a": equal}, "comb", tmp_path / "choice.json")
    assert chosen_setting(tmp_path / "choice.json") == "z"


# What a training depends on


def checkpoints_of(folder):
    return {path.name for path in folder.glob("*.pt")}


def test_a_training_is_done_again_when_its_code_changes(run, tmp_path, monkeypatch):
    run("a")
    before = checkpoints_of(tmp_path / "checkpoints")
    monkeypatch.setattr(train, "code_hash", lambda *modules: "other code")
    run("b")
    assert len(checkpoints_of(tmp_path / "checkpoints") - before) == len(before)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"chosen"'])
def test_a_damaged_choice_is_named(tmp_path, text):
    (tmp_path / "choice.json").write_text(text)
    with pytest.raises(AnalogyQAError, match=r"choice\.json: no record of a chosen setting"):
        chosen_setting(tmp_path / "choice.json")
