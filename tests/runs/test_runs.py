"""Cells that are trained or scored, their records, and the choice of hyperparameters."""

import json
import platform
import shutil
from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch
from ir_measures import P

from analogyqa.cells.cell import Cell, system_from
from analogyqa.corpora.questions import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.measures import ABOUT_ITEMS, NO_TYPE, OF_SCORES, RANKED, RankedMeasure
from analogyqa.runs import train
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import read_metrics, run_record, run_system, table_hashes
from analogyqa.runs.score import score_cell
from analogyqa.runs.train import choose_hyperparameters, read_tuned, train_cell
from analogyqa.schemas import CORPUS, HISTORY, METRICS, SCORES, read_table, write_table
from analogyqa.settings.systems import System
from analogyqa.training import devices, learner
from analogyqa.training.data import ranked_sentences
from analogyqa.training.devices import describe_machine
from analogyqa.vectors.store import write_store
from builders.cells import CELL, COMB, SOURCES, toy_job, trained_system, untrained_system

SYSTEM = trained_system(max_epochs=2)
TABLES = {"scores": SCORES, "metrics": METRICS, "history": HISTORY}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def files(write_cell_files, folder):
    return {seed: write_cell_files(folder / "tables", seed) for seed in (0, 5)}


@pytest.fixture(scope="module")
def run(files, folder):
    """Train a cell into a folder; all cells share one folder of checkpoints."""

    def run(name, system=SYSTEM, files=files, hyperparameters="paper", *, options=None, **values):
        checkpoints = (options or {}).pop("checkpoints", folder / "checkpoints")
        job = toy_job(system, files, hyperparameters=hyperparameters, **values)
        train_cell(job, "cpu", checkpoints, folder / name, **options or {})
        return folder / name

    return run


@pytest.fixture(scope="module")
def first(run):
    """The folder of a run of `SYSTEM` with two seeds."""
    return run("first")


@pytest.fixture
def score(files, tmp_path):
    """Score a cell of a system into the folder `a`."""
    untrained = {
        seed: tables._replace(quadruples={at: tables.quadruples[at] for at in ("dev", "test")})
        for seed, tables in files.items()
    }

    def score(system, files=untrained, types=COMB):
        score_cell(toy_job(system, files, types), tmp_path / "a")
        return tmp_path / "a"

    return score


def record_of(folder):
    return json.loads((folder / "run.json").read_text("utf-8"))


def tables_of(folder):
    """Return the tables of a run by name."""
    return {path.stem: read_table(path, TABLES[path.stem]) for path in folder.glob("*.parquet")}


def assert_same(first, second, same_record=True):
    for name in ("scores", "metrics"):
        tables = [(folder / f"{name}.parquet").read_bytes() for folder in (first, second)]
        assert tables[0] == tables[1], name
    hashes = [record_of(folder)["content_hash"] for folder in (first, second)]
    assert (hashes[0] == hashes[1]) == same_record


# The record


def test_the_content_hash_depends_on_the_scores_but_not_on_the_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "17")

    def record(scores, **machine):
        (tmp_path / "scores").write_bytes(scores)
        (tmp_path / "metrics.parquet").write_bytes(b"")
        return run_record(toy_job(SYSTEM, {}), {}, tmp_path / "scores", {}, **machine)

    on_cpu, on_gpu, other = record(b"a", device="cpu"), record(b"a", device="cuda"), record(b"b")
    assert on_cpu["content_hash"] == on_gpu["content_hash"] != other["content_hash"]
    assert on_cpu["versions"]["python"] == platform.python_version()
    assert {"torch", "numpy", "fasttext"} <= set(on_cpu["versions"])
    assert on_cpu["peak_memory_mb"] > 0
    assert (on_cpu["device"], on_cpu["slurm_job"]) == ("cpu", "17")


def test_the_record_has_cell_seeds_settings_inputs_and_machine(run, files):
    cell = CELL._replace(overrides=(("dropout", "0.5"), ("p", "3")))
    folder = run("overrides", cell=cell)
    record = record_of(folder)
    assert record["cell"]["overrides"] == {"dropout": "0.5", "p": "3"}
    assert Cell.from_record(record["cell"]) == cell
    assert record["seeds"] == [0, 5]
    assert record["settings"] == toy_job(SYSTEM, files).settings
    assert system_from(run_system(record)) == SYSTEM.model_copy(update={"title": ""})
    assert record["hyperparameters"] == "paper"
    assert record["stores"] == {"vectors": {"name": "vectors", "origin": "toy"}}
    machine = {"after_epoch": 0, **describe_machine(torch.device("cpu"))}
    assert record["device"] == "cpu"
    assert [machines[0] for machines in record["machines"].values()] == [machine, machine]
    inputs = record["inputs"]
    quadruples = [f"quadruples {split}" for split in ("train", "dev", "test")]
    names = ["corpus", "vectors", "prototypes", *quadruples]
    assert sorted(inputs) == sorted(f"{name}, seed {seed}" for name in names for seed in (0, 5))
    assert inputs["quadruples dev, seed 5"] == sha256(files[5].quadruples["dev"])
    assert record["scores"] == sha256(folder / "scores.parquet")


# Cells that are trained


@pytest.mark.parametrize(("types", "p"), [(COMB, 3), (None, 1)])
def test_training_a_cell_writes_its_scores_metrics_and_history(
    run, write_cell_files, tmp_path, corpus, types, p
):
    files = {seed: write_cell_files(tmp_path, seed, types=types, p=p) for seed in (0, 5)}
    tables = tables_of(run(f"p{p}", trained_system(p=p, max_epochs=1), files, types=types))
    assert set(tables) == set(TABLES)
    assert all(set(table["seed"]) == {0, 5} for table in tables.values())
    pairs = {split: select_subset(corpus, split, types) for split in ("dev", "test")}
    ranked = [name for frame in pairs.values() for name in frame["candidate_id"]]
    assert tables["scores"]["candidate_id"].tolist() == 2 * ranked
    answers = corpus.groupby(["split", "question_id"])["label"].any()
    expected = []
    for seed, split in product(("0", "5"), pairs):
        groups = pairs[split].groupby(["question_id", "question_type"], observed=True)
        for question, labels in groups["label"]:
            # A question whose candidates are all correct has no mean score of wrong ones.
            names = [*RANKED, *ABOUT_ITEMS, *(OF_SCORES if labels.nunique() == 2 else ())]
            expected += [(seed, split, *question, name) for name in names]
        unanswerable = answers[split][~answers[split]].index if types is None else ()
        official = ("map_official", "mrr_official", "p_at_1_official")
        expected += [(seed, split, *row) for row in product(unanswerable, [NO_TYPE], official)]
    rows = tables["metrics"].astype(str)[["seed", "split", "item", "group", "measure"]]
    assert sorted(map(tuple, rows.to_numpy())) == sorted(expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_seeds_in_parallel_give_the_same_bytes(run, first, tmp_path, threads):
    reported = []

    def on_epoch(history):
        reported.append((*history[-1][:2], len(history)))

    options = {"threads": threads, "checkpoints": tmp_path, "on_epoch": on_epoch}
    assert_same(first, run(f"with {threads} threads", options=options))
    names = {path.name for path in (first.parent / "checkpoints").iterdir()}
    assert {path.name for path in tmp_path.iterdir()} <= names
    rows = len(RANKED) + 3  # plus the constant loss in the first epoch
    expected = [(seed, epoch, epoch * rows + 1) for seed in (0, 5) for epoch in (1, 2)]
    assert sorted(reported) == expected


def test_an_encoder_starts_from_the_weights_of_another_system(run, first, files, monkeypatch):
    """The other system is trained to rank the pairs of all questions."""
    listwise = SYSTEM.training.model_copy(update={"loss": "listwise"})
    pair_system = untrained_system("cosine", "bigru").model_copy(update={"training": listwise})
    system = SYSTEM.model_copy(update={"starts_from": pair_system})
    started = run("started", system)
    first_losses = [tables_of(folder)["history"]["value"].iloc[0] for folder in (started, first)]
    assert first_losses[0] != first_losses[1]
    start = run_system(record_of(started))["starts_from"]
    assert start["training"]["loss"] == "listwise"
    # It starts from the training run of that system's cell, which is not repeated.
    monkeypatch.setattr(learner, "encode", None)
    bare = {seed: tables.without_prototypes() for seed, tables in files.items()}
    cell = CELL._replace(subset="all")
    first_folder = run("pairs", pair_system, bare, cell=cell, types=None)
    assert set(tables_of(first_folder)["history"]["seed"]) == {0, 5}
    # A finished training run no longer needs its first weights.
    job = toy_job(pair_system, bare, None, cell)
    for seed, tables in bare.items():
        path = train.checkpoint_path(job, seed, table_hashes(tables), first.parent / "checkpoints")
        path.unlink()
    assert_same(started, run("started again", system))


@pytest.mark.parametrize(
    "changed",
    [
        {"cell": CELL._replace(overrides=(("hyperparameters", "tuned"),)),
         "hyperparameters": "tuned"},
        {"cell": CELL._replace(subset="mine")},  # another name for the same question types
        {"sources": SOURCES | {"entities": "some_model"}},
    ],
)  # fmt: skip
def test_a_training_run_is_not_repeated_under_another_name_or_on_another_device(
    run, first, monkeypatch, changed
):
    """The device is not part of the checkpoint's name, but of its state."""
    monkeypatch.setattr(learner, "encode", None)
    monkeypatch.setattr(torch, "__version__", f"{torch.__version__.partition('+')[0]}+cu130")
    monkeypatch.setattr(devices, "describe_machine", lambda *arguments: {"device": "cuda"})
    second = run("under another name", **changed)
    assert_same(first, second, same_record=False)
    assert (first / "history.parquet").read_bytes() == (second / "history.parquet").read_bytes()
    last = [machines[-1] for machines in record_of(second)["machines"].values()]
    assert last == [{"after_epoch": 2, "device": "cuda"}] * 2


@pytest.mark.parametrize(
    "changed", [{"system": trained_system(dropout=0.0, max_epochs=2)}, {"types": COMB[::-1]}, {}]
)
def test_changed_settings_types_or_code_get_other_checkpoints(first, files, monkeypatch, changed):
    def checkpoint(**values):
        job = toy_job(**{"system": SYSTEM, "files": files} | values)
        return train.checkpoint_path(job, 0, table_hashes(files[0]), first.parent / "checkpoints")

    assert checkpoint().exists()
    if not changed:
        monkeypatch.setattr(train, "code_hash", lambda *modules, without: "other code")
    assert not checkpoint(**changed).exists()


def test_the_checkpoint_of_a_system_without_prototypes_does_not_depend_on_their_number(tmp_path):
    jobs = [toy_job(trained_system("cosine", loss="mix", p=p), {}) for p in (3, 30)]
    assert len({train.checkpoint_path(job, 0, {}, tmp_path) for job in jobs}) == 1


def test_a_failed_training_run_does_not_change_an_earlier_one(run, first, files):
    before = {path.name: path.read_bytes() for path in first.iterdir()}
    broken = {0: files[0]._replace(prototypes="none.parquet")}
    with pytest.raises((AnalogyQAError, OSError), match=r"none\.parquet"):
        run("first", files=broken)
    assert {path.name: path.read_bytes() for path in first.iterdir()} == before


# Cells that are not trained


def test_an_untrained_cell_has_no_history(score):
    folder = score(untrained_system())
    files = {path.name for path in folder.iterdir()}
    assert files == {"metrics.parquet", "run.json", "scores.parquet"}
    record = record_of(folder)
    system = run_system(record)
    assert ("training" in system, system["p"], record["hyperparameters"]) == (False, 3, None)
    assert set(tables_of(folder)["scores"]["seed"]) == {0, 5}


@pytest.fixture
def corpus_only(files, tmp_path, corpus):
    """The tables of a cell that reads only the corpus."""
    path = tmp_path / "corpus.parquet"
    write_table(corpus, CORPUS, path)
    unused = {"vectors": None, "prototypes": None, "quadruples": {}}
    return {seed: tables._replace(corpus=str(path), **unused) for seed, tables in files.items()}


@pytest.mark.parametrize(
    ("values", "distinct"),
    [({"encoder": "random", "ranker": "cosine"}, 2), ({"ranker": "bm25"}, 1)],
)
@pytest.mark.parametrize("types", [COMB, None])
def test_a_system_without_prototypes_needs_only_the_corpus(
    score, corpus_only, corpus, values, distinct, types
):
    folder = score(System(title="R", **values), corpus_only, types)
    record = record_of(folder)
    assert sorted(record["inputs"]) == ["corpus, seed 0", "corpus, seed 5"]
    system = run_system(record)
    assert (record["stores"], "p" in system) == ({}, False)
    assert system["ranker"] == {"name": values["ranker"]}
    scores = tables_of(folder)["scores"]
    assert len({tuple(rows["score"]) for _, rows in scores.groupby("seed")}) == distinct
    ranked = [select_subset(corpus, split, types)["candidate_id"] for split in ("dev", "test")]
    assert set(scores["candidate_id"]) == set(pd.concat(ranked))


def test_the_record_names_the_sentence_vectors_and_their_origin(score, files, corpus, tmp_path):
    sentences = ranked_sentences(corpus, typed_only=True)
    vectors = np.random.default_rng(0).normal(size=(len(sentences), 4)).astype(np.float32)
    path = str(tmp_path / "sentence_vectors" / "means.npy")
    write_store(vectors, np.ones(len(sentences), bool), sentences, "an encoder", path)
    stored = {
        seed: tables.without_prototypes()._replace(vectors=None, sentence_vectors=path)
        for seed, tables in files.items()
    }
    record = record_of(score(System(title="S", sentence_vectors="means", ranker="cosine"), stored))
    assert record["stores"] == {"sentence_vectors": {"name": "means", "origin": "an encoder"}}
    assert record["inputs"]["sentence vectors, seed 5"] == sha256(path)


def test_bm25_names_a_split_without_questions_of_its_subset(score, corpus_only, corpus, tmp_path):
    is_removed = (corpus["split"] == "dev") & corpus["question_type"].notna()
    write_table(corpus[~is_removed], CORPUS, corpus_only[0].corpus)
    message = "no question of type who or when or where in the dev split has a"
    with pytest.raises(AnalogyQAError, match=message):
        score(System(title="B", ranker="bm25"), corpus_only)
    assert not (tmp_path / "a").exists()


# The choice of hyperparameters


@pytest.fixture
def history(tmp_path):
    """Write a history with the dev MRR of each seed's epochs; the MAP is 1 minus the MRR."""

    def history(name, *by_seed):
        rows = [
            (seed, epoch, measure, value)
            for seed, values in enumerate(by_seed)
            for epoch, mrr in enumerate(values, start=1)
            for measure, value in {"loss": 1.0, "dev_mrr": mrr, "dev_map": 1 - mrr}.items()
        ]
        write_table(pd.DataFrame(rows, columns=HISTORY.names), HISTORY, tmp_path / name)
        return str(tmp_path / name)

    return history


CLOSE = {"paper": ([0.1, 0.9, 0.2], [0.1]), "hinge": ([0.6], [0.2, 0.6]), "other": ([0.6], [0.6])}
UNEQUAL = {"paper": ([0.5], [0.3], [0.9]), "hinge": ([0.4], [0.6])}


@pytest.mark.parametrize(
    ("curves", "measure", "chosen", "dev"),
    [
        # The first of equal means wins.
        (CLOSE, "mrr", "hinge", {"paper": 0.5, "hinge": 0.6, "other": 0.6}),
        (CLOSE, "map", "paper", {"paper": 0.9, "hinge": 0.6, "other": 0.4}),
        # Only seeds that all choices share are counted.
        (UNEQUAL, "mrr", "hinge", {"paper": 0.4, "hinge": 0.5}),
    ],
)
def test_the_hyperparameters_with_the_best_mean_over_seeds_are_chosen(
    history, tmp_path, curves, measure, chosen, dev
):
    histories = {name: history(name, *by_seed) for name, by_seed in curves.items()}
    choose_hyperparameters(histories, measure, "comb", tmp_path / "choice.json")
    assert read_tuned(tmp_path / "choice.json") == chosen
    record = json.loads((tmp_path / "choice.json").read_text())
    assert record["dev"] == pytest.approx(dev)
    assert (record["measure"], record["subset"]) == (measure, "comb")


def test_a_new_or_changed_measure_is_taken_from_the_scores(
    run, first, files, tmp_path, monkeypatch
):
    results = tmp_path / "results"
    folder = results / "runs" / CELL.path
    shutil.copytree(first, folder)
    (results / "corpora").mkdir()
    shutil.copyfile(files[0].corpus, results / "corpora" / f"{CELL.corpus}.parquet")
    path = folder / "metrics.parquet"
    stored, before = read_table(path, METRICS), path.read_bytes()
    assert read_metrics(path).equals(stored)
    monkeypatch.setitem(RANKED, "p_at_2", RankedMeasure("Precision at 2", "P@2", P @ 2))
    monkeypatch.setitem(RANKED, "mrr", RankedMeasure("Not MRR", "N", P @ 2))
    read = read_metrics(path).astype({"measure": str})
    new, changed = (read.loc[read["measure"] == name, "value"] for name in ("p_at_2", "mrr"))
    assert len(new) and set(new) <= {0, 0.5, 1} and new.tolist() == changed.tolist()
    kept = read[~read["measure"].isin(["p_at_2", "mrr"])]
    others = stored[stored["measure"].astype(str) != "mrr"]
    assert kept["value"].tolist() == others["value"].tolist()
    assert path.read_bytes() == before
