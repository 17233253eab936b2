"""Dropout at each place, with a mask for each vector or one for the whole batch."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.encoders.word_vectors import Dropout
from analogyqa.settings.systems import Training

PLACES = ["word_vectors", "sentence_vector"]
SHAPES = [(50, 40), (5, 10, 40)]


def dropout(rate=0.5, mask="own", where="both", place="word_vectors") -> Dropout:
    torch.manual_seed(0)
    return Dropout(Training(dropout=rate, dropout_mask=mask, dropout_place=where), place)


@pytest.mark.parametrize("mask", ["own", "shared"])
def test_no_dropout_in_evaluation_or_at_rate_0(mask):
    x = torch.randn(50, 40)
    for layer in (dropout(mask=mask).eval(), dropout(0, mask)):
        before = torch.get_rng_state()
        assert layer(x) is x
        assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize("shape", SHAPES)
def test_each_vector_has_its_own_mask_or_all_share_one(shape):
    masks = dropout()(torch.ones(shape)).eq(0).view(-1, shape[-1])
    assert len(masks.unique(dim=0)) == len(masks) == 50
    layer, x = dropout(mask="shared"), torch.ones(shape)
    first, second = (layer(x).eq(0).view(-1, shape[-1]).unique(dim=0) for _ in range(2))
    assert len(first) == len(second) == 1
    assert 0 < first.sum() < shape[-1]
    assert not first.equal(second)  # each batch draws a new mask


@given(st.floats(0.01, 0.95), st.sampled_from(["own", "shared"]))
def test_kept_coordinates_are_scaled(rate, mask):
    x = torch.linspace(1, 2, 60).view(3, 20).double()
    original = x.clone()
    y = dropout(rate, mask)(x)
    kept = y != 0
    torch.testing.assert_close(y[kept], x[kept] / (1 - rate))
    assert x.equal(original)
