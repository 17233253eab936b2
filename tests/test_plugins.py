"""Every encoder and ranker keeps the contract of its kind: a test for each plug-in and check."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from analogyqa.encoders import build_encoder
from analogyqa.encoders.check import check_encoder
from analogyqa.encoders.specs import ENCODERS
from analogyqa.rankers import Encoded, Quadruples, build_ranker
from analogyqa.rankers.specs import RANKERS
from analogyqa.settings.base import override_paths
from analogyqa.settings.overrides import RANKER, SYSTEM_PATHS
from analogyqa.settings.systems import System, Training
from analogyqa.training.scoring import array_encoder
from builders.networks import DIM, build, scores, sentences

WORDS = 40
VECTORS = np.random.default_rng(0).normal(size=(WORDS, DIM)).astype(np.float32)
IDS = torch.randint(1, WORDS, (6, 9), generator=torch.Generator().manual_seed(1))
LENGTHS = torch.tensor([3, 9, 1, 9, 4, 6])


class Network(NamedTuple):
    """A plug-in that learns.

    Attributes:
        name: Its kind and key.
        build: Makes it with a seed, `dim` and keys of the training section.
        outputs: Its outputs for some sentences or pairs [n], with a number of additional words of
            padding; in the reverse order with `is_reversed`, and with empty sentences with
            `is_empty`.
        size: The parameters of a published size, as its docstring says: `dim`, `sentence_dim` and
            their number.
        has_dropout: Whether the dropout of the training section acts on it.
    """

    name: str
    build: Callable[..., nn.Module]
    outputs: Callable[..., Tensor]
    size: tuple[int, int, int]
    has_dropout: bool = True


def build_small_encoder(name: str, seed: int = 0, dim: int = DIM, **training) -> nn.Module:
    vectors = VECTORS if dim == DIM else np.zeros((2, dim), dtype=np.float32)
    settings = Training(**{"sentence_dim": 10, "dropout": 0.0} | training)
    return build_encoder(name, vectors, settings, seed)


def encode(
    encoder: nn.Module, padding: int = 0, is_reversed: bool = False, is_empty: bool = False
) -> Tensor:
    ids, lengths = IDS, LENGTHS
    if is_empty:
        lengths = torch.tensor([0, 1, 0, 2, 0, 0])
    if padding:  # other ids, too
        inside = torch.arange(ids.shape[1]) < lengths[:, None]
        ids = nn.functional.pad(ids.where(inside, ids.flip(0)), (0, padding), value=7)
    if is_reversed:
        return encoder(ids.flip(0), lengths.flip(0)).flip(0)
    return encoder(ids, lengths)


def score_pairs(
    ranker: nn.Module, padding: int = 0, is_reversed: bool = False, is_empty: bool = False
) -> Tensor:
    vectors = sentences([0, 0, 4] if is_empty else [3, 7, 1, 1, 2, 5], padding)
    c, d = ([0, 0, 0, 2], [0, 1, 2, 1]) if is_empty else ([0, 0, 2, 3, 5, 4], [1, 2, 1, 3, 0, 3])
    if is_reversed:
        return scores(ranker, vectors, c[::-1], d[::-1]).flip(0)
    return scores(ranker, vectors, c, d)


def score_vectors(ranker: nn.Module, is_reversed: bool = False, **unused) -> Tensor:
    """Score pairs of sentence vectors, which have no padding."""
    vectors = torch.from_numpy(VECTORS[:8])
    rows = torch.arange(4)
    c, d = (rows.flip(0), rows.flip(0) + 4) if is_reversed else (rows, rows + 4)
    (energies,) = ranker.energies(Quadruples(vectors, rows[:0], rows[:0], c, d))
    return energies.flip(0) if is_reversed else energies


SIZES = {
    "encoder bigru": (300, 300, 406_800),
    "encoder bilstm": (300, 600, 1_444_800),
    "encoder cnn": (300, 300, 450_300),
    "encoder nbow": (300, 300, 90_300),
    "encoder nbow_xavier": (300, 300, 90_300),
    "ranker ai_cnn": (300, 100, 120_601),
    "ranker ap_cnn": (300, 300, 540_300),
    "ranker ap_bilstm": (300, 600, 1_804_800),
    "ranker mp_cnn": (300, 150, 10_045_561),
    "ranker compare_aggregate": (300, 150, 564_001),
    "ranker hyperbolic": (300, 300, 2),
    "ranker scaled_cosine": (300, 300, 2),
}


def networks() -> Iterator[Network]:
    """Yield all plug-ins that learn from vectors; minilm has a test file of its own."""
    for name, entry in ENCODERS.items():
        if entry.trained and entry.needs_vectors:
            title = f"encoder {name}"
            yield Network(title, partial(build_small_encoder, name), encode, SIZES[title])
    for name, entry in RANKERS.items():
        if entry.trained:
            title, reads_words = f"ranker {name}", entry.reads == "words"
            outputs = score_pairs if reads_words else score_vectors
            yield Network(title, partial(build, name), outputs, SIZES[title], reads_words)


def weights(module: nn.Module) -> Tensor:
    return nn.utils.parameters_to_vector(module.parameters()).detach()


@pytest.fixture(params=networks(), ids=lambda network: network.name)
def network(request) -> Network:
    return request.param


@pytest.fixture
def module(network) -> nn.Module:
    return network.build()


def test_initial_weights_follow_the_seed(network):
    first, again, other = (weights(network.build(seed)) for seed in (1, 1, 2))
    assert first.equal(again)
    is_drawn = len(first) > 2  # a weight and a bias start at constants
    assert first.equal(other) != is_drawn


def test_outputs_are_finite_float32_and_depend_on_both_sides(network, module):
    outputs = network.outputs(module)
    assert outputs.dtype == torch.float32 and outputs.isfinite().all()
    assert len(outputs.unique(dim=0)) == len(outputs)


def test_padding_changes_nothing(network, module):
    for value in (0.3, -0.6):  # the values of padding would win a maximum
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.add_(value)
        for is_empty in (False, network.name != "encoder bigru"):  # reads its first padding id
            narrow, wide = (network.outputs(module, padding=n, is_empty=is_empty) for n in (0, 4))
            torch.testing.assert_close(narrow, wide)


def test_order_changes_nothing(network, module):
    reverse = network.outputs(module, is_reversed=True)
    torch.testing.assert_close(reverse, network.outputs(module))


def test_empty_sentences_have_finite_outputs_and_gradients(network, module):
    outputs = network.outputs(module, is_empty=True)
    outputs.sum().backward()
    assert outputs.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in module.parameters())


def test_gradients_reach_every_parameter(network):
    module = network.build(dropout=0.5)
    network.outputs(module).sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in module.parameters())


def test_a_diverged_weight_shows(network, module):
    with torch.no_grad():
        next(module.parameters()).view(-1)[0] = torch.nan
    assert network.outputs(module).isnan().any()


def test_the_state_is_that_of_the_parameters(network, module):
    """Word vectors are neither trained nor saved."""
    other = network.build(1)
    assert set(module.state_dict()) == {name for name, _ in module.named_parameters()}
    other.load_state_dict(module.state_dict())
    assert network.outputs(other).equal(network.outputs(module))


def test_dropout_acts_in_training_only(network, module):
    expected = network.outputs(module)
    for place in ("word_vectors", "sentence_vector", "both"):
        module = network.build(dropout=0.5, dropout_place=place)
        assert network.outputs(module).equal(expected) != network.has_dropout
        before = torch.get_rng_state()
        assert network.outputs(module.eval()).equal(expected)
        assert torch.get_rng_state().equal(before)


def test_a_published_size_has_its_number_of_parameters(network):
    dim, sentence_dim, count = network.size
    assert len(weights(network.build(dim=dim, sentence_dim=sentence_dim))) == count


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_passes_its_check_and_accepts_empty_sentences(name):
    check_encoder(name)
    entry = ENCODERS[name]
    encoder = build_encoder(name, VECTORS if entry.needs_vectors else None, Training(), seed=0)
    if entry.trained or entry.gives_words:
        encoder = array_encoder(encoder.eval(), torch.device("cpu"))
    assert np.isfinite(encoder(np.zeros((1, 1), dtype=np.int64), np.array([0]))).all()


@pytest.mark.parametrize("name", [name for name, entry in ENCODERS.items() if not entry.trained])
def test_an_encoder_without_training_follows_its_seed_if_it_draws(name):
    entry = ENCODERS[name]
    inputs = (IDS, LENGTHS) if entry.gives_words else (IDS.numpy(), LENGTHS.numpy())
    first, again, other = (
        np.asarray(build_encoder(name, VECTORS, Training(sentence_dim=6), seed)(*inputs))
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert np.array_equal(first, other) != entry.drawn


# Rankers that compare sentence vectors without learning more than a weight

COMPARING = [
    name
    for name, entry in RANKERS.items()
    if entry.reads == "vectors" and not entry.trained and not entry.fitted
]


def ranker_of(name: str):
    return build_ranker(System(title="R", ranker=name, encoder="random"))


def encoded(name: str, prototypes: int) -> Encoded:
    """Return the vectors of a split; if a ranker needs prototypes, each pair has all of them."""
    count = prototypes if RANKERS[name].needs_prototypes else 0
    sides = np.split(VECTORS[: 12 + 2 * count], [6, 12, 12 + count])
    return Encoded(np.arange(6) // 2, *sides, np.tile(np.arange(count), 6),
                   np.repeat(np.arange(6), count))  # fmt: skip


@pytest.mark.parametrize("name", COMPARING)
def test_a_ranker_scores_each_pair_and_names_its_best_prototype(name):
    scores, best = ranker_of(name).scores(encoded(name, 4))
    assert (scores.dtype, scores.shape) == (np.float32, (6,))
    assert np.isfinite(scores).all()
    assert (np.issubdtype(best.dtype, np.integer), best.shape) == (True, (6,))
    assert set(best) <= (set(range(4)) if RANKERS[name].needs_prototypes else {-1})


@pytest.mark.parametrize("name", COMPARING)
def test_a_score_is_the_energy_of_a_pair_and_its_one_prototype(name):
    """Training increases the energies by which candidates are ranked."""
    scores, _ = ranker_of(name).scores(encoded(name, 1))
    rows = torch.arange(6)
    a, b = torch.full((6,), 12), torch.full((6,), 13)
    (energies,) = ranker_of(name).energies(
        Quadruples(torch.from_numpy(VECTORS), a, b, rows, rows + 6)
    )
    np.testing.assert_allclose(scores, energies.detach(), atol=1e-6)


@pytest.mark.parametrize("name", COMPARING)
def test_both_sides_begin_with_the_first_and_have_the_specified_number(name):
    corners = torch.from_numpy(VECTORS[:12]).requires_grad_()
    quadruples = Quadruples(corners, *torch.arange(12).view(4, 3))
    one, both = (ranker_of(name).energies(quadruples, sides) for sides in (False, True))
    assert (len(one), len(both)) == (1, RANKERS[name].sides)
    assert all(torch.equal(side, one[0]) == (side is both[0]) for side in both)
    sum(both).sum().backward()
    moved = corners.grad.abs().sum(dim=1).gt(0)
    assert moved[:6].all() == RANKERS[name].needs_prototypes
    assert moved[6:].all()


@pytest.mark.parametrize(("name", "entry"), RANKERS.items())
def test_an_option_is_an_override_of_its_rankers_only(name, entry):
    values = {"parts": ["a", "b"]} if entry.reads == "scores" else {}
    values = {"title": "R", "ranker": {"name": name, **values}}
    if entry.reads == "words":
        values |= {"encoder": "words", "vectors": "v"}
    elif entry.trained:
        values |= {"encoder": "nbow", "vectors": "v"}
    elif entry.needs_encoder:
        values |= {"encoder": "random"}
    if entry.trained:
        values |= {"training": {"loss": "pairwise"}}
    system = System(**values)
    paths = [path for path in SYSTEM_PATHS if path.startswith(RANKER) and system.reads(path)]
    read = [path.removeprefix(RANKER) for path in paths]
    assert read == list(override_paths(entry.options))
    assert {override.partition(".")[0] for override in read} == {*entry.options.names()} - {"parts"}
