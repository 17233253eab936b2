"""Energies and losses against values worked out by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.objectives.contrastive import contrastive, contrastive_distance
from analogyqa.objectives.energy import energy
from analogyqa.objectives.pairwise import pairwise


def vectors(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def test_energy_is_the_cosine_of_two_shifts():
    first = vectors([1, 0], [1, 0], [1, 0], [3, 4])
    second = vectors([2, 0], [0, 5], [-1, 0], [4, 3])
    assert energy(first, second).tolist() == pytest.approx([1, 0, -1, 24 / 25])


def test_the_energy_of_a_zero_shift_is_0_and_so_is_its_gradient():
    # A prototype's question against itself: with both sides of the parallelogram a - c is 0.
    zero = torch.zeros(1, 2, requires_grad=True)
    value = energy(zero, torch.ones(1, 2))
    value.sum().backward()
    assert value.item() == 0
    assert zero.grad.tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("value", "label", "hinge", "loss"),
    [
        (1.0, 1, False, 0.0),
        (0.5, 1, False, 0.25),
        (-1.0, 1, True, 4.0),
        (0.5, 0, False, 0.16),
        (0.5, 0, True, 0.16),
        (0.1, 0, False, 0.0),
        (-0.4, 0, False, 0.25),
        (-0.4, 0, True, 0.0),
    ],
)
def test_the_contrastive_loss_by_hand(value, label, hinge, loss):
    energies, labels = torch.tensor([value]), torch.tensor([float(label)])
    assert contrastive(energies, labels, 0.1, hinge).tolist() == pytest.approx([loss])


def test_printed_and_hinge_differ_only_for_negatives_below_the_margin():
    energies = torch.linspace(-1, 1, 21)
    for label in (0.0, 1.0):
        labels = torch.full_like(energies, label)
        printed, hinge = (contrastive(energies, labels, 0.15, way) for way in (False, True))
        differs = (printed != hinge).tolist()
        assert differs == [label == 0 and value < 0.15 for value in energies.tolist()]


@pytest.mark.parametrize(
    ("cosine", "label", "margin", "loss"),
    [(1, 1, 0.1, 0), (0.2, 1, 0.1, 0.64), (0.2, 0, 0.1, 0), (0.2, 0, 1.5, 0.49), (1, 0, 0.1, 0.01)],
)
def test_the_contrastive_loss_of_distances_by_hand(cosine, label, margin, loss):
    energies, labels = torch.tensor([float(cosine)]), torch.tensor([float(label)])
    found = contrastive_distance(energies, labels, margin)
    assert found.tolist() == pytest.approx([loss], abs=1e-6)


def test_losses_are_one_number_for_each_quadruple():
    corners = [torch.randn(5, 3, generator=torch.Generator().manual_seed(i)) for i in range(4)]
    labels = torch.tensor([0.0, 1, 0, 1, 1])
    a, b, c, d = corners
    assert contrastive_distance(energy(a - b, c - d), labels, 0.1).shape == (5,)
    assert contrastive(energy(a - b, c - d), labels, 0.1, True).shape == (5,)


def test_the_gradient_reaches_every_corner():
    generator = torch.Generator().manual_seed(0)
    labels = torch.tensor([1.0, 0.0])
    corners = [torch.randn(2, 3, generator=generator).requires_grad_() for _ in range(4)]
    a, b, c, d = corners
    contrastive(energy(a - b, c - d), labels, 0.1, False).sum().backward()
    assert all(corner.grad.abs().sum(dim=1).gt(0).all() for corner in corners)


def test_a_step_down_the_gradient_brings_an_analogy_nearer():
    corners = torch.randn(4, 1, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()

    def loss(corners):
        a, b, c, d = corners
        return contrastive(energy(a - b, c - d), torch.ones(1), 0.1, False).sum()

    before = loss(corners)
    before.backward()
    assert loss(corners - 0.01 * corners.grad) < before


def test_the_pairwise_loss_by_hand():
    # Question 0: 0.9 against 0.2 and 0.8; question 1: 0.1 against 0.3; question 2: none correct.
    energies = torch.tensor([0.2, 0.9, 0.3, 0.8, 0.1, 0.7])
    labels = torch.tensor([0.0, 1, 0, 0, 1, 0])
    questions = torch.tensor([0, 0, 1, 0, 1, 2])
    expected = (0 + (0.5 - 0.9 + 0.8) + (0.5 - 0.1 + 0.3)) / 3
    assert pairwise(energies, labels, questions, 0.5).item() == pytest.approx(expected)


@given(
    pairs=st.lists(
        st.tuples(st.floats(-1, 1, width=32), st.booleans(), st.integers(0, 3)), max_size=12
    ),
    margin=st.floats(0, 2),
)
def test_the_pairwise_loss_is_the_mean_over_all_pairs_of_a_question(pairs, margin):
    terms = [
        max(margin - correct + wrong, 0)
        for correct, label, question in pairs
        for wrong, other_label, other in pairs
        if label and not other_label and question == other
    ]
    energies = torch.tensor([energy for energy, _, _ in pairs], dtype=torch.float64)
    labels = torch.tensor([float(label) for _, label, _ in pairs])
    questions = torch.tensor([question for _, _, question in pairs], dtype=torch.int64)
    expected = sum(terms) / max(len(terms), 1)
    loss = pairwise(energies, labels, questions, margin)
    assert loss.shape == ()
    assert loss.item() == pytest.approx(expected, abs=1e-12)


def test_the_pairwise_loss_falls_when_the_correct_candidate_rises():
    energies = torch.tensor([0.1, 0.2, 0.9], requires_grad=True)
    pairwise(energies, torch.tensor([1.0, 0, 0]), torch.zeros(3), 0.5).backward()
    assert energies.grad.tolist() == [-1, 0.5, 0.5]


def test_the_pairwise_loss_without_pairs_is_0_and_so_is_its_gradient():
    energies = torch.tensor([0.1, 0.2], requires_grad=True)
    loss = pairwise(energies, torch.tensor([1.0, 0]), torch.tensor([0, 1]), 0.5)
    loss.backward()
    assert loss.item() == 0
    assert energies.grad.tolist() == [0, 0]
