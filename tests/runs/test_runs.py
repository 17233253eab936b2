"""The record of a run, and the choice of hyperparameters on dev."""

import json
import platform
from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch

from analogyqa.corpora.question_types import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.examples.data import ranked_sentences
from analogyqa.measures import ABOUT_ITEMS, NO_TYPE, OF_SCORES, RANKED
from analogyqa.plan import Cell
from analogyqa.runs import score as score_module
from analogyqa.runs import train
from analogyqa.runs.choose import choose_hyperparameters, read_tuned
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import run_record
from analogyqa.runs.score import score_cell
from analogyqa.runs.train import train_cell
from analogyqa.schemas import CORPUS, HISTORY, METRICS, SCORES, read_table, write_table
from analogyqa.settings.systems import System
from analogyqa.training import devices, learner
from analogyqa.training.devices import describe_machine
from analogyqa.vectors.store import write_store

COMB = ["who", "when", "where"]
SOURCES = {"train": "toy-train", "dev": "toy-dev", "test": "toy-test"}
TABLES = {"scores": SCORES, "metrics": METRICS, "history": HISTORY}


def cell_of(subset="comb", **overrides):
    return Cell("analogy", "toy", subset, tuple(overrides.items()))


def trained(p=3, **training):
    settings = {"sentence_dim": 4, "max_epochs": 2, **training}
    words = {"encoder": "bigru", "vectors": "some"}
    return System(title="A", **words, ranker="analogy", p=p, training=settings)


@pytest.fixture
def files(cell_files):
    return {seed: cell_files(seed) for seed in (0, 5)}


@pytest.fixture
def run(files, tmp_path):
    """Train a cell into a folder; keyword arguments replace the defaults."""

    def run(name, **changed):
        arguments = {
            "cell": cell_of(),
            "types": COMB,
            "system": trained(),
            "hyperparameters": "paper",
            "files": files,
            "sources": SOURCES,
            "lowercase": True,
            "device": "cpu",
            "checkpoints": tmp_path / "checkpoints",
            "folder": tmp_path / name,
        }
        train_cell(**arguments | changed)
        return tmp_path / name

    return run


@pytest.fixture
def score(files, tmp_path):
    """Score a cell of a system into the folder `a`."""

    def score(system, files=files, types=COMB):
        score_cell(cell_of(), types, system, files, SOURCES, True, tmp_path / "a")
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


def test_a_record_differs_with_the_scores_and_not_with_the_machine(tmp_path):
    def hash_of(scores, **more):
        (tmp_path / "scores").write_bytes(scores)
        return run_record({}, {}, [0], {}, tmp_path / "scores", **more)["content_hash"]

    assert hash_of(b"a", device="cpu") == hash_of(b"a", device="cuda")
    assert hash_of(b"a") != hash_of(b"b")


def test_a_record_names_versions_platform_and_slurm_job(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    (tmp_path / "scores").touch()
    record = run_record({}, {}, [0], {}, tmp_path / "scores", device="cpu")
    assert record["versions"]["python"] == platform.python_version()
    assert {"torch", "numpy", "fasttext"} <= set(record["versions"])
    assert record["peak_memory_mb"] > 0
    assert (record["device"], record["slurm_job"]) == ("cpu", "17")


# Cells


@pytest.mark.parametrize(("types", "p"), [(COMB, 3), (None, 1)])
def test_training_a_cell_writes_three_tables_of_its_questions(run, cell_files, corpus, types, p):
    files = {seed: cell_files(seed, types=types, p=p) for seed in (0, 5)}
    folder = run("a", types=types, files=files, system=trained(p))
    tables = tables_of(folder)
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
        if types is None:
            unanswerable = answers[split][~answers[split]].index
            official = product(
                unanswerable, [NO_TYPE], ("map_official", "mrr_official", "p_at_1_official")
            )
            expected += [(seed, split, *row) for row in official]
    rows = tables["metrics"].astype(str)[["seed", "split", "item", "group", "measure"]]
    assert sorted(map(tuple, rows.to_numpy())) == sorted(expected)


def test_the_record_has_cell_seeds_settings_and_machine(run):
    record = record_of(run("a", cell=cell_of(dropout="0.5", p="3")))
    overrides = {"dropout": "0.5", "p": "3"}
    names = {"system": "analogy", "dataset": "toy", "subset": "comb"}
    assert record["cell"] == {**names, "overrides": overrides}
    assert Cell.from_record(record["cell"]) == cell_of(**overrides)
    assert record["seeds"] == [0, 5]
    settings = record["settings"]
    assert (settings["training"]["sentence_dim"], settings["p"]) == (4, 3)
    ranker, encoder = settings["system"]["ranker"]["name"], settings["system"]["encoder"]
    assert (ranker, encoder) == ("analogy", "bigru")
    assert settings["hyperparameters"] == "paper"
    assert settings["vectors"] == {"name": "vectors", "origin": "toy"}
    assert settings["sentence_vectors"] is None
    assert record["device"] == "cpu"
    machine = {"after_epoch": 0, **describe_machine(torch.device("cpu"))}
    assert record["machines"] == {"0": [machine], "5": [machine]}


def test_a_training_run_is_not_repeated_on_another_device(run, monkeypatch):
    """The device is not part of the checkpoint's name, but of its state."""
    monkeypatch.setattr(torch, "__version__", "2.13.0+cpu")
    first = run("a")
    monkeypatch.setattr(devices, "describe_machine", lambda device: {"device": "cuda"})
    monkeypatch.setattr(torch, "__version__", "2.13.0+cu130")
    second = run("b")
    assert tables_of(first)["history"].equals(tables_of(second)["history"])
    last = [machines[-1] for machines in record_of(second)["machines"].values()]
    assert last == [{"after_epoch": 2, "device": "cuda"}] * 2


def test_the_record_names_every_input_with_its_hash(run, files):
    folder = run("a")
    inputs = record_of(folder)["inputs"]
    quadruples = [f"quadruples {split}" for split in ("train", "dev", "test")]
    names = ["corpus", "vectors", "prototypes", *quadruples]
    assert sorted(inputs) == sorted(f"{name}, seed {seed}" for name in names for seed in (0, 5))
    assert inputs["quadruples dev, seed 5"] == sha256(files[5].quadruples["dev"])
    assert record_of(folder)["scores"] == sha256(folder / "scores.parquet")


@pytest.mark.parametrize("threads", [1, 2])
def test_seeds_in_parallel_give_the_same_bytes(run, tmp_path, threads):
    reported = {"a": [], "b": []}

    def reports_to(name):
        return lambda history: reported[name].append((*history[-1][:2], len(history)))

    first = run("a", on_epoch=reports_to("a"))
    others = {"threads": threads, "checkpoints": tmp_path / "others"}
    second = run("b", on_epoch=reports_to("b"), **others)
    assert_same(first, second)
    names = {path.name for path in (tmp_path / "checkpoints").iterdir()}
    assert {path.name for path in (tmp_path / "others").iterdir()} == names
    rows = len(RANKED) + 3  # and the loss of a constant in the first epoch
    expected = [(seed, epoch, epoch * rows + 1) for seed in (0, 5) for epoch in (1, 2)]
    assert sorted(reported["a"]) == sorted(reported["b"]) == expected


def starting(**training):
    """A system that starts from one that ranks all questions by their pairs."""
    system = trained(**training)
    training = system.training.model_copy(update={"loss": "listwise"})
    pairs = System(title="A", encoder="bigru", vectors="some", ranker="cosine", p=system.p)
    pairs = pairs.model_copy(update={"training": training})
    return system.model_copy(update={"starts_from": pairs})


def test_an_encoder_starts_from_the_weights_of_another_system(run, files, monkeypatch):
    system = starting()
    folders = run("a", system=system), run("b")
    first_losses = [tables_of(folder)["history"]["value"].iloc[0] for folder in folders]
    assert first_losses[0] != first_losses[1]
    first = record_of(folders[0])["settings"]["system"]["starts_from"]
    assert first["training"]["loss"] == "listwise"
    # It starts from the training run of that system's cell, which is not repeated.
    monkeypatch.setattr(learner, "encode", None)
    pairs = {seed: tables.without_prototypes() for seed, tables in files.items()}
    whole = {"cell": cell_of("all"), "types": None, "system": system.starts_from, "files": pairs}
    assert set(tables_of(run("c", **whole))["history"]["seed"]) == {0, 5}


def test_a_finished_training_run_no_longer_needs_its_first_weights(
    run, files, tmp_path, monkeypatch
):
    system = starting()
    first = run("a", system=system)
    for seed, tables in files.items():
        hashes = train.table_hashes(tables.without_prototypes())
        path = tmp_path / "checkpoints"
        train.checkpoint_path(path, None, system.starts_from, seed, hashes, True).unlink()
    monkeypatch.setattr(learner, "encode", None)
    assert_same(first, run("b", system=system))


@pytest.mark.parametrize(
    "changed",
    [
        {"cell": cell_of(hyperparameters="tuned"), "hyperparameters": "tuned"},
        {"cell": cell_of(subset="mine")},  # another name for the same question types
    ],
)
def test_a_training_run_is_not_repeated_under_another_name(run, monkeypatch, changed):
    first = run("a")
    monkeypatch.setattr(learner, "encode", None)
    second = run("b", **changed)
    assert_same(first, second, same_record=False)
    assert (first / "history.parquet").read_bytes() == (second / "history.parquet").read_bytes()


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"system": trained(dropout=0.0)}, None),
        ({"types": COMB[::-1]}, None),
        ({}, "other code"),
    ],
)
def test_changed_settings_types_or_code_get_other_checkpoints(
    run, tmp_path, monkeypatch, changed, code
):
    before = {path.name for path in (run("a").parent / "checkpoints").glob("*.pt")}
    if code:
        monkeypatch.setattr(train, "code_hash", lambda *modules: code)
    run("b", **changed)
    after = {path.name for path in (tmp_path / "checkpoints").glob("*.pt")}
    assert (len(before), len(after - before)) == (2, 2)


def test_an_untrained_cell_has_no_history(score):
    system = System(title="M", encoder="mean", vectors="some", ranker="analogy", p=3)
    folder = score(system)
    files = {path.name for path in folder.iterdir()}
    assert files == {"metrics.parquet", "run.json", "scores.parquet"}
    record = record_of(folder)
    assert (record["settings"]["training"], record["settings"]["p"]) == (None, 3)
    assert record["seeds"] == [0, 5]
    assert set(tables_of(folder)["scores"]["seed"]) == {0, 5}


@pytest.fixture
def corpus_only(files):
    """The tables of a cell that reads only the corpus."""
    unused = {"vectors": None, "prototypes": None, "quadruples": {}}
    return {seed: tables._replace(**unused) for seed, tables in files.items()}


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
    settings = record["settings"]
    assert (settings["vectors"], settings["p"]) == (None, None)
    assert settings["system"]["ranker"] == {"name": values["ranker"]}
    scores = tables_of(folder)["scores"]
    assert len({tuple(rows["score"]) for _, rows in scores.groupby("seed")}) == distinct
    ranked = [select_subset(corpus, split, types)["candidate_id"] for split in ("dev", "test")]
    assert set(scores["candidate_id"]) == set(pd.concat(ranked))


def test_a_system_without_random_numbers_is_scored_once_for_all_seeds(score, files, monkeypatch):
    seeds = []
    scored = score_module.score_untrained

    def recording(data, system, seed):
        seeds.append(seed)
        return scored(data, system, seed)

    monkeypatch.setattr(score_module, "score_untrained", recording)
    bare = {seed: tables.without_prototypes() for seed, tables in files.items()}
    mean = System(title="M", encoder="mean", vectors="some", ranker="cosine")
    table = tables_of(score(mean, bare))["scores"]
    first, second = (table[table["seed"] == seed]["score"].tolist() for seed in files)
    assert (seeds, first) == ([0], second)
    score(System(title="R", encoder="random", ranker="cosine"), bare)
    assert seeds == [0, 0, 5]


@pytest.mark.parametrize(("types", "p"), [(COMB, 3), (None, 1)])
def test_the_record_names_the_sentence_vectors_and_their_origin(
    score, cell_files, corpus, tmp_path, types, p
):
    sentences = ranked_sentences(corpus, typed_only=types is not None)
    vectors = np.random.default_rng(0).normal(size=(len(sentences), 4)).astype(np.float32)
    path = str(tmp_path / "sentence_vectors" / "means.npy")
    write_store(vectors, np.ones(len(sentences), bool), sentences, "an encoder", path)
    files = {seed: cell_files(seed, types=types, p=p) for seed in (0, 5)}
    for seed, tables in files.items():
        del tables.quadruples["train"]
        files[seed] = tables._replace(vectors=None, sentence_vectors=path)
    stored = System(title="S", sentence_vectors="means", ranker="analogy", p=p)
    folder = score(stored, files, types)
    record = record_of(folder)
    assert record["settings"]["sentence_vectors"] == {"name": "means", "origin": "an encoder"}
    assert record["settings"]["vectors"] is None
    assert record["inputs"]["sentence vectors, seed 5"] == sha256(path)
    assert set(tables_of(folder)["scores"]["seed"]) == {0, 5}


def test_the_record_names_the_model_of_the_entities(run):
    sources = SOURCES | {"entities": "some_model"}
    first, second = run("a"), run("b", sources=sources)
    assert record_of(second)["settings"]["sources"] == sources
    assert record_of(first)["content_hash"] != record_of(second)["content_hash"]


@pytest.mark.parametrize("split", ["dev", "test"])
def test_bm25_names_a_split_without_questions_of_its_subset(
    score, corpus_only, corpus, tmp_path, split
):
    gone = (corpus["split"] == split) & corpus["question_type"].notna()
    for files in corpus_only.values():
        write_table(corpus[~gone], CORPUS, files.corpus)
    message = rf"no question of type who or when or where in the {split} split has a"
    with pytest.raises(AnalogyQAError, match=message):
        score(System(title="B", ranker="bm25"), corpus_only)
    assert not (tmp_path / "a").exists()


def test_a_failed_training_run_does_not_change_an_earlier_one(run, files):
    folder = run("a")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    broken = {0: files[0]._replace(prototypes="none.parquet")}
    with pytest.raises((AnalogyQAError, OSError), match=r"none\.parquet"):
        run("a", files=broken)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# The choice


@pytest.fixture
def history(tmp_path):
    """Write a history with the dev MRR of each seed's epochs; the MAP is 1 minus the MRR."""

    def history(name, *by_seed):
        rows = [
            (seed, epoch, *value)
            for seed, values in enumerate(by_seed)
            for epoch, mrr in enumerate(values, start=1)
            for value in (("loss", 1.0), ("dev_mrr", mrr), ("dev_map", 1 - mrr), ("seconds", 9.0))
        ]
        write_table(pd.DataFrame(rows, columns=HISTORY.names), HISTORY, tmp_path / name)
        return str(tmp_path / name)

    return history


@pytest.mark.parametrize(
    ("measure", "chosen", "dev"),
    [
        ("mrr", "hinge", {"paper": 0.5, "hinge": 0.6, "other": 0.5}),
        ("map", "paper", {"paper": 0.9, "hinge": 0.6, "other": 0.5}),
    ],
)
def test_the_hyperparameters_with_the_best_mean_over_seeds_are_chosen(
    history, tmp_path, measure, chosen, dev
):
    histories = {
        "paper": history("a", [0.1, 0.9, 0.2], [0.1]),
        "hinge": history("b", [0.6], [0.2, 0.6]),
        "other": history("c", [0.5], [0.5]),
    }
    choose_hyperparameters(histories, measure, "comb", tmp_path / "choice.json")
    assert read_tuned(tmp_path / "choice.json") == chosen
    record = json.loads((tmp_path / "choice.json").read_text())
    assert record["dev"] == pytest.approx(dev)
    assert (record["measure"], record["subset"]) == (measure, "comb")


def test_the_first_of_equal_hyperparameters_is_chosen(history, tmp_path):
    equal = history("a", [0.5])
    choose_hyperparameters({"z": equal, "a": equal}, "mrr", "comb", tmp_path / "choice.json")
    assert read_tuned(tmp_path / "choice.json") == "z"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tuned"'])
def test_a_damaged_record_of_the_choice_is_named(tmp_path, text):
    (tmp_path / "choice.json").write_text(text)
    with pytest.raises(AnalogyQAError, match=r"choice\.json: not a record of tuned"):
        read_tuned(tmp_path / "choice.json")
