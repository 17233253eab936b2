"""Overrides: their text, their names and values, and those that change nothing."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.cells import Cell, corpus_name, split_corpus, without_fold
from analogyqa.settings import overrides as ov
from analogyqa.settings.overrides import SYSTEM_PATHS, override_path, short_name
from analogyqa.settings.systems import Training

texts = st.text(string.ascii_letters + string.digits + "+-._=", min_size=1)
names = st.sampled_from(sorted({*map(short_name, ov.NAMES), ov.HYPERPARAMETERS}))
cells = st.dictionaries(names, texts).map(ov.as_overrides)


@given(cells)
def test_overrides_round_trip_through_text(overrides):
    assert ov.from_text(ov.to_text(overrides)) == overrides
    cell = Cell("a", "toy", "who", overrides)
    assert Cell.from_record(cell.record()) == cell
    corpus = corpus_name("toy", overrides)
    assert split_corpus(corpus) == ("toy", ov.dataset_overrides(overrides))
    unsplit = tuple(item for item in overrides if item[0] != "fold")
    assert without_fold(corpus) == corpus_name("toy", unsplit)
    assert cell.path == f"a/toy/who/{ov.to_text(overrides)}"


@given(st.floats(allow_nan=False, min_value=-1, max_value=100))
def test_numbers_keep_all_digits(margin):
    changes = ov.changes(ov.as_overrides({"margin": margin}))
    assert Training.model_validate(changes["training"]).margin == margin


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.1, "0.1"), (0.0, "0"), (30, "30"), (True, "true"), (None, "null")),
        *((["dev", "test"], "dev+test"), ([], "null"), ((2, 0.5), "2+0.5")),
    ],
)
def test_a_value_is_formatted_as_in_paths(value, text):
    assert ov.as_text(value) == text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"los": "hinge"}, r"'los' is not an override; did you mean loss\?"),
        ({"negatives.cuont": 2}, r"'negatives\.cuont' .*did you mean negatives\.count\?"),
        ({"hyperparameters": "hinge"}, "'hyperparameters' is not an override"),
        ({"title": "T"}, "'title' is not an override"),
        ({"p": 0}, "p: Input should be greater"),
        ({"loss": "squared"}, r"training\.loss: Input should be 'printed'"),
        ({"negatives.count": "many"}, r"training\.negatives\.count: Input"),
        ({"dropout": 0, "drop_all_correct": ["all"]}, r"drop_all_correct\.0: Input"),
        ({"aggregate": "median"}, "aggregate: Input should be 'max', 'mean' or 'question'"),
    ],
)
def test_unknown_overrides_and_invalid_values_are_explained(values, message):
    with pytest.raises(ValueError, match=message):
        ov.require_overrides(values)


@given(names, texts)
def test_a_path_and_its_short_name_are_one_override(name, value):
    path = override_path(name)
    assert ov.as_overrides({path: value}) == ov.as_overrides({name: value}) == ((name, value),)
    if path != name:
        with pytest.raises(ValueError, match=f"{name} is given twice"):
            ov.as_overrides({path: value, name: value})


TRAINED_VECTORS = """
vectors: {mine: {corpora: {toy: [train]}, window: 4, dim: 50}}
systems:
  mapped: {title: M, encoder: mean, vectors: mine, window: 5,
           ranker: {name: mapped, mapping: {normalise: [unit, centre], learned_from: [train]}}}
  tam: {title: T, encoder: cnn, vectors: some, ranker: cosine, rewriting: entity}
"""
OF_VECTORS = {"window": 3, "shortest_word": 2, "weighting": "sif", "components": 2}
UNCHANGED = {"window": 5, "mapping.normalise": ["unit", "centre"], "components": 0}
STORED = "sentence_vectors=published+means"
ALL_CHANGED = {"aggregate": "mean", "p": 2, "dropout": 0, "negatives.count": 4}


@pytest.mark.parametrize(
    ("system", "values", "kept"),
    [
        ("analogy", ALL_CHANGED, "aggregate=mean@dropout=0@negatives.count=4@p=2"),
        ("baseline", ALL_CHANGED, "dropout=0@negatives.count=4@p=2"),  # quadruples need prototypes
        ("mean", ALL_CHANGED, "aggregate=mean@p=2"),
        ("mean-cosine", ALL_CHANGED, "default"),
        *((name, OF_VECTORS, "default") for name in ("words", "random", "stored", "analogy")),
        ("mapped", UNCHANGED, "default"),
        ("mapped", {"window": 10, "shortest_word": 3}, "shortest_word=3@window=10"),
        ("mapped", {"mapping.normalise": []}, "mapping.normalise=null"),
        ("mapped", {"mapping.learned_from": ["train", "dev"]}, "mapping.learned_from=train+dev"),
        ("mapped", {"mapping.orthogonal": False}, "mapping.orthogonal=false"),
        ("words", ALL_CHANGED, "default"),
        ("analogy", {"aggregate": "max", "p": 3, "dropout": 0.25, "loss": "printed"}, "default"),
        ("analogy", {"dropout": "0.250", "negatives.per": "question"}, "default"),
        (
            "analogy",
            {"training.dropout": 0, "ranker.aggregate": "mean"},
            "aggregate=mean@dropout=0",
        ),
        ("analogy", {"loss": "lwda", "vectors": "cased"}, "loss=lwda@vectors=cased"),
        ("baseline", {"loss": "lwda"}, "default"),  # with one side it equals the printed loss
        ("baseline", {"loss": "hinge"}, "loss=hinge"),
        ("stored", {"sentence_vectors": ["published", "means"]}, STORED),
        ("stored", {"sentence_vectors": ["means"]}, "default"),
        ("tam", {"rewriting": None}, "rewriting=null"),
        ("analogy", {"drop_all_correct": ["dev"]}, "drop_all_correct=dev"),
        ("analogy", {"drop_all_correct": [], "prototype_choice": "pair"}, "default"),
    ],
)
def test_an_override_that_changes_nothing_is_dropped(papers, system, values, kept):
    config = papers.load(TRAINED_VECTORS)
    overrides = config.canonical_overrides(system, ov.as_overrides(values), "toy")
    assert ov.to_text(overrides) == kept
    assert config.canonical_overrides(system, overrides, "toy") == overrides
    before, changed = config.systems[system], config.system_at(system, overrides)
    for name in SYSTEM_PATHS:
        if before.reads(name):
            text = dict(overrides).get(short_name(name), ov.value_at(before, name))
            assert ov.value_at(changed, name) == text


def test_overrides_change_only_their_section(papers):
    config = papers.load()
    overrides, before = ov.as_overrides({"p": 2}), config.systems["analogy"]
    assert config.system_at("analogy", overrides).training is before.training
    dropped = config.dataset_at("toy", ov.as_overrides({"drop_all_correct": ["dev", "test"]}))
    assert (dropped.drop_all_correct, dropped.questions) == (["dev", "test"], {})
    assert config.dataset_at("toy", overrides) == config.datasets["toy"]
    assert config.datasets["toy"].questions


def test_a_system_may_change_vectors_that_are_trained_on_data_sets(papers):
    config = papers.load(TRAINED_VECTORS)
    system = config.system_at("mapped", ov.as_overrides({"dim": 100}))
    assert system.word_vectors == "mine@dim=100@window=5"
    vectors = config.vectors_at(system.word_vectors)
    assert (vectors.dim, vectors.window, vectors.corpora) == (100, 5, {"toy": ["train"]})
    assert config.vectors_at("mine") == config.vectors["mine"]
    assert config.systems["mean"].word_vectors == "some"
    assert config.systems["random"].word_vectors is None
