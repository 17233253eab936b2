"""A finished run as a model: it ranks new answers as it ranked those of its test split."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.model import Model
from analogyqa.model.folder import Learned
from analogyqa.runs.record import table_hashes
from analogyqa.runs.score import score_cell
from analogyqa.runs.train import checkpoint_path, train_cell
from analogyqa.schemas import CORPUS, METRICS, PROTOTYPES, SCORES, read_table, write_table
from analogyqa.settings.systems import System
from report.builders import make_config
from small_cells import COMB, toy_job, trained_system, untrained_system

CONFIG = make_config()
SEED = 0
SYSTEMS = {
    "analogy": trained_system(max_epochs=2),
    "cosine": trained_system("cosine", max_epochs=2, loss="pairwise"),
    "untrained": untrained_system(),
    "aligned": untrained_system("aligned", "words"),
    "all questions": untrained_system(p=1),
    "bm25": System(title="B", ranker="bm25"),
}


def run(system: System, write_cell_files, folder: Path) -> Model:
    """Run a system on the toy corpus, and return it as a model."""
    types = None if folder.name == "all questions" else COMB
    files = write_cell_files(folder / "tables", SEED, types, p=1 if types is None else 3)
    if not system.needs_prototypes:
        files = files.without_prototypes()
    elif not system.trained:
        files.quadruples.pop("train")
    job = toy_job(system, {SEED: files}, types)
    checkpoint = None
    if system.trained:
        train_cell(job, "paper", "cpu", folder / "checkpoints", folder)
        hashes = table_hashes(job.files[SEED])
        checkpoint = checkpoint_path(job, SEED, hashes, folder / "checkpoints")
    else:
        score_cell(job, folder)
    return Model(Learned(job, CONFIG.question_types, SEED, checkpoint))


@pytest.fixture(scope="module")
def models(write_cell_files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {name: (run(system, write_cell_files, folder / name), folder / name)
            for name, system in SYSTEMS.items()}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_test_question_gets_the_scores_of_the_run(models, corpus, name):
    model, folder = models[name]
    scores = read_table(folder / "scores.parquet", SCORES).astype({"candidate_id": str})
    by_candidate = scores.set_index("candidate_id")["score"]
    asked = corpus[(corpus["split"] == "test") & corpus["candidate_id"].isin(by_candidate.index)]
    # The last question has no type where all are ranked.
    _, groups = zip(*asked.groupby("question_id", sort=False), strict=True)
    for pairs in (*groups[:3], groups[-1]):
        ranked = model.rank(pairs["question"].iloc[0], pairs["candidate"].tolist())
        expected = dict(zip(pairs["candidate"], by_candidate[pairs["candidate_id"]], strict=True))
        own = [expected[candidate] for candidate in ranked["candidate"]]
        np.testing.assert_allclose(ranked["score"], own, rtol=0, atol=1e-6)
        assert own == pytest.approx(sorted(own, reverse=True))


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_corpus_gets_the_scores_of_the_run_byte_by_byte(models, name, tmp_path):
    model, folder = models[name]
    corpus = read_table(model.job.files[SEED].corpus, CORPUS)
    write_table(model.score(corpus), SCORES, tmp_path / "scores.parquet")
    assert (tmp_path / "scores.parquet").read_bytes() == (folder / "scores.parquet").read_bytes()


def test_the_measures_are_those_of_the_run(models, corpus):
    model, folder = models["analogy"]
    metrics = read_table(folder / "metrics.parquet", METRICS)
    is_mean = (metrics["split"] == "test") & (metrics["measure"] == "mrr")
    table = model.evaluate(corpus)
    assert table.loc["mrr", "test"] == metrics.loc[is_mean, "value"].mean()
    assert list(table) == ["dev", "test"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_saved_model_ranks_alike_without_the_corpus(models, corpus, name, tmp_path):
    model, _ = models[name]
    model.save(tmp_path / "saved")
    (tmp_path / "saved").rename(tmp_path / "elsewhere")
    saved = Model.open(tmp_path / "elsewhere")
    asked = corpus[
        (corpus["split"] == "test") & (corpus["question_id"] == corpus["question_id"].iloc[-5])
    ]
    question, candidates = asked["question"].iloc[0], [*asked["candidate"], "of none"]
    pd.testing.assert_frame_equal(
        saved.rank(question, candidates), model.rank(question, candidates), check_exact=True
    )
    kept = read_table(tmp_path / "elsewhere" / "corpus.parquet", CORPUS)
    if name in ("aligned", "bm25"):  # which count words in all candidates
        assert len(kept) == len(corpus)
    else:
        assert set(kept["candidate_id"]) == set(model.prototypes["candidate_id"])


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(AnalogyQAError, match=r"model\.json: .* Model\.save"):
        Model.open(tmp_path)


def test_the_prototype_that_decided_is_named(models, corpus):
    model, folder = models["analogy"]
    scores = read_table(folder / "scores.parquet", SCORES)
    scores = scores[scores["split"] == "test"].astype({"candidate_id": str})
    (pair,) = corpus[corpus["candidate_id"] == scores["candidate_id"].iloc[0]].to_dict("records")
    (best,) = model.rank(pair["question"], [pair["candidate"]]).to_dict("records")
    prototypes = read_table(model.job.files[SEED].prototypes, PROTOTYPES)
    prototypes = prototypes[prototypes["question_type"] == pair["question_type"]]
    rank = scores["best_prototype"].iloc[0]
    (candidate_id,) = prototypes.loc[prototypes["rank"] == rank, "candidate_id"]
    (expected,) = corpus[corpus["candidate_id"] == candidate_id].to_dict("records")
    assert best["prototype_question"] == expected["question"]
    assert best["prototype_answer"] == expected["candidate"]
    assert "prototype_question" not in models["cosine"][0].rank(pair["question"], ["x"])


def test_words_without_a_vector_are_ignored_and_named(models, corpus):
    model, _ = models["untrained"]
    pair = corpus[corpus["split"] == "test"].iloc[0]
    candidates = [pair["candidate"], f"{pair['candidate']} zyzzyva"]
    ranked = model.rank(pair["question"], candidates)
    assert ranked["score"].nunique() == 1
    assert dict(zip(ranked["candidate"], ranked["unknown"], strict=True)) == {
        candidates[0]: "",
        candidates[1]: "zyzzyva",
    }


@pytest.mark.parametrize(
    ("question", "candidates", "message"),
    [("why is it so?", ["so"], "start with who, when, where"), ("who is it?", [], "no candidates")],
)
def test_what_cannot_be_ranked_is_refused(models, question, candidates, message):
    with pytest.raises(AnalogyQAError, match=message):
        models["untrained"][0].rank(question, candidates)
