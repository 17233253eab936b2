"""Counts of the real data.

TrecQA: 1 question of TRAIN and DEV each and 5 of TEST have no candidates and are left out.
"""

import pandas as pd
import pytest

from analogyqa.corpora.table import count_questions
from analogyqa.schemas import SPLITS
from analogyqa.vectors.files import build_vocabulary, select_vectors
from builders.mirror import FASTTEXT, FILES, MIRROR, build, needs

pytestmark = [*needs(MIRROR), pytest.mark.draw]


@pytest.fixture(scope="module")
def corpora():
    return {name: build(name) for name in FILES}


def sizes(corpus, split):
    rows = corpus[corpus["split"] == split]
    return rows["question_id"].nunique(), len(rows), int(rows["label"].sum())


@pytest.mark.parametrize(
    ("name", "split", "counts"),
    [
        ("wikiqa", "train", (2118, 20360, 1040)),
        ("wikiqa", "dev", (296, 2733, 140)),
        ("wikiqa", "test", (633, 6165, 293)),
        ("trecqa", "train", (1229, 53417, 6403)),
        ("trecqa", "dev", (81, 1148, 222)),
        ("trecqa", "test", (95, 1517, 284)),
    ],
)
def test_questions_pairs_and_correct_pairs(corpora, name, split, counts):
    assert sizes(corpora[name], split) == counts


def test_the_small_training_part_of_trecqa():
    assert sizes(build("trecqa", train="trecqa/TRAIN.xml"), "train") == (93, 4718, 348)


@pytest.mark.parametrize(
    ("name", "with_correct", "with_both"),
    [("wikiqa", (873, 126, 243), (857, 122, 237)), ("trecqa", (1229, 78, 89), (1162, 65, 68))],
)
def test_questions_with_a_correct_and_with_both_kinds_of_candidates(
    corpora, name, with_correct, with_both
):
    labels = corpora[name].groupby(["split", "question_id"])["label"].agg(["max", "min"])
    splits = list(SPLITS)
    correct = labels[labels["max"] == 1].groupby("split").size()
    both = labels[(labels["max"] == 1) & (labels["min"] == 0)].groupby("split").size()
    assert tuple(correct[splits]) == with_correct
    counts = count_questions(corpora[name])
    assert tuple(counts[split]["all"] for split in splits) == with_correct
    assert tuple(both[splits]) == with_both


def test_the_fasttext_vectors_cover_most_of_the_vocabulary(corpora):
    sentences = pd.concat(
        [corpus[column] for corpus in corpora.values() for column in ("question", "candidate")]
    )
    vocabulary = build_vocabulary(sentences, lowercase=True)
    vectors, has_vector = select_vectors(FASTTEXT, vocabulary, "random")
    assert vectors.shape == (len(vocabulary), 300)
    assert has_vector.mean() > 0.7
