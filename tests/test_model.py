"""A finished run as a model: it ranks new answers as it ranked those of its test split."""

import gc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analogyqa.corpora.frames import load_sample
from analogyqa.corpora.questions import select_subset
from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_text
from analogyqa.model import Model, write_explanations
from analogyqa.model.learned import Learned, _find, learned_by
from analogyqa.report.stored import store_configuration
from analogyqa.runs.record import table_hashes
from analogyqa.runs.score import score_cell
from analogyqa.runs.train import checkpoint_path, train_cell
from analogyqa.schemas import (
    CORPUS,
    EXPLANATIONS,
    METRICS,
    PROTOTYPES,
    SCORES,
    read_table,
    write_table,
)
from analogyqa.settings.load import REPOSITORY, read_values
from analogyqa.settings.systems import System
from analogyqa.training.explanation import principal_components
from analogyqa.vectors import unit
from analogyqa.vectors.store import read_store
from builders.cells import CELL, COMB, toy_job, trained_system, untrained_system
from builders.report import make_config

CONFIG = make_config()
SEED = 0
SYSTEMS = {
    "analogy": trained_system(max_epochs=2),
    "cosine": trained_system("cosine", max_epochs=2, loss="pairwise"),
    "untrained": untrained_system(),
    "answers of others": untrained_system({"name": "analogy", "prototype_answers": "others"}),
    "aligned": untrained_system("aligned", "words"),
    "all questions": untrained_system(p=1),
    "bm25": System(title="B", ranker="bm25"),
}


def run(system: System, write_cell_files, folder: Path) -> Model:
    """Run a system on the toy corpus, and return it as a model."""
    types, p = (None, 1) if folder.name == "all questions" else (COMB, 3)
    files = write_cell_files(folder / "tables", SEED, types, p=p)
    if not system.needs_prototypes:
        files = files.without_prototypes()
    elif not system.trained:
        files.quadruples.pop("train")
    job = toy_job(system, {SEED: files}, types)
    checkpoint = None
    if system.trained:
        train_cell(job, "cpu", folder / "checkpoints", folder)
        checkpoint = checkpoint_path(job, SEED, table_hashes(files), folder / "checkpoints")
    else:
        score_cell(job, folder)
    return Model(Learned(job, CONFIG.question_types, checkpoint))


@pytest.fixture(scope="module")
def models(write_cell_files, tmp_path_factory):
    """The model of each system, and the folder of its run."""
    folder = tmp_path_factory.mktemp("models")
    return {name: (run(system, write_cell_files, folder / name), folder / name)
            for name, system in SYSTEMS.items()}  # fmt: skip


def read_scores(folder: Path) -> pd.DataFrame:
    """Return the test split of a run's scores, by candidate."""
    scores = read_table(folder / "scores.parquet", SCORES).astype({"candidate_id": str})
    return scores[scores["split"] == "test"].set_index("candidate_id")


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_corpus_gets_the_scores_of_the_run_byte_by_byte(models, name, tmp_path):
    model, folder = models[name]
    corpus = read_table(model.job.files[SEED].corpus, CORPUS)
    write_table(model.score_splits(corpus), SCORES, tmp_path / "scores.parquet")
    assert (tmp_path / "scores.parquet").read_bytes() == (folder / "scores.parquet").read_bytes()


def test_the_measures_are_those_of_the_run(models, corpus):
    model, folder = models["analogy"]
    metrics = read_table(folder / "metrics.parquet", METRICS)
    is_mean = (metrics["split"] == "test") & (metrics["measure"] == "mrr")
    table = model.evaluate(corpus)
    assert table.loc["mrr", "test"] == metrics.loc[is_mean, "value"].mean()
    assert list(table) == ["dev", "test"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_saved_model_ranks_the_same_without_the_corpus(models, corpus, name, tmp_path):
    model, _ = models[name]
    model.save(tmp_path / "saved")
    folder = (tmp_path / "saved").rename(tmp_path / "elsewhere")
    saved = Model.open(folder)
    saved.save(folder)
    rows = corpus[corpus["question_id"] == corpus["question_id"].iloc[-5]]
    asked = rows["question"].iloc[0], [*rows["candidate"], "of none"]
    pd.testing.assert_frame_equal(saved.rank(*asked), model.rank(*asked), check_exact=True)
    kept = read_table(folder / "corpus.parquet", CORPUS)
    if name in ("aligned", "bm25"):  # which count words in all candidates
        assert len(kept) == len(corpus)
    else:
        assert set(kept["candidate_id"]) == set(model.prototypes["candidate_id"])


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(AnalogyQAError, match=r"model\.json: .* Model\.save"):
        Model.open(tmp_path)


def test_the_prototype_that_decided_is_named(models, corpus):
    model, folder = models["analogy"]
    candidate = read_scores(folder).iloc[0]
    pairs = corpus.set_index("candidate_id")
    pair = pairs.loc[candidate.name]
    (best,) = model.rank(pair["question"], [pair["candidate"]]).to_dict("records")
    prototypes = read_table(model.job.files[SEED].prototypes, PROTOTYPES)
    of_type = prototypes[prototypes["question_type"] == pair["question_type"]].set_index("rank")
    expected = pairs.loc[of_type["candidate_id"][candidate["best_prototype"]]]
    assert best["prototype_question"] == expected["question"]
    assert best["prototype_answer"] == expected["candidate"]
    assert "prototype_question" not in models["cosine"][0].rank(pair["question"], ["x"])


def test_exchanged_prototypes_have_the_answer_of_the_next_one(models, corpus):
    model, _ = models["answers of others"]
    prototypes = model.prototypes[model.prototypes["question_type"] == "who"]
    pairs = corpus.set_index("candidate_id").loc[prototypes["candidate_id"].astype(str)]
    answers = dict(zip(pairs["question"], np.roll(pairs["candidate"], 1), strict=True))
    ranked = model.rank("who is thing 0 ?", ["anna is it", "rome is it"])
    expected = [answers[question] for question in ranked["prototype_question"]]
    assert ranked["prototype_answer"].tolist() == expected


@pytest.fixture(scope="module")
def explained(models, corpus):
    """The explanations of some test questions by each model."""

    def explain(model):
        question_ids = select_subset(corpus, "test", model.job.types)["question_id"].unique()[::4]
        return [model.explain_question(question_id) for question_id in question_ids]

    return {name: explain(model) for name, (model, _) in models.items()}


@pytest.mark.parametrize("name", SYSTEMS)
def test_an_explanation_ranks_the_candidates_of_the_run(models, explained, name):
    scores = read_scores(models[name][1])
    for explanation in explained[name]:
        expected = scores[scores["question_id"] == explanation.question_id]
        rows = {candidate.candidate_id: candidate for candidate in explanation.candidates}
        assert sorted(rows) == sorted(expected.index)
        assert [row.label for row in rows.values()] == expected.loc[[*rows], "label"].tolist()
        values = [row.score for row in rows.values()]
        assert values == sorted(values, reverse=True)
        assert values == pytest.approx(expected.loc[[*rows], "score"].tolist(), abs=1e-6)


@pytest.mark.parametrize("name", SYSTEMS)
def test_new_candidates_are_ranked_and_explained_as_those_of_the_run(models, explained, name):
    model, example = models[name][0], explained[name][0]
    known = {candidate.candidate: candidate.score for candidate in example.candidates}
    ranked = model.rank(example.question, [*known]).set_index("candidate")["score"]
    assert ranked.to_dict() == pytest.approx(known)
    candidates = [*known, "zyzzyva anna"]
    ranked = model.rank(example.question, candidates)
    explanation = model.explain(example.question, candidates)
    for column in ("candidate", "score", "unknown"):
        values = [getattr(candidate, column) for candidate in explanation.candidates]
        assert values == ranked[column].tolist()
    assert {candidate.label for candidate in explanation.candidates} == {None}
    prototypes = [explanation.prototypes[candidate.decided_by].answer
                  for candidate in explanation.candidates if explanation.prototypes]  # fmt: skip
    assert prototypes == ranked.get("prototype_answer", pd.Series()).tolist()


@pytest.mark.parametrize("name", ["analogy", "untrained", "all questions"])
def test_the_most_similar_prototype_decides(explained, name):
    for explanation in explained[name]:
        for candidate in explanation.candidates:
            numbers, similarities = zip(*candidate.nearest, strict=True)
            assert candidate.decided_by == numbers[0]
            assert similarities[0] == pytest.approx(candidate.score, abs=1e-6)
            assert list(similarities) == sorted(similarities, reverse=True)
        assert len(explanation.shifts.candidates) == len(explanation.candidates)
        assert len(explanation.shifts.prototypes) == len(explanation.prototypes)


def test_shifts_are_the_principal_components_of_the_compared_directions(models, explained):
    model, _ = models["untrained"]
    vectors, row_of = read_store(model.job.files[SEED].vectors)

    def shift(question: str, answer: str) -> np.ndarray:
        first, second = (
            vectors[[row_of[word] for word in text.split()]].mean(axis=0)
            for text in (question, answer)
        )
        return (first - second) / np.linalg.norm(first - second)

    for explanation in explained["untrained"]:
        pairs = [(explanation.question, row.candidate) for row in explanation.candidates]
        pairs += [(prototype.question, prototype.answer) for prototype in explanation.prototypes]
        points, shares = principal_components(np.array([shift(*pair) for pair in pairs]))
        shown = [*explanation.shifts.candidates, *explanation.shifts.prototypes]
        # The sign of a component means nothing.
        np.testing.assert_allclose(np.abs(shown), np.abs(points), atol=1e-4)
        assert explanation.shifts.shares == pytest.approx(shares, abs=1e-4)


def test_no_single_prototype_decides_a_mean(models, explained):
    learned = models["untrained"][0].learned
    system = untrained_system({"name": "analogy", "aggregate": "mean"})
    model = Model(learned._replace(job=learned.job._replace(system=system)))
    for candidate in model.explain_question(explained["untrained"][0].question_id).candidates:
        assert candidate.decided_by is None
        mean = np.mean([similarity for _, similarity in candidate.nearest])  # of all three
        assert candidate.score == pytest.approx(mean, abs=1e-6)


def test_the_words_of_a_sentence_share_its_dimensions(explained):
    for explanation in explained["analogy"]:
        sentences = [
            (explanation.question, explanation.words),
            *((row.candidate, row.words) for row in explanation.candidates),
            *((row.answer, row.answer_words) for row in explanation.prototypes),
        ]
        for text, words in sentences:
            assert {word for word, _ in words} <= set(text.split())
            shares = [share for _, share in words]
            assert sum(shares) == pytest.approx(1)
            assert shares == sorted(shares, reverse=True)
    assert not any(explanation.words for explanation in explained["untrained"])


def test_each_word_of_a_question_has_the_most_similar_word_of_a_candidate(explained):
    for explanation in explained["aligned"]:
        for candidate in explanation.candidates:
            words = candidate.candidate.split()
            assert [word for word, _, _ in candidate.matches] == explanation.question.split()
            for word, match, cosine in candidate.matches:
                assert match in words
                if word in words:
                    assert (match, cosine) == (word, pytest.approx(1))


def test_explanations_are_written_and_read_again(models, explained):
    model, folder = models["analogy"]
    path = folder / "examples.json"
    question_ids = [explanation.question_id for explanation in explained["analogy"]]
    write_explanations(model.job, folder, question_ids, path)
    assert EXPLANATIONS.validate_json(path.read_bytes()) == explained["analogy"]
    with pytest.raises(AnalogyQAError, match=r"no question q99; .* q\d+"):
        model.explain_question("q99")


def test_words_without_a_vector_are_ignored_and_named(models, corpus):
    pair = corpus[corpus["split"] == "test"].iloc[0]
    candidates = [pair["candidate"], f"{pair['candidate']} zyzzyva"]
    ranked = models["untrained"][0].rank(pair["question"], candidates).set_index("candidate")
    assert ranked["score"].nunique() == 1
    assert ranked["unknown"][candidates].tolist() == ["", "zyzzyva"]


@pytest.mark.parametrize(
    ("question", "candidates", "message"),
    [
        ("why is it so?", ["so"], "start with who, when, where"),
        ("who is it?", [], "no candidates"),
        ("who is it?", "made", "'made' is one text"),
        ("who is it?", ["so", " "], "is empty"),
        ("who is it?", ["so\udcff"], "no valid text"),
        ("who is it?", ["so", None], "row 1 is None"),
        (["who is it?"], ["so"], "question is .* not a text"),
    ],
)
def test_questions_that_cannot_be_ranked_are_refused(models, question, candidates, message):
    with pytest.raises(AnalogyQAError, match=message):
        models["untrained"][0].rank(question, candidates)


def test_many_questions_are_ranked_as_each_alone(models, corpus):
    frame = select_subset(corpus, "test", COMB).sample(frac=1, random_state=0)
    for model, _ in models.values():
        ranked = model.rank_many(frame)
        assert [*ranked["question_id"].unique()] == [*frame["question_id"].unique()]
        for question_id, rows in frame.groupby("question_id"):
            alone = model.rank(rows["question"].iloc[0], [*rows["candidate"]])
            together = ranked[ranked["question_id"] == question_id].reset_index(drop=True)
            # Scores that differ in the last bits may change the order.
            scores = together.set_index("candidate")["score"]
            assert scores.to_dict() == pytest.approx(
                alone.set_index("candidate")["score"].to_dict()
            )
            assert [*together["score"]] == sorted(scores, reverse=True)
        asked = [(question, [*rows]) for question, rows in frame.groupby("question")["candidate"]]
        assert len(model.rank_many(asked)) == len(frame)


@pytest.mark.parametrize("name", SYSTEMS)
def test_scores_are_a_column_of_the_data_frame(models, corpus, name):
    model, folder = models[name]
    expected = read_scores(folder)["score"]
    frame = corpus[corpus["candidate_id"].isin(expected.index)].sample(frac=1, random_state=0)
    scored = model.score(frame.drop(columns=["label", "split"]))
    assert [*scored.index] == [*frame.index]
    values = scored.set_index("candidate_id")["score"]
    assert values.to_dict() == pytest.approx(expected.to_dict(), abs=1e-6)


def test_sentences_are_encoded_as_the_ranker_compares_them(models):
    model, _ = models["cosine"]
    question, *answers = sentences = ["who is thing 0 ?", "anna is it", "rome is it", "anna is it"]
    vectors = unit(model.encode(sentences))
    assert (vectors[1] == vectors[3]).all()
    scores = model.rank(question, answers).set_index("candidate")["score"]
    cosines = dict(zip(answers, vectors[1:] @ vectors[0], strict=True))
    assert scores.groupby(level=0).first().to_dict() == pytest.approx(cosines, abs=1e-6)
    for refused, sentences in (("aligned", answers), ("bm25", answers), ("cosine", "anna")):
        with pytest.raises(AnalogyQAError):
            models[refused][0].encode(sentences)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([], "no questions"),
        (("who is it?", ["so"]), "not a pair"),
        ([("who is it?", "so")], "'so' is one text"),
        (pd.DataFrame({"question": [], "candidate": []}), "no rows"),
        (pd.DataFrame({"question": ["who is it?"]}), "no column candidate"),
    ],
)
def test_what_is_no_list_of_questions_is_refused(models, questions, message):
    with pytest.raises(AnalogyQAError, match=message):
        models["bm25"][0].rank_many(questions)


def test_a_model_says_what_it_is(models):
    model, _ = models["analogy"]
    assert repr(model) == f"<Model {model.job.cell.label}, seed 0>"
    assert f"<td>{model.job.cell.system}</td>" in model._repr_html_()


# Fitted to a data frame

SMALL = {"max_epochs": 1, "sentence_dim": 4}


def small_frame() -> pd.DataFrame:
    """Return a part of the sample, without splits and ids."""
    sample = load_sample()
    few = sample["question_id"].isin(sample["question_id"].unique()[:45])
    return sample.loc[few, ["question", "candidate", "label"]]


def test_a_system_of_a_paper_is_fitted_to_a_data_frame(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text("words.vec", "who 1 0\nwas .3 1\n")
    frame = small_frame()
    options = {"prototypes": 3, "training": SMALL, "vectors": "words.vec"}
    model = Model.fit("analogy", frame, **options)
    folder = Path(model.learned.files.corpus).parent
    counts = model.prototypes["question_type"].value_counts()
    assert counts.drop("other").to_dict() == {"when": 3, "where": 3, "who": 3}
    assert set(model.corpus["split"]) == {"train", "dev", "test"}
    assert model.vectors[model.word_ids["was"]].tolist() == pytest.approx([0.3, 1])
    again = Model.fit("analogy", frame, "kept", **options)
    pd.testing.assert_series_equal(model.score(frame)["score"], again.score(frame)["score"])
    assert Model.open("kept").evaluate().equals(model.evaluate())
    test = model.corpus[model.corpus["split"] == "test"].drop(columns="split")
    assert model.evaluate(test)["test"].to_dict() == model.evaluate()["test"].to_dict()
    del model
    gc.collect()
    assert not folder.exists() and Path("kept").exists()


def test_minilm_encodes_each_word_alone(tmp_path):
    frame = small_frame().assign(candidate="a king or a queen, not a bicycle")
    model = Model.fit("glove", frame, prototypes=1, vectors="minilm")
    king, queen, bicycle = unit(model.vectors)[
        [model.word_ids[w] for w in ("king", "queen", "bicycle")]
    ]
    assert king.shape == (384,) and king @ queen > king @ bicycle + 0.2


def test_word_vectors_learned_from_the_data_frame_are_the_same_again(tmp_path):
    frame, vectors = small_frame(), []
    for name in ("first", "second"):
        with pytest.warns(UserWarning, match="no word vectors") as caught:
            model = Model.fit("glove", frame, tmp_path / name, prototypes=2)
        assert caught[0].filename == __file__
        vectors.append(model.vectors)
    assert (vectors[0] == vectors[1]).all() and vectors[0].shape[1] == 100


@pytest.mark.parametrize(
    ("system", "options", "message"),
    [
        ("anology", {}, "did you mean analogy"),
        ("bm25", {"prototypes": 3}, "no prototypes"),
        ("analogy", {"prototypes": 0}, "p: 0"),
        ("analogy", {"training": {"droput": 0}}, "training.droput; did you mean dropout"),
        ("similarity", {"types": ["why"]}, "no question of type why"),
    ],
)
def test_what_cannot_be_fitted_is_refused(system, options, message):
    with pytest.raises(AnalogyQAError, match=message):
        Model.fit(system, small_frame(), **options)


def test_a_run_that_solves_analogies_is_refused(models, tmp_path):
    record = (models["untrained"][1] / "run.json").read_text("utf-8")
    write_text(tmp_path / "runs" / CELL.path / "run.json", record.replace("corpus", "relations"))
    with pytest.raises(AnalogyQAError, match="solves analogies"):
        learned_by(tmp_path, CELL.path, CONFIG)


def test_a_run_that_was_left_out_has_its_reason(tmp_path):
    values = read_values(REPOSITORY / "sample" / "config.yaml")[0]
    left_out = {"bm25": "no room", "trecqa": "no licence"}
    store_configuration(tmp_path, values, left_out, "make it")
    for run, reason in (("bm25/wikiqa/comb", "no room"), ("analogy/trecqa/comb", "no licence")):
        with pytest.raises(AnalogyQAError, match=reason):
            Model.load(tmp_path, run)


def test_an_editors_lock_among_the_inputs_of_a_run_is_passed_over(tmp_path):
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / ".#toy.parquet").symlink_to("user@host.1234")  # by Emacs, to nowhere
    with pytest.raises(AnalogyQAError, match="are not there"):
        _find(tmp_path, "corpus", "0" * 64)
