"""Objectives follow `objectives/specs.py`, and losses match values worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.objectives.losses import contrastive, contrastive_distance
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers import Quadruples, build_ranker
from analogyqa.rankers.energy import energy
from analogyqa.rankers.specs import RANKERS
from analogyqa.settings.systems import System, Training

# Each objective with each ranker that it can train.
FITTING = [
    (loss, ranker)
    for loss, objective in OBJECTIVES.items()
    for ranker, entry in RANKERS.items()
    if entry.reads == "vectors"
    and not entry.fitted
    and not (objective.ranks_pairs and entry.needs_prototypes)
    and not (entry.trained and not objective.ranks_pairs)
    and (entry.has_distances or not objective.reads_distances)
]


@pytest.fixture
def compute_loss(cell):
    """Return the loss of a batch of the toy cell, its vectors with gradients, and the batch."""

    def compute_loss(loss, ranker, vectors=None, margin=0.3, change=lambda batch: batch):
        training = {"loss": loss, "margin": margin, "batch_size": 4}
        values = {"encoder": "bigru", "vectors": "v", "ranker": ranker}
        if ranker == "hyperbolic":
            values["ranker"] = {"name": ranker, "gradient": "euclidean"}
        system = System(title="S", **values, training=training)
        epoch_batches = OBJECTIVES[loss].draws.load()
        batch = next(epoch_batches(cell, system.training, 0, 1, system.compares))
        if vectors is None:
            generator = torch.Generator().manual_seed(0)
            vectors = torch.randn(len(batch.sentences), 4, generator=generator).double()
        vectors = vectors.detach().requires_grad_()
        ranker = build_ranker(system, vectors.shape[1], 0)
        quadruples, labels = change(batch).quadruples(vectors)
        value = OBJECTIVES[loss].load()(ranker, quadruples, labels, system.training)
        value.backward()
        return value.detach(), vectors, batch

    return compute_loss


# The interface


@pytest.mark.parametrize(("loss", "ranker"), FITTING)
def test_a_gradient_step_lowers_the_loss(compute_loss, loss, ranker):
    value, vectors, _ = compute_loss(loss, ranker)
    assert (value.shape, value.dtype) == ((), torch.float64)
    assert 0 < value < (100 if OBJECTIVES[loss].summed else 20)
    assert compute_loss(loss, ranker, vectors - 0.01 * vectors.grad)[0] < value


@pytest.mark.parametrize(("loss", "ranker"), FITTING)
def test_a_loss_depends_on_the_expected_sentences(compute_loss, loss, ranker):
    # With these margins, every pair has a gradient.
    is_far = RANKERS[ranker].trained or loss == "lwda_euclidean"
    margin = -1 if loss == "hinge" else 100 if is_far else 2.5
    _, vectors, batch = compute_loss(loss, ranker, margin=margin)
    assert bool(len(batch.a)) == bool(len(batch.b)) == RANKERS[ranker].needs_prototypes
    if loss == "mix":
        # Of the candidates from which the hardest is taken, only that one has a gradient.
        assert len(vectors.grad.abs().sum(dim=1).nonzero()) >= 3
        return
    has_rivals = {c for c in batch.c if len(set(batch.labels[batch.c == c])) == 2}
    read = np.isin(batch.c, list(has_rivals)) if OBJECTIVES[loss].ranks_pairs else batch.c >= 0
    used = np.unique(np.concatenate([batch.a, batch.b, batch.c[read], batch.d[read]]))
    assert vectors.grad.abs().sum(dim=1).nonzero().ravel().tolist() == used.tolist()


@pytest.mark.parametrize("loss", [loss for loss, entry in OBJECTIVES.items() if entry.one_sided])
@pytest.mark.parametrize("ranker", sorted({ranker for loss, ranker in FITTING if loss == "lwda"}))
def test_two_sided_loss_is_one_sided_for_a_ranker_of_one_side(compute_loss, loss, ranker):
    names = loss, OBJECTIVES[loss].one_sided
    two_sided, one_sided = (compute_loss(name, ranker)[0].item() for name in names)
    assert (two_sided == one_sided) == (RANKERS[ranker].sides == 1)


class FixedEnergies:
    """A ranker with the energy of each candidate."""

    def __init__(self, energies):
        self.fixed = torch.tensor(energies, dtype=torch.float64)

    def energies(self, quadruples, both_sides=False):
        return [self.fixed[quadruples.d]]


def loss_by_hand(loss, energies, labels, questions, **training):
    """Return the loss of candidates, given by their energies, labels and questions."""
    c = torch.tensor(questions, dtype=torch.int64)
    quadruples = Quadruples(None, c[:0], c[:0], c, torch.arange(len(c)))
    labels = torch.tensor(labels, dtype=torch.float64)
    training = Training(loss=loss, **training)
    return OBJECTIVES[loss].load()(FixedEnergies(energies), quadruples, labels, training)


@pytest.mark.parametrize(
    ("random", "hardest", "expected"),
    [(1, 1, 1.3), (1, 2, 1.6), (2, 0, 0.9), (0, 1, 1.0), (0, 3, 1.3)],
)
def test_mix_by_hand(random, hardest, expected):
    """Losses of A: 0 and .2 (random), .4 and .3 (others); of B: .3 and .4, .6 and none."""
    energies = [[0.9, 0.2, 0.6, 0.8, 0.7], [0.2, 0.0, 0.1, 0.3, 5.0]]  # correct, random, others
    labels = [[1, 0, 0, 0, 0], [1, 0, 0, 0, 1]]  # the correct one fills B's gap
    columns = [0, *range(1, 1 + random), 3, 4]
    energies, labels = (np.array(values)[:, columns].ravel() for values in (energies, labels))
    negatives = {"random": random, "hardest": hardest, "count": 2}
    questions = np.repeat([0, 1], len(columns))
    loss = loss_by_hand("mix", energies, labels, questions, margin=0.5, negatives=negatives)
    assert loss.item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("random", "hardest", "expected"), [(1, 1, 1.6), (0, 1, 0.7), (1, 0, 0.6), (9, 9, 2.1)]
)
def test_mix_as_coded_by_hand(random, hardest, expected):
    """Losses of A: .3, .5 and .4, of which the last is hardest; of B: .3, the hardest, and .6."""
    vectors = torch.tensor([[1, 0], [0, 1], [-1, 0], [3, 1]], dtype=torch.float64)
    d = torch.tensor([0, 1, 2, 3, 0, 3, 1])  # the candidates of A, then those of B
    quadruples = Quadruples(vectors, d[:0], d[:0], torch.tensor([0] * 4 + [1] * 3), d)
    energies = torch.tensor([0.9, 0.7, 0.9, 0.8, 0.5, 0.3, 0.6], dtype=torch.float64)
    labels = torch.tensor([1.0, 0, 0, 0, 1, 0, 0], dtype=torch.float64)
    ranker = SimpleNamespace(energies=lambda quadruples: [energies])
    negatives = {"random": random, "hardest": hardest}
    training = Training(loss="mix_coded", margin=0.5, negatives=negatives)
    value = OBJECTIVES["mix_coded"].load()(ranker, quadruples, labels, training)
    assert value.item() == pytest.approx(expected)


@pytest.mark.parametrize("ranker", ["analogy", "cosine"])
def test_the_euclidean_loss_by_hand(compute_loss, ranker):
    value, vectors, batch = compute_loss("lwda_euclidean", ranker, margin=3.0)
    v = vectors.detach().numpy()
    difference = v[batch.d] - v[batch.c]
    if ranker == "analogy":
        difference += v[batch.a] - v[batch.b]
    distance = np.linalg.norm(difference, axis=1)
    losses = np.where(batch.labels == 1, distance**2, np.maximum(3.0 - distance, 0) ** 2)
    # Both sides have the same distance.
    assert value.item() == pytest.approx(losses.mean() * (2 if ranker == "analogy" else 1))


# Contrastive


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


@pytest.mark.parametrize(
    ("distance", "label", "margin", "loss"),
    [(0, 1, 0.1, 0), (0.8, 1, 0.1, 0.64), (0.8, 0, 0.1, 0), (0.8, 0, 1.5, 0.49), (0, 0, 0.1, 0.01)],
)
def test_the_contrastive_loss_of_distances_by_hand(distance, label, margin, loss):
    distances, labels = torch.tensor([float(distance)]), torch.tensor([float(label)])
    losses = contrastive_distance(distances, labels, margin)
    assert losses.tolist() == pytest.approx([loss], abs=1e-6)


# Pairwise


@given(
    pairs=st.lists(
        st.tuples(st.floats(-1, 1), st.booleans(), st.integers(0, 3)), min_size=1, max_size=12
    ),
    margin=st.floats(0, 2),
)
def test_the_pairwise_loss_is_a_mean_over_correct_candidates(pairs, margin):
    terms = []
    for correct, label, question in pairs:
        gaps = [
            max(margin - correct + wrong, 0)
            for wrong, other_label, other in pairs
            if label and not other_label and question == other
        ]
        terms += [sum(gaps) / len(gaps)] if gaps else []
    expected = sum(terms) / max(len(terms), 1)
    loss = loss_by_hand("pairwise", *zip(*pairs, strict=True), margin=margin)
    assert (loss.shape, loss.item()) == ((), pytest.approx(expected, abs=1e-12))


def test_the_pairwise_loss_counts_each_pair_once(compute_loss):
    def repeat_pairs(batch):
        columns = {name: getattr(batch, name) for name in ("c", "d", "labels")}
        return batch._replace(**{name: np.r_[rows, rows[:5]] for name, rows in columns.items()})

    value, vectors, batch = compute_loss("pairwise", "cosine", margin=0.5)
    pairs = sorted({*zip(batch.c.tolist(), batch.d.tolist(), batch.labels.tolist(), strict=True)})
    assert len(pairs) < len(batch.labels)
    c, d, labels = map(torch.tensor, zip(*pairs, strict=True))
    energies = energy(vectors[c], vectors[d]).tolist()
    expected = loss_by_hand("pairwise", energies, labels.tolist(), c.tolist(), margin=0.5)
    assert value.item() == pytest.approx(expected.item())
    assert compute_loss("pairwise", "cosine", change=repeat_pairs, margin=0.5)[0] == value


# Listwise


def test_the_listwise_loss_is_the_cross_entropy_of_each_question():
    """A question without a correct candidate adds nothing."""
    energies = torch.tensor([1.0, 2.0, 0.5, 3.0, -1.0, 3.0], dtype=torch.float64)
    value = loss_by_hand("listwise", energies.tolist(), [1, 0, 1, 0, 1, 0], [3, 3, 3, 7, 7, 8])
    shares = [energies[:3].softmax(dim=0), energies[3:5].softmax(dim=0)]
    expected = -(shares[0][0].log() + shares[0][2].log()) / 2, -shares[1][1].log()
    assert value.item() == pytest.approx(sum(expected).item() / 3)
