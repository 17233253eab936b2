import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from analogyqa.encoders import gru
from analogyqa.encoders.bigru import BiGRUEncoder
from analogyqa.encoders.gru import GRUMax, linear, reversed_rows
from analogyqa.settings.systems import Training

WORDS, DIM, SENTENCE_DIM = 40, 12, 10
LENGTHS = torch.tensor([3, 9, 1, 9, 4, 6])


def build(**training) -> BiGRUEncoder:
    vectors = np.random.default_rng(0).normal(size=(WORDS, DIM))
    settings = {"sentence_dim": SENTENCE_DIM, "dropout": 0.0} | training
    return BiGRUEncoder(vectors, Training(**settings), seed=0)


def sentences(lengths: Tensor = LENGTHS, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(WORDS, (len(lengths), int(lengths.max())), generator=generator)


def one_by_one(encoder: BiGRUEncoder, words: Tensor, lengths: Tensor) -> Tensor:
    """Encode as the paper says it, with neither padding nor packing."""
    rows = zip(words, lengths.tolist(), strict=True)
    return torch.stack(
        [encoder.gru(encoder.word_vectors[ids[:length]])[0].amax(dim=0) for ids, length in rows]
    )


def gradients(encoder: BiGRUEncoder, vectors: Tensor) -> list[Tensor]:
    weights = torch.linspace(-1, 1, vectors.numel(), dtype=vectors.dtype).view_as(vectors)
    return list(torch.autograd.grad((vectors * weights).sum(), list(encoder.parameters())))


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_vectors_and_gradients_are_those_of_a_gru_over_each_sentence_alone(dtype, tolerance):
    encoder, words = build().to(dtype), sentences()
    vectors, expected = encoder(words, LENGTHS), one_by_one(encoder, words, LENGTHS)
    torch.testing.assert_close(vectors, expected, rtol=tolerance, atol=tolerance)
    pairs = zip(gradients(encoder, vectors), gradients(encoder, expected), strict=True)
    for gradient, reference in pairs:
        torch.testing.assert_close(gradient, reference, rtol=tolerance, atol=tolerance)


def test_the_path_of_other_devices_gives_the_same_vectors_and_gradients(monkeypatch):
    encoder, words = build().double(), sentences()
    vectors = encoder(words, LENGTHS)
    monkeypatch.setattr(encoder, "_pool", encoder._pool_on_gpu)
    others = encoder(words, LENGTHS)
    torch.testing.assert_close(vectors, others)
    torch.testing.assert_close(gradients(encoder, vectors), gradients(encoder, others))


@pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this PyTorch has no oneDNN operator"
)
def test_without_onednn_the_vectors_and_gradients_are_the_same(monkeypatch):
    encoder, words = build(), sentences()
    monkeypatch.setattr(gru, "_USE_ONEDNN", True)
    vectors = encoder(words, LENGTHS)
    expected = gradients(encoder, vectors)
    monkeypatch.setattr(gru, "_USE_ONEDNN", False)
    plain = encoder(words, LENGTHS)
    torch.testing.assert_close(plain, vectors)
    torch.testing.assert_close(gradients(encoder, plain), expected)


@pytest.mark.parametrize("rows", [None, [2, 0, 0, 1, 2, 0]])
def test_gradients_are_the_derivatives_also_by_the_input(rows):
    torch.manual_seed(0)
    shapes = [(9, 4), (9, 3), (9,), (9,)]
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    x = torch.randn(6 if rows is None else 3, 4, dtype=torch.float64, requires_grad=True)
    rows = None if rows is None else torch.tensor(rows)
    assert torch.autograd.gradcheck(
        lambda x, *weights: GRUMax.apply(x, rows, *weights, [3, 2, 1]), (x, *inputs)
    )


def test_one_state_gets_the_gradient_where_states_tie():
    zeros = [torch.zeros(shape, requires_grad=True) for shape in [(3, 1), (3, 1), (3,), (3,)]]
    GRUMax.apply(torch.zeros(2, 1), None, *zeros, [1, 1]).sum().backward()
    # h2 = z h1 + (1 - z) n with z = 1/2: 1/2 through n of step 2 and 1/4 through that of step 1.
    assert zeros[2].grad.tolist() == [0, 0, 0.75]


def test_reversed_rows_read_each_sentence_from_its_end():
    # Sentences of 3, 2 and 1 tokens: rows a0 b0 c0 a1 b1 a2.
    assert reversed_rows(torch.tensor([3, 2, 1])).tolist() == [5, 4, 2, 3, 1, 0]


@pytest.mark.parametrize("transposed", [False, True])
def test_linear_is_that_of_pytorch(transposed):
    x, weight, bias = torch.randn(7, 5), torch.randn(4, 5), torch.randn(4)
    if transposed:
        x, weight = x.t().contiguous().t(), weight.t().contiguous().t()
    torch.testing.assert_close(linear(x, weight, bias), F.linear(x, weight, bias))


def test_the_ids_of_the_padding_do_not_matter():
    encoder, words = build(), sentences()
    padding = torch.arange(words.shape[1]) >= LENGTHS[:, None]
    changed = words.masked_fill(padding, 7)
    assert not words.equal(changed)
    assert encoder(words, LENGTHS).equal(encoder(changed, LENGTHS))


def test_padding_never_wins_the_maximum():
    encoder = build()
    with torch.no_grad():
        for bias in (encoder.gru.bias_ih_l0, encoder.gru.bias_ih_l0_reverse):
            bias[-SENTENCE_DIM // 2 :] = -9  # the candidate states, and so all states, are negative
    assert (encoder(sentences(), LENGTHS) < 0).all()


def test_one_sentence_can_be_encoded():
    encoder, words = build(), sentences()
    alone = encoder(words[4:5], LENGTHS[4:5])
    torch.testing.assert_close(alone, encoder(words, LENGTHS)[4:5])


def test_an_empty_sentence_is_its_first_padding_id():
    encoder, words = build(), sentences()
    empty, single = LENGTHS.clone(), LENGTHS.clone()
    empty[0], single[0] = 0, 1
    vectors = encoder(words, empty)
    assert vectors.isfinite().all()
    assert vectors.equal(encoder(words, single))


def test_two_runs_are_equal_to_the_bit():
    def run() -> list[Tensor]:
        encoder = build(dropout=0.5, dropout_place="both")
        vectors = encoder(sentences(), LENGTHS)
        return [vectors, *gradients(encoder, vectors)]

    assert all(first.equal(second) for first, second in zip(run(), run(), strict=True))


def test_without_gradients_the_vectors_are_the_same_and_nothing_is_kept():
    encoder, words = build(), sentences()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(kept.append, lambda tensor: tensor):
        with torch.no_grad():
            vectors = encoder(words, LENGTHS)
        assert not kept
        expected = encoder(words, LENGTHS)
        assert kept
    assert not vectors.requires_grad
    assert vectors.equal(expected)


def test_a_diverged_weight_shows_in_the_vectors():
    encoder = build()
    with torch.no_grad():
        encoder.gru.weight_ih_l0[0, 0] = torch.nan
    assert encoder(sentences(), LENGTHS).isnan().any()


def test_the_state_is_the_parameters_of_the_gru():
    encoder = build()
    assert set(encoder.state_dict()) == {f"gru.{name}" for name in encoder.gru.state_dict()}


@pytest.mark.parametrize("place", ["word_vectors", "sentence_vector", "both"])
def test_dropout_acts_in_training_only(place):
    encoder, words = build(dropout=0.5, dropout_place=place), sentences()
    training = encoder(words, LENGTHS)
    encoder.eval()
    evaluated = encoder(words, LENGTHS)
    assert not training.equal(evaluated)
    torch.testing.assert_close(evaluated, one_by_one(encoder, words, LENGTHS))


@pytest.mark.parametrize(
    ("place", "zeros"), [("word_vectors", False), ("sentence_vector", True), ("both", True)]
)
def test_dropout_of_the_sentence_vector_gives_zeros(place, zeros):
    vectors = build(dropout=0.5, dropout_place=place)(sentences(), LENGTHS)
    assert (vectors == 0).any() == zeros


def test_dropout_of_the_sentence_vector_leaves_the_word_vectors_alone():
    encoder, words = build(dropout=0.5, dropout_place="sentence_vector"), sentences()
    vectors, expected = encoder(words, LENGTHS), one_by_one(encoder, words, LENGTHS)
    left = vectors != 0
    torch.testing.assert_close(vectors[left], 2 * expected[left])


def test_dropout_scales_the_word_vectors_that_it_keeps():
    encoder = build(dropout=0.25)
    encoder.word_vectors.fill_(3)
    vectors = encoder._embed(torch.zeros(1000, dtype=torch.int64))
    assert vectors.unique().tolist() == [0, 4]
    assert abs((vectors == 0).float().mean() - 0.25) < 0.02


def test_both_directions_read_the_same_dropped_word_vectors():
    encoder = build(dropout=0.5)
    names = [name for name, _ in encoder.gru.named_parameters() if name.endswith("l0")]
    with torch.no_grad():
        for name in names:
            getattr(encoder.gru, f"{name}_reverse").copy_(getattr(encoder.gru, name))
    vectors = encoder(sentences()[:, :1], torch.ones(len(LENGTHS), dtype=torch.int64))
    forward, reverse = vectors.chunk(2, dim=1)
    assert forward.equal(reverse)


def test_dropout_leaves_the_word_vectors_unchanged():
    encoder = build(dropout=0.5)
    before = encoder.word_vectors.clone()
    encoder(sentences(), LENGTHS)
    assert encoder.word_vectors.equal(before)
