"""This reader gives the vectors of the original Sent2Vec, digit by digit."""

import pytest

from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.pretrained.sent2vec import encode_tokens
from builders.mirror import MIRROR, needs

FIXTURE = MIRROR / "fixtures/sent2vec"
UNIGRAMS = MIRROR / "vectors/enwiki-105m-300d.sent2vec-unigrams.vec.gz"

pytestmark = needs(FIXTURE)


@pytest.fixture(scope="module")
def sentences():
    return (FIXTURE / "sentences.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["unigrams-40d", "bigrams-50d"])
def test_every_digit_equals_that_of_the_original(sentences, name):
    vectors = encode_tokens([line.split() for line in sentences], FIXTURE / f"{name}.bin")
    printed = (FIXTURE / f"{name}.sentence-vectors.txt").read_text(encoding="utf-8").splitlines()
    ours = [" ".join(f"{value:.5g}" for value in vector) for vector in vectors]
    assert ours == [line.strip() for line in printed]


def test_the_unigram_vectors_encode_every_sentence(sentences):
    resources = Resources(str(UNIGRAMS), "", [], lowercase=True)
    vectors = encode_sentences("sent2vec", sentences, resources)
    assert vectors.shape == (len(sentences), 300)
    assert vectors.any(axis=1).all()
