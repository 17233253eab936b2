"""Steps equal those of PyTorch, and those that the code of HyperQA takes."""

from copy import deepcopy

import pytest
import torch

from analogyqa.settings.systems import Training
from analogyqa.training.adagrad import START, AdaGrad, adagrad_of, adagrad_riemannian_of


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


def test_a_riemannian_step_scales_the_gradient_by_its_own_norm():
    own, plain = parameter(), parameter()
    riemannian = AdaGrad([own], 0.1, riemannian=True)
    own.grad = torch.full_like(own, 0.1)
    norm = own.grad.norm()
    plain.grad = own.grad * ((1 - norm**2) ** 2 + 1e-5) / 4
    riemannian.step()
    AdaGrad([plain], 0.1).step()
    assert torch.equal(own.detach(), plain.detach())


def test_a_training_names_its_optimiser():
    training = Training(learning_rate=0.5, weight_decay=0.2)
    plain, coded = (build([parameter()], training) for build in (adagrad_of, adagrad_riemannian_of))
    assert (plain.learning_rate, plain.weight_decay, plain.riemannian) == (0.5, 0.2, False)
    assert coded.riemannian


def test_a_state_goes_on_where_it_was():
    own, other = parameter(), parameter()
    first = AdaGrad([own], 0.1)
    steps(first, own)
    second = AdaGrad([other], 0.1)
    other.data.copy_(own.data)
    second.load_state_dict(deepcopy(first.state_dict()))
    assert torch.equal(steps(first, own), steps(second, other))
