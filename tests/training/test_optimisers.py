"""Steps equal those of PyTorch's optimisers, or those of the HyperQA authors' code."""

from copy import deepcopy
from functools import partial

import pytest
import torch

from analogyqa.settings.systems import Training
from analogyqa.training.optimisers import START, converted
from analogyqa.training.specs import OPTIMISERS

ADAGRAD = partial(torch.optim.Adagrad, initial_accumulator_value=START)


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))


def make_optimiser(name: str, model: torch.nn.Module, **values):
    training = Training(**{"learning_rate": 0.01, "weight_decay": 0} | values)
    return OPTIMISERS[name].load()(model.parameters(), training)


def train(model, optimiser, steps=range(5)) -> list[torch.Tensor]:
    for step in steps:
        optimiser.zero_grad()
        model(torch.full((2, 3), float(step))).square().sum().backward()
        optimiser.step()
    return [parameter.detach().clone() for parameter in model.parameters()]


@pytest.mark.parametrize(
    ("name", "coupling", "reference"),
    [
        ("adam", "coupled", torch.optim.Adam),
        ("adam", "decoupled", torch.optim.AdamW),
        ("adagrad", "coupled", ADAGRAD),
    ],
)
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_steps_match_those_of_pytorch(name, coupling, reference, decay):
    model, other = network(), network()
    values = {"weight_decay": decay, "weight_decay_coupling": coupling}
    weights = train(model, make_optimiser(name, model, **values))
    expected = train(other, reference(other.parameters(), lr=0.01, weight_decay=decay))
    assert all(map(torch.equal, weights, expected))
    assert not any(map(torch.equal, weights, network().parameters()))


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_saved_state_continues_with_the_same_steps(name):
    model = network()
    expected = train(model, make_optimiser(name, model))
    model = network()
    first, second = make_optimiser(name, model), make_optimiser(name, model)
    train(model, first, range(2))
    second.load_state_dict(deepcopy(first.state_dict()))
    assert all(map(torch.equal, train(model, second, range(2, 5)), expected))


@pytest.mark.parametrize(
    ("gradient", "decay", "clip_norm", "scaled", "expected"),
    [
        # The norm is .5: (.75^2 + 1e-5) / 4 = .1406275.
        ([[0.3, 0.4]], 0.0, 1.0, True, [[0.04218825, 0.056251]]),
        ([[0.3, 0.4]], 0.0, 1.0, False, [[0.3, 0.4]]),
        # A bias is not scaled, and has no L2 penalty.
        ([0.3, 0.4], 0.5, 1.0, True, [0.3, 0.4]),
        ([0.3, 0.4], 0.5, 1.0, False, [0.3, 0.4]),
        # With .5 times the parameter, which is 1, both values are .3: ((1 - .18)^2 + 1e-5) / 4.
        ([[-0.2, -0.2]], 0.5, 1.0, True, [[0.05043075, 0.05043075]]),
        ([[-0.2, -0.2]], 0.5, 1.0, False, [[0.3, 0.3]]),
        # The norm is 5: (24^2 + 1e-5) / 4 = 144 times [3, 4] is clipped to 10, then to the norm 1.
        ([[3.0, 4.0]], 0.0, 1.0, True, [[0.5**0.5, 0.5**0.5]]),
        ([[3.0, 4.0]], 0.0, 1.0, False, [[0.6, 0.8]]),
        ([[3.0, 4.0]], 0.0, 20.0, True, [[10.0, 10.0]]),
        ([30.0, -4.0], 0.0, 20.0, True, [10.0, -4.0]),
        # The norm of [10, -7.5] is 12.5.
        ([30.0, -7.5], 0.0, 5.0, True, [4.0, -3.0]),
        ([[30.0, -7.5]], 0.0, 5.0, False, [[4.0, -3.0]]),
    ],
)
def test_gradients_are_converted_as_coded(gradient, decay, clip_norm, scaled, expected):
    gradient = torch.tensor(gradient)
    actual = converted(gradient, torch.ones_like(gradient), decay, clip_norm, scaled)
    torch.testing.assert_close(actual, torch.tensor(expected))


@pytest.mark.parametrize(
    ("name", "is_scaled"), [("adagrad_coded", True), ("adagrad_clipped", False)]
)
def test_a_coded_step_uses_converted_gradients(name, is_scaled):
    model, other = network(), network()
    coded = make_optimiser(name, model, weight_decay=0.2, clip_norm=3)
    plain = make_optimiser("adagrad", other)
    for parameter, copy in zip(model.parameters(), other.parameters(), strict=True):
        parameter.grad = torch.full_like(parameter, 2.0)
        copy.grad = converted(parameter.grad, parameter.detach(), 0.2, 3, is_scaled)
    coded.step()
    plain.step()
    assert all(map(torch.equal, model.parameters(), other.parameters()))
