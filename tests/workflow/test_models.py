"""Every kind of system runs, and unavailable systems are left out with their reason."""

import csv
import json

import pytest

from analogyqa.examples.data import ranked_sentences
from analogyqa.runs.depends_on import sha256
from analogyqa.schemas import CORPUS, SCORES, read_table
from analogyqa.vectors.store import read_store

pytestmark = pytest.mark.workflow

SYSTEMS = ("infersent", "infersent-cosine", "sent2vec-cosine", "sif", "bm25", "tam")
STORES = ("infersent2", "infersent-nli", "sent2vec-words", "sif")


def read_json(path):
    return json.loads(path.read_text("utf-8"))


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run_of(project, system):
    return project.results / "runs" / system / "wikiqa" / "comb" / "default"


def settings_of(project, system):
    return read_json(run_of(project, system) / "run.json")["settings"]


def corpus_of(project):
    return read_table(project.results / "corpora" / "wikiqa.parquet", CORPUS)


# Sentence vectors, rewritten questions and BM25


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_typed_candidate_of_dev_and_test_is_scored_for_each_seed(finished, system):
    corpus = corpus_of(finished)
    expected = corpus[corpus["question_type"].notna() & (corpus["split"] != "train")]
    scores = read_table(run_of(finished, system) / "scores.parquet", SCORES)
    for seed in (0, 1):
        own = scores.loc[scores["seed"] == seed, "candidate_id"]
        assert sorted(own) == sorted(expected["candidate_id"])


@pytest.mark.parametrize("store", STORES)
def test_the_sentences_that_are_ranked_are_encoded_once(finished, store):
    path = finished.results / "sentence_vectors" / "wikiqa" / f"{store}.npy"
    vectors, rows = read_store(path)
    assert list(rows) == ranked_sentences(corpus_of(finished), typed_only=True)
    assert vectors.any(axis=1).all()


def test_weights_placed_by_hand_are_used_and_named(finished):
    assert settings_of(finished, "infersent")["sentence_vectors"] == {
        "name": "infersent2",
        "origin": "infersent infersent2, vectors data/words.vec",
    }
    source = finished.folder / "resources" / "models" / "infersent2.pkl.source.json"
    assert read_json(source)["origin"] == "drop-in"


def test_weights_that_were_trained_here_say_on_what(finished):
    assert settings_of(finished, "infersent-cosine")["sentence_vectors"] == {
        "name": "infersent-nli",
        "origin": "infersent, trained here on data/nli.txt (4 per direction), "
        "vectors data/words.vec",
    }
    record = read_json(finished.results / "sentence_vectors" / "trained" / "infersent-nli.json")
    assert record["pairs"] == {"train": 60, "dev": 60}


def test_a_file_of_word_vectors_can_replace_a_sent2vec_model(finished):
    assert settings_of(finished, "sent2vec-cosine")["sentence_vectors"] == {
        "name": "sent2vec-words",
        "origin": "sent2vec data/words.vec",
    }


def test_tam_runs_on_the_rewritten_questions(finished):
    rewritten = finished.results / "rewritten" / "wikiqa" / "entity.parquet"
    inputs = read_json(run_of(finished, "tam") / "run.json")["inputs"]
    assert inputs["corpus, seed 0"] == inputs["corpus, seed 1"] == sha256(rewritten)
    assert settings_of(finished, "tam")["sources"]["entities"] == "entities.jsonl"


# What is not available


@pytest.mark.parametrize(
    ("row", "file"),
    [
        ("Word2Vec", "vectors/enwiki-105m-300d.word2vec.vec.gz"),
        ("Sent2Vec", "models/wiki_unigrams.bin"),
    ],
)
def test_a_row_that_was_not_run_names_the_file_to_drop_in(finished, row, file):
    ledger = read_csv(finished.results / "ledger.csv")
    own = [each for each in ledger if each["artefact"] == "table3" and each["row"] == row]
    of_wikiqa = [each for each in own if each["column"].startswith("WikiQA")]
    assert of_wikiqa
    for each in of_wikiqa:
        assert each["mean"] == ""
        assert each["verdict"] == "not run"
        assert f"put {file}" in each["reason"]


def test_the_other_rows_are_run_without_it(finished):
    ledger = read_csv(finished.results / "ledger.csv")
    of_wikiqa = [
        each
        for each in ledger
        if each["artefact"] == "table3" and each["column"].startswith("WikiQA")
    ]
    run = {each["row"] for each in of_wikiqa if each["mean"]}
    assert run == {"InferSent", "This work"}


def test_without_a_model_of_entities_only_rewriting_systems_are_left_out(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    project.configure(named_entities={"model": "models/none.jsonl"})
    done = project.run("results/ledger.csv")
    assert done.returncode == 0, done.stdout
    ledger = read_csv(project.results / "ledger.csv")
    of_who = [each for each in ledger if each["artefact"] == "table4" and each["row"] == "Who"]
    for each in of_who:
        left_out = each["column"] == "Tam et al."
        assert bool(each["mean"]) != left_out
        assert ("models/none.jsonl" in each["reason"]) == left_out
    assert {each["column"] for each in of_who} == {"Baseline", "Tam et al.", "Analogy"}


def test_a_file_that_is_dropped_in_later_is_found(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    weights = project.folder / "resources" / "models" / "wiki_unigrams.bin"
    weights.write_bytes(b"looked at when it is read")
    jobs = project.jobs()
    assert ("encode_sentences", "results/sentence_vectors/wikiqa/sent2vec.npy") in jobs
    assert ("score_candidates", "results/runs/sent2vec/wikiqa/comb/default/scores.parquet") in jobs


# Claims


def test_a_claim_between_systems_that_were_run_has_a_p_value(finished):
    claims = read_csv(finished.results / "claims.csv")
    overall = [claim for claim in claims if claim["claim"] == "overall-wikiqa"]
    assert [claim["hyperparameters"] for claim in overall] == ["paper", "tuned"]
    for claim in overall:
        assert 0 <= float(claim["p_value"]) <= 1
        assert claim["verdict"] in ("holds", "fails", "undecided")


def test_every_claim_of_the_papers_has_a_verdict(finished):
    claims = read_csv(finished.results / "claims.csv")
    assert {claim["paper"] for claim in claims} == {"diallo2019"}
    for claim in claims:
        assert claim["verdict"] in ("holds", "fails", "undecided", "not run")
        # A claim on systems that did not learn is undecided, and says so, too.
        assert claim["reason"] or claim["verdict"] != "not run"
        assert not claim["reason"] or claim["verdict"] in ("undecided", "not run")


def test_a_comparison_is_of_cells_that_have_metrics(finished):
    comparisons = read_csv(finished.results / "comparisons.csv")
    assert comparisons
    for comparison in comparisons:
        for side in ("better", "worse"):
            cell = comparison[side].split()[0]
            assert (finished.results / "runs" / cell / "metrics.parquet").is_file()
