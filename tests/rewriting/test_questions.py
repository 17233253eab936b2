"""Questions whose question word is replaced by an entity."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.errors import AnalogyQAError
from analogyqa.rewriting.questions import rewrite_questions
from analogyqa.schemas import CORPUS, ENTITIES
from analogyqa.text import tokenize
from analogyqa.vectors.files import build_vocabulary

# Words on both axes of the plane, and between them.
PLANE = {"east": [1, 0], "north": [0, 1], "high": [1, 2], "flat": [2, 1], "far": [9, 0]}
PLANE |= {"a": [0, 0]}
QUESTIONS = [
    ("train", "Where is it ?", [("north north east", 1), ("a", 0)]),
    ("train", "who is it ?", [("east", 1)]),
    ("train", "what is it ?", [("high", 1)]),
    ("dev", "where was it ?", [("north", 0), ("east", 1), ("east", 0)]),
    ("test", "where will it be ?", [("high flat", 1)]),
]
WORDS = ["who", "when", "where"]


def store(words: dict[str, list]) -> tuple[np.ndarray, dict[str, int]]:
    vectors = np.array(list(words.values()), dtype=np.float32)
    return vectors, {word: row for row, word in enumerate(words)}


def entities_table(corpus: pd.DataFrame, mentions: dict[str, list[str]]) -> pd.DataFrame:
    """Return a table of schema ENTITIES from the mentions in each candidate, by its id."""
    rows = [
        (pair.split, pair.question_id, pair.candidate_id, text, pair.question_type)
        for pair in corpus.itertuples()
        for text in mentions.get(pair.candidate_id, [])
    ]
    return pd.DataFrame(rows, columns=ENTITIES.names)


def first_words(corpus: pd.DataFrame) -> list[str]:
    """Return what precedes the unchanged ending of each question of QUESTIONS."""
    rewritten = corpus.drop_duplicates("question_id")["question"]
    endings = [question.partition(" ")[2] for _, question, _ in QUESTIONS]
    return [
        question.removesuffix(f" {ending}")
        for question, ending in zip(rewritten, endings, strict=True)
    ]


@pytest.fixture
def toy(make_corpus) -> pd.DataFrame:
    return make_corpus(QUESTIONS)


@pytest.fixture
def rewrite(toy):
    """Rewrite the toy corpus, and return the replacement of each question word."""

    def rewrite(mentions, rewriting="entity", lowercase=True, words=PLANE, question_words=WORDS):
        entities = entities_table(toy, {"q0-0": ["east"], "q1-0": ["east"]} | mentions)
        return first_words(
            rewrite_questions(toy, entities, *store(words), rewriting, lowercase, question_words)
        )

    return rewrite


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        # The nearest to all candidates. Mean cosines of q3: north 1/3, east 2/3,
        # high (1 + 2*2) / 3√5 and flat (2*2 + 1) / 3√5 = 0.75.
        ({"q3-0": ["north", "east"]}, {3: "east"}),
        ({"q3-0": ["north"], "q3-2": ["flat", "east"]}, {3: "flat"}),
        ({"q0-0": ["east", "north"]}, {0: "north"}),
        # The lengths of vectors do not matter.
        ({"q0-0": ["far", "north"], "q3-0": ["far", "flat"]}, {0: "north", 3: "flat"}),
        # The mean of East and North is nearer to (3, 3) than either of them; the spelling is kept.
        ({"q4-0": ["east", "East North", "north"]}, {4: "East North"}),
        # The first of equal ones
        ({"q3-0": ["far", "east"]}, {3: "far"}),
        ({"q3-0": ["east"], "q3-1": ["far"]}, {3: "east"}),
        ({"q3-0": ["EAST", "east"]}, {3: "EAST"}),
        # Without an entity, the prototype word
        ({"q0-0": ["east north", "north", "north"]}, {0: "east north", 3: "north", 4: "north"}),
    ],
)
def test_the_best_entity_replaces_the_question_word(rewrite, mentions, expected):
    words = rewrite(mentions)
    assert {question: words[question] for question in expected} == expected
    assert words[1:3] == ["east", "what"]


@pytest.mark.parametrize(
    ("mentions", "word"),
    [
        # Mean cosines to (1, 0), (1, 2)/√5 and (0, 1): east 0.48, high 0.78, north 0.63.
        ({"q0-0": ["east", "High", "north"], "q3-0": ["flat"], "q4-0": ["flat"]}, "high"),
        ({"q0-0": ["east", *["north"] * 3]}, "north"),  # every mention counts
        ({"q0-0": ["north north east"], "q3-1": ["east"]}, "north"),  # a single word
    ],
)
def test_the_prototype_word_is_nearest_to_all_training_entities(rewrite, mentions, word):
    assert rewrite(mentions, "prototype_word") == [word, "east", "what", word, word]


@pytest.mark.parametrize("entity", ["west", "north west", "North", "where", " "])
def test_an_unusable_entity_is_skipped(rewrite, entity):
    words = PLANE | {"where": [1, 1]}
    mentions = {"q3-0": [entity, "east"], "q4-0": [entity]}
    assert rewrite(mentions, lowercase=False, words=words)[3:] == ["east", "east"]


@pytest.mark.parametrize("entity", ["Where", "WHO", "when"])
def test_an_entity_that_is_a_question_word_is_skipped(rewrite, entity):
    words = PLANE | {"where": [1, 0], "who": [1, 0], "when": [1, 0]}
    mentions = {"q0-0": [entity, "north"], "q3-0": [entity, "north"]}
    assert rewrite(mentions, words=words)[::3] == ["north", "north"]
    assert rewrite(mentions, "prototype_word", words=words)[0] == "north"
    assert rewrite(mentions, words=words, question_words=["what"])[3] == entity


def test_an_entity_of_another_type_is_skipped(toy):
    entities = entities_table(toy, {"q0-0": ["east"], "q1-0": ["east"], "q3-0": ["flat", "north"]})
    entities.loc[entities["entity"] == "flat", "entity_type"] = "who"
    rewritten = rewrite_questions(toy, entities, *store(PLANE), "entity", True, WORDS)
    assert first_words(rewritten)[3] == "north"


def test_questions_of_two_splits_may_share_an_id(make_corpus):
    corpus = make_corpus([("train", "who ?", [("east", 1)]), ("dev", "who ?", [("north", 1)])])
    entities = entities_table(corpus, {"q0-0": ["east"], "q1-0": ["north"]})
    corpus, entities = (frame.assign(question_id="q") for frame in (corpus, entities))
    rewritten = rewrite_questions(corpus, entities, *store(PLANE), "entity", True, WORDS)
    assert rewritten["question"].tolist() == ["east ?", "north ?"]


@pytest.mark.parametrize("rewriting", ["entity", "prototype_word"])
@pytest.mark.parametrize("mentions", [[], ["west"], ["?"]])
def test_a_type_without_an_entity_in_training_is_named(toy, rewriting, mentions):
    entities = entities_table(toy, {"q0-0": mentions, "q1-0": ["east"], "q3-0": ["north"]})
    with pytest.raises(AnalogyQAError, match=r"The where questions .* Set named_entities\.model"):
        rewrite_questions(toy, entities, *store(PLANE), rewriting, True, WORDS)


def test_a_corpus_without_typed_questions_needs_no_entity(make_corpus):
    corpus = make_corpus([("train", "what ?", [("east", 1)])])
    tables = corpus, entities_table(corpus, {})
    rewritten = rewrite_questions(*tables, *store(PLANE), "entity", True, WORDS)
    pd.testing.assert_frame_equal(rewritten, corpus)


def test_vectors_that_lack_a_word_of_a_candidate_are_refused(toy):
    entities = entities_table(toy, {"q0-0": ["east"], "q1-0": ["east"]})
    incomplete = {word: vector for word, vector in PLANE.items() if word != "flat"}
    with pytest.raises(AnalogyQAError, match=r"'flat' .* is not in the word vectors"):
        rewrite_questions(toy, entities, *store(incomplete), "entity", True, WORDS)


@given(data=st.data(), seed=st.integers(0, 99), lowercase=st.booleans())
@pytest.mark.parametrize("rewriting", ["entity", "prototype_word"])
def test_only_typed_questions_change_and_stay_readable(corpus, rewriting, data, seed, lowercase):
    texts = pd.concat([corpus["question"], corpus["candidate"]])
    vocabulary = build_vocabulary(texts, lowercase)
    vectors = np.random.default_rng(seed).normal(size=(len(vocabulary), 3)).astype(np.float32)
    word_ids = {word: row for row, word in enumerate(vocabulary)}
    pieces = st.lists(
        st.sampled_from([*vocabulary, "unseen", "Where", "``", "'s", "-LRB-", "n't", "U.S."]),
        min_size=1,
        max_size=3,
    )
    typed = corpus.dropna(subset="question_type")
    candidate_ids = data.draw(st.lists(st.sampled_from(typed["candidate_id"].tolist()), max_size=9))
    mentions = {candidate_id: [" ".join(data.draw(pieces))] for candidate_id in candidate_ids}
    train = typed[typed["split"] == "train"]
    for candidate_id in train.drop_duplicates("question_type")["candidate_id"]:
        mentions[candidate_id] = [*mentions.get(candidate_id, []), "thing"]  # each type needs one
    entities = entities_table(corpus, mentions)

    options = vectors, word_ids, rewriting, lowercase, WORDS
    rewritten = rewrite_questions(corpus, entities, *options)

    # Labels and categorical columns, as in stored tables, make no difference.
    categorical = dict.fromkeys(["split", "question_type"], "category")
    other_corpus = corpus.assign(label=1 - corpus["label"]).astype(categorical)
    other_entities = entities.astype(dict.fromkeys(["split", "entity_type"], "category"))
    again = rewrite_questions(other_corpus, other_entities, *options)
    assert again["question"].equals(rewritten["question"])
    other_columns = [name for name in CORPUS.names if name != "question"]
    pd.testing.assert_frame_equal(rewritten[other_columns], corpus[other_columns])
    changed = rewritten["question"] != corpus["question"]
    assert changed.tolist() == corpus["question_type"].notna().tolist()
    for before, after in zip(corpus["question"], rewritten["question"], strict=True):
        assert after.endswith(before.partition(" ")[2])
        assert set(tokenize(after, lowercase)) <= set(vocabulary)
