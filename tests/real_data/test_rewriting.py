"""Rewriting as in Tam et al. on the real data changes exactly the questions with a type."""

import pandas as pd
import pytest

from analogyqa.rewriting.annotate import find_entities, model_record
from analogyqa.rewriting.questions import rewrite_questions
from analogyqa.schemas import SPLITS
from analogyqa.text import tokenize
from analogyqa.vectors.files import build_vocabulary, select_vectors
from builders.mirror import FASTTEXT, FILES, MIRROR, build, needs

MODEL = MIRROR / "models" / "en_core_web_sm"
LABELS = {"who": ["PERSON"], "when": ["DATE", "TIME"], "where": ["GPE", "LOC", "FAC"]}
CHANGED = {"wikiqa": [276, 43, 72], "trecqa": [402, 33, 38]}
# Questions with the prototype word: their candidates name no entity of their type that the word
# vectors can read, or it is the nearest one.
WITHOUT_ENTITY = {"wikiqa": 36, "trecqa": 7}

pytestmark = needs(MODEL)


@pytest.fixture(scope="module", params=FILES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def corpus(name):
    return build(name)


@pytest.fixture(scope="module")
def vocabulary(corpus):
    return build_vocabulary(pd.concat([corpus["question"], corpus["candidate"]]), lowercase=True)


@pytest.fixture(scope="module")
def rewritten(corpus, vocabulary):
    """The corpus rewritten in both ways."""
    vectors, _ = select_vectors(FASTTEXT, vocabulary, "random")
    word_ids = {word: row for row, word in enumerate(vocabulary)}
    entities = find_entities(corpus, str(MODEL), LABELS)
    return {
        way: rewrite_questions(corpus, entities, vectors, word_ids, way, True, LABELS)
        for way in ("entity", "prototype_word")
    }


def questions(corpus):
    return corpus.drop_duplicates(["split", "question_id"])


@pytest.mark.parametrize("way", ["entity", "prototype_word"])
def test_the_typed_questions_change_and_nothing_else(name, corpus, vocabulary, rewritten, way):
    changed = rewritten[way]["question"] != corpus["question"]
    counts = questions(corpus[changed])["split"].value_counts()
    assert [counts[split] for split in SPLITS] == CHANGED[name]
    assert changed.equals(corpus["question_type"].notna())
    others = [column for column in corpus if column != "question"]
    pd.testing.assert_frame_equal(rewritten[way][others], corpus[others])
    words = {word for text in questions(rewritten[way])["question"] for word in tokenize(text)}
    assert words <= set(vocabulary)


def test_few_questions_lack_an_entity(name, corpus, rewritten):
    typed = questions(corpus).dropna(subset="question_type").index
    entity, word = (rewritten[way]["question"][typed] for way in ("entity", "prototype_word"))
    prototype_words = word.str.split().str[0]
    assert prototype_words.groupby(corpus["question_type"][typed]).nunique().eq(1).all()
    # A question may also have the prototype word as its own nearest entity.
    assert (entity == word).sum() == WITHOUT_ENTITY[name]


def test_the_model_has_all_labels():
    assert model_record(str(MODEL), LABELS)["labels"] == LABELS
