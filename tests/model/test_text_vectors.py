"""A run over the vectors of a local model ranks texts that it has not seen."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from analogyqa.cli import app
from analogyqa.errors import AnalogyQAError
from analogyqa.model import Model
from analogyqa.model.learned import require_new_texts
from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.pretrained.specs import PRETRAINED
from analogyqa.schemas import CORPUS, SCORES, read_table, write_table
from analogyqa.settings.systems import System
from analogyqa.vectors import unit
from analogyqa.vectors.store import read_store
from builders import tiny
from builders.cells import COMB, QUESTION_TYPES
from builders.encoded import LONGEST, MINE, run_encoded

QUESTION = "who likes rome ?"
NEW = ["bruno likes anna", "thing likes oslo", "thing 1 likes rome"]  # the run has seen the last
LONG = " ".join(["anna likes"] * LONGEST)


@pytest.fixture
def run(tmp_path, cell_files):
    """Run a system over the vectors of the model in the folder `model`."""

    def run(encoder="sentence_transformers", ranker="analogy"):
        run_encoded(tmp_path / "results", cell_files(), encoder, ranker)
        return tmp_path / "results"

    return run


def read_scores(results):
    return read_table(results / "runs" / MINE.path / "scores.parquet", SCORES)


@pytest.mark.parametrize("encoder", ["sentence_transformers", "hugging_face"])
@pytest.mark.parametrize("ranker", ["analogy", "cosine", "mapped"])
def test_the_corpus_gets_the_scores_of_the_run_byte_by_byte(run, tmp_path, encoder, ranker):
    results = run(encoder, ranker)
    model = Model.load(results, MINE.path)
    corpus = read_table(results / "corpora" / "corpus.parquet", CORPUS)
    write_table(model.score_splits(corpus), SCORES, tmp_path / "scores.parquet")
    expected = (results / "runs" / MINE.path / "scores.parquet").read_bytes()
    assert (tmp_path / "scores.parquet").read_bytes() == expected
    question = corpus[corpus["split"] == "test"].iloc[0]["question_id"]
    explanation = model.explain_question(question)
    scores = read_scores(results)
    by_id = scores.set_index(scores["candidate_id"].astype(str))["score"]
    for candidate in explanation.candidates:
        assert candidate.score == pytest.approx(by_id[candidate.candidate_id], abs=1e-6)


@pytest.mark.parametrize("encoder", ["sentence_transformers", "hugging_face"])
def test_new_texts_have_the_vectors_of_the_encoder(run, tmp_path, encoder):
    loaded = Model.load(run(encoder, "cosine"), MINE.path)
    options = {"pooling": "avg", "special_tokens": "left_out"}
    resources = Resources(str(tmp_path / "model"), "", [], True, options)
    vectors = encode_sentences(encoder, [QUESTION, *NEW], resources)
    np.testing.assert_allclose(loaded.encode([QUESTION, *NEW]), vectors, atol=1e-6)
    question, *candidates = unit(vectors)
    ranked = loaded.rank(QUESTION, NEW).set_index("candidate")
    expected = dict(zip(NEW, np.array(candidates) @ question, strict=True))
    assert ranked["score"].to_dict() == pytest.approx(expected, abs=1e-6)
    assert not ranked["unknown"].any() and not ranked["unread"].any()


def test_the_command_ranks_and_says_what_is_not_read(run):
    arguments = ["rank", "--results", str(run()), "--run", MINE.path, "--question", QUESTION]

    def rank(*options):
        texts = "\n".join([*NEW, LONG])
        done = CliRunner().invoke(app, [*arguments, "--candidates", "-", *options], texts)
        assert done.exit_code == 0, done.output
        return done.output

    ranked = json.loads(rank("--json"))
    unread = {row["candidate"]: row["unread"] for row in ranked}
    too_many = 2 * LONGEST + 2 - LONGEST  # with [CLS] and [SEP]
    assert unread == {**dict.fromkeys(NEW, 0), LONG: too_many}
    assert all(row["prototype_question"].startswith("who") for row in ranked)
    for options in ((), ("--explain",)):
        lines = rank(*options).splitlines()
        places = [number for number, line in enumerate(lines) if str(too_many) in line]
        assert [LONG in lines[number - 1] for number in places] == [True]


def test_a_data_frame_is_fitted_to_a_model_of_ones_own(run, corpus, tmp_path):
    expected = read_scores(run())
    system = System(title="Mine", sentence_vectors="mine", ranker="analogy", p=3)
    options = {"vectors": tmp_path / "model", "types": COMB, "question_types": QUESTION_TYPES}
    model = Model.fit(system, corpus, tmp_path / "fitted", **options)
    scores = model.score_splits(corpus)
    for column in ("candidate_id", "score"):
        assert scores[column].tolist() == expected[column].tolist()
    arguments = ["rank", "--run", str(tmp_path / "fitted"), "--question", QUESTION, "--json"]
    done = CliRunner().invoke(app, [*arguments, "--candidates", "-"], "\n".join(NEW))
    ranked = model.rank(QUESTION, NEW)["candidate"].tolist()
    assert [row["candidate"] for row in json.loads(done.output)] == ranked
    with pytest.raises(AnalogyQAError, match="name their model"):
        Model.fit(system, corpus, tmp_path / "other")


def test_a_fitted_system_has_the_vectors_of_wrong_training_candidates(run, corpus, tmp_path):
    run()
    is_right = (corpus["split"] != "train") | (corpus["label"] == 1)
    frame = corpus.assign(candidate=corpus["candidate"].where(is_right, corpus["candidate"] + " ?"))
    system = System(title="Mine", sentence_vectors="mine", ranker="mapped")
    model = Model.fit(system, frame, vectors=tmp_path / "model")
    assert {*frame["question"], *frame["candidate"]} <= model.word_ids.keys()


def test_a_saved_model_keeps_only_its_prototypes_and_checks_its_encoder(run, tmp_path):
    model = tmp_path / "model"
    loaded = Model.load(run(), MINE.path)
    expected = loaded.rank(QUESTION, NEW)
    loaded.save(tmp_path / "saved")
    saved = Model.open((tmp_path / "saved").rename(tmp_path / "moved"))
    saved.save(tmp_path / "moved")
    pd.testing.assert_frame_equal(saved.rank(QUESTION, NEW), expected, rtol=1e-5)
    _, kept = read_store(tmp_path / "moved" / "sentence_vectors.npy")
    texts = {*saved.corpus["question"], *saved.corpus["candidate"]}
    assert {*kept} == texts and len(saved.corpus) == 9
    shutil.copytree(model, tmp_path / "moved" / "encoder")
    tiny.rewrite_weights(model, lambda weights: {name: 2 * at for name, at in weights.items()})
    pd.testing.assert_frame_equal(Model.open(tmp_path / "moved").rank(QUESTION, NEW), expected)
    shutil.rmtree(tmp_path / "moved" / "encoder")
    with pytest.raises(AnalogyQAError, match="is not the one that encoded"):
        Model.open(tmp_path / "moved")
    shutil.rmtree(model)
    with pytest.raises(AnalogyQAError, match=f"{model}: .* is neither installed .*/encoder"):
        Model.load(tmp_path / "results", MINE.path)


@pytest.mark.parametrize("encoder", [name for name, spec in PRETRAINED.items() if not spec.model])
def test_the_encoders_that_cannot_encode_new_texts_are_named(encoder):
    system = System(title="S", sentence_vectors="mine", ranker="cosine")
    with pytest.raises(AnalogyQAError, match=f"{encoder}, .* hugging_face"):
        require_new_texts(system, "s/toy/comb", encoder)
