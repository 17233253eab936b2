"""Steps equal those of PyTorch, and those that the code of HyperQA takes."""

from copy import deepcopy

import pytest
import torch

from analogyqa.settings.systems import Training
from analogyqa.training.adagrad import START, AdaGrad, adagrad_coded_of, adagrad_of, converted


def parameter(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.nn.Parameter(torch.randn(3, 2, generator=generator))


def steps(optimiser, own, count=3):
    for _ in range(count):
        optimiser.zero_grad()
        (own**2).sum().backward()
        optimiser.step()
    return own.detach()


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_the_steps_are_those_of_torch(decay):
    ours, theirs = parameter(), parameter()
    reference = torch.optim.Adagrad(
        [theirs], lr=0.1, weight_decay=decay, initial_accumulator_value=START
    )
    found = steps(AdaGrad([ours], 0.1, decay), ours)
    assert torch.equal(found, steps(reference, theirs))


@pytest.mark.parametrize(
    ("gradient", "decay", "clip_norm", "expected"),
    [
        # Of norm .5: (.75^2 + 1e-5) / 4 = .1406275.
        ([[0.3, 0.4]], 0.0, 1.0, [[0.04218825, 0.056251]]),
        # A bias is not scaled, and has no L2 penalty.
        ([0.3, 0.4], 0.5, 1.0, [0.3, 0.4]),
        # With .5 times the parameter, which is 1, both values are .3: ((1 - .18)^2 + 1e-5) / 4.
        ([[-0.2, -0.2]], 0.5, 1.0, [[0.05043075, 0.05043075]]),
        # Of norm 5: (24^2 + 1e-5) / 4 = 144 times [3, 4] is above 10 twice, and [10, 10] above 1.
        ([[3.0, 4.0]], 0.0, 1.0, [[0.5**0.5, 0.5**0.5]]),
        ([[3.0, 4.0]], 0.0, 20.0, [[10.0, 10.0]]),
        ([30.0, -4.0], 0.0, 20.0, [10.0, -4.0]),
        # The norm of [10, -7.5] is 12.5.
        ([30.0, -7.5], 0.0, 5.0, [4.0, -3.0]),
    ],
)
def test_gradients_are_converted_as_coded(gradient, decay, clip_norm, expected):
    gradient = torch.tensor(gradient)
    found = converted(gradient, torch.ones_like(gradient), decay, clip_norm)
    torch.testing.assert_close(found, torch.tensor(expected))


def test_a_coded_step_is_one_with_converted_gradients():
    own, plain = parameter(), parameter()
    coded = AdaGrad([own], 0.1, 0.2, clip_norm=1.0)
    own.grad = torch.full_like(own, 0.1)
    plain.grad = converted(own.grad, own.detach(), 0.2, 1.0)
    coded.step()
    AdaGrad([plain], 0.1).step()
    assert torch.equal(own.detach(), plain.detach())


def test_a_training_names_its_optimiser():
    training = Training(learning_rate=0.5, weight_decay=0.2, clip_norm=3)
    plain, coded = (build([parameter()], training) for build in (adagrad_of, adagrad_coded_of))
    assert (plain.learning_rate, plain.weight_decay, plain.clip_norm) == (0.5, 0.2, None)
    assert coded.clip_norm == 3


def test_a_state_goes_on_where_it_was():
    own, other = parameter(), parameter()
    first = AdaGrad([own], 0.1)
    steps(first, own)
    second = AdaGrad([other], 0.1)
    other.data.copy_(own.data)
    second.load_state_dict(deepcopy(first.state_dict()))
    assert torch.equal(steps(first, own), steps(second, other))
