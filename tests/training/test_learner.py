"""The losses that a learner adds up, and the averages of its weights over all steps."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.training.learner import Learner, WeightAverages
from builders.cells import trained_system

STEPS = st.lists(st.floats(-100, 100, width=32), max_size=9)


def make_parameter(value: float) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.full((2,), value))


@given(steps=STEPS, decay=st.sampled_from([0.1, 0.5, 0.9, 0.99]))
def test_a_step_weighs_decay_to_the_power_of_the_later_steps(steps, decay):
    parameter = make_parameter(7.0)
    averages = WeightAverages([parameter], decay)
    for value in steps:
        parameter.data.fill_(value)
        averages.update()
    shares = decay ** np.arange(len(steps))[::-1]
    with averages.in_place():
        averaged = parameter.tolist()
    expected = np.average(steps, weights=shares) if steps else 7
    np.testing.assert_allclose(averaged, [expected] * 2, rtol=1e-3, atol=1e-3)
    assert parameter.tolist() == [[7, *steps][-1]] * 2


def test_an_error_restores_the_weights():
    parameter = make_parameter(7.0)
    averages = WeightAverages([parameter], 0.5)
    averages.update()
    parameter.data.fill_(1)
    with pytest.raises(KeyboardInterrupt), averages.in_place():
        assert parameter.tolist() == [7, 7]
        raise KeyboardInterrupt
    assert parameter.tolist() == [1, 1]


@pytest.mark.parametrize(("loss", "expected"), [("pairwise", 6.0), ("mix", 2.0)])
def test_a_mean_becomes_a_sum_over_the_batch_and_a_sum_stays(cell, loss, expected):
    learner = Learner(trained_system("cosine", loss=loss), cell, 0, torch.device("cpu"))
    assert learner.summed(2.0, torch.zeros(3)) == expected
