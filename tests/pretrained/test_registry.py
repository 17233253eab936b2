"""Registered sentence encoders: what they need, and the check of their vectors."""

from contextlib import nullcontext

import numpy as np
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.pretrained.specs import PRETRAINED, PretrainedSpec

RESOURCES = Resources("weights.bin", "", [], lowercase=True)


def test_registered_encoders_can_be_imported():
    assert all(callable(entry.load()) for entry in PRETRAINED.values())


DEFECT = r"collections:Counter returned .* not float32 \[2, d\]"
DAMAGED = r"mine: the vector of 'the second'.*is weights\.bin damaged"


@pytest.mark.parametrize(
    ("vectors", "error", "message"),
    [
        (np.float32([[1, 0], [0, 1]]), None, ""),
        (np.eye(2), TypeError, DEFECT),
        (np.eye(3, dtype="f4"), TypeError, DEFECT),
        (np.zeros(2, dtype="f4"), TypeError, DEFECT),
        (np.float32([[1, 0], [np.nan, 1]]), AnalogyQAError, DAMAGED),
        (np.float32([[1, 0], [np.inf, 1]]), AnalogyQAError, DAMAGED),
        (np.float32([[1, 0], [1, 0]]), AnalogyQAError, "all 2 sentences have the same vector"),
    ],
)
def test_vectors_of_a_custom_encoder_are_checked(monkeypatch, vectors, error, message):
    monkeypatch.setitem(PRETRAINED, "mine", PretrainedSpec("collections:Counter"))
    monkeypatch.setattr("collections.Counter", lambda texts, resources: vectors)
    with pytest.raises(error, match=message) if error else nullcontext():
        assert encode_sentences("mine", ["the first", "the second"], RESOURCES) is vectors
