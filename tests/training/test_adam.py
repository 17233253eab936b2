"""Adam is that of PyTorch, to the bit."""

import copy

import pytest
import torch

from analogyqa.settings.systems import Training
from analogyqa.training.adam import Adam, adam_of

STEPS = 5


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))


def train(model, optimiser, steps=range(STEPS)) -> list[torch.Tensor]:
    for step in steps:
        optimiser.zero_grad()
        model(torch.full((2, 3), float(step))).square().sum().backward()
        optimiser.step()
    return [parameter.detach().clone() for parameter in model.parameters()]


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_the_steps_are_those_of_pytorch(decoupled, weight_decay):
    model, reference = network(), network()
    reference_class = torch.optim.AdamW if decoupled else torch.optim.Adam
    expected = train(
        reference, reference_class(reference.parameters(), lr=0.01, weight_decay=weight_decay)
    )
    found = train(model, Adam(model.parameters(), 0.01, weight_decay, decoupled))
    assert all(map(torch.equal, found, expected))
    assert not any(map(torch.equal, found, network().parameters()))
    if not weight_decay:  # the default
        model = network()
        assert all(map(torch.equal, train(model, Adam(model.parameters(), 0.01)), expected))


def test_a_state_that_was_kept_goes_on_with_the_same_steps():
    model = network()
    expected = train(model, Adam(model.parameters(), 0.01))
    model = network()
    first = Adam(model.parameters(), 0.01)
    train(model, first, range(2))
    second = Adam(model.parameters(), 0.01)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    assert all(map(torch.equal, train(model, second, range(2, STEPS)), expected))


@pytest.mark.parametrize("coupling", ["coupled", "decoupled"])
def test_the_section_says_how_weights_decay(coupling):
    section = Training(weight_decay=0.1, weight_decay_coupling=coupling)
    model, reference = network(), network()
    expected = train(reference, Adam(reference.parameters(), 1e-3, 0.1, coupling == "decoupled"))
    assert all(map(torch.equal, train(model, adam_of(model.parameters(), section)), expected))
