"""Properties of every trained ranker of words."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analogyqa.rankers import Quadruples
from analogyqa.rankers.specs import RANKERS
from analogyqa.rankers.words import side_of, word_mask
from builders.networks import LENGTHS, C, D, build, scores, sentences

TRAINED = [name for name, entry in RANKERS.items() if entry.reads == "words" and entry.trained]
every_network = pytest.mark.parametrize("name", TRAINED)


@every_network
def test_a_pair_has_one_score_on_one_side(name):
    ranker, vectors = build(name), sentences()
    energies = scores(ranker, vectors)
    assert (energies.shape, energies.dtype) == ((len(C),), torch.float32)
    assert energies.isfinite().all()
    rows = torch.tensor(C), torch.tensor(D)
    both = ranker.energies(Quadruples(vectors, *[rows[0][:0]] * 2, *rows), both_sides=True)
    assert len(both) == 1
    assert both[0].equal(energies)


@every_network
def test_scores_do_not_depend_on_order_or_batch(name):
    ranker, vectors = build(name), sentences()
    expected = scores(ranker, vectors)
    torch.testing.assert_close(scores(ranker, vectors, C[::-1], D[::-1]), expected.flip(0))
    for score, c, d in zip(expected, C, D, strict=True):
        question = torch.stack([vectors[c, : max(LENGTHS[c], 1)]])
        candidate = torch.stack([vectors[d, : max(LENGTHS[d], 1)]])
        longest = max(question.shape[1], candidate.shape[1])
        pair = [
            torch.nn.functional.pad(x, (0, 0, 0, longest - x.shape[1]))
            for x in (question, candidate)
        ]
        torch.testing.assert_close(scores(ranker, torch.cat(pair), [0], [1])[0], score)


@every_network
@settings(max_examples=10)
@given(lengths=st.lists(st.integers(0, 6), min_size=2, max_size=4), extra_padding=st.integers(1, 5))
def test_padding_never_changes_a_score(name, lengths, extra_padding):
    ranker, (c, d) = build(name), ([0, 1, len(lengths) - 1], [1, 0, 0])
    with torch.no_grad():  # the values of padding would win a maximum
        for parameter in ranker.parameters():
            parameter.add_(0.3)
    narrow, wide = (scores(ranker, sentences(lengths, wide), c, d) for wide in (0, extra_padding))
    torch.testing.assert_close(narrow, wide)


@every_network
@pytest.mark.parametrize("length", [0, 1])
def test_short_sentences_have_finite_scores_and_gradients(name, length):
    ranker = build(name)
    energies = scores(ranker, sentences([length, length, 4]), [0, 0, 0, 2], [0, 1, 2, 1])
    energies.sum().backward()
    assert energies.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in ranker.parameters())


@every_network
def test_gradients_reach_every_parameter(name):
    ranker = build(name)
    scores(ranker, sentences()).sum().backward()
    for key, parameter in ranker.named_parameters():
        assert parameter.grad.abs().sum() > 0, key


@every_network
def test_the_weights_follow_the_seed(name):
    first, again, other = (
        torch.nn.utils.parameters_to_vector(build(name, seed).parameters()) for seed in (1, 1, 2)
    )
    assert first.equal(again)
    assert not first.equal(other)


@every_network
def test_scores_depend_on_question_and_candidate(name):
    ranker, vectors = build(name), sentences()
    score, other_candidate, other_question = scores(ranker, vectors, [0, 0, 5], [1, 4, 1])
    assert score != other_candidate
    assert score != other_question


@every_network
@pytest.mark.parametrize("place", ["word_vectors", "sentence_vector"])
def test_dropout_acts_in_training_only(name, place):
    vectors, ranker = sentences(), build(name, dropout=0.5, dropout_place=place)
    expected = scores(build(name), vectors)
    assert not scores(ranker, vectors).equal(expected)
    assert scores(ranker.eval(), vectors).equal(expected)


@every_network
def test_a_diverged_weight_shows_in_the_scores(name):
    ranker = build(name)
    with torch.no_grad():
        next(ranker.parameters()).view(-1)[0] = torch.nan
    assert scores(ranker, sentences()).isnan().any()


@pytest.mark.parametrize(
    ("name", "hidden", "count"),
    [
        ("ai_cnn", 100, 120_601),
        ("ap_cnn", 300, 540_300),
        ("ap_bilstm", 600, 1_804_800),
        ("mp_cnn", 150, 10_045_561),
        ("compare_aggregate", 150, 564_001),
    ],
)
def test_published_sizes_have_as_many_parameters_as_the_docstrings_say(name, hidden, count):
    ranker = build(name, dim=300, sentence_dim=hidden)
    assert sum(parameter.numel() for parameter in ranker.parameters()) == count


# The padding


def test_a_sentence_ends_with_its_last_nonzero_row():
    vectors = torch.zeros(4, 4, 2)
    vectors[0, :2], vectors[1, 2, 1], vectors[2, 3] = 1, -1, torch.nan
    expected = [[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0]]
    assert word_mask(vectors).tolist() == [[bool(value) for value in row] for row in expected]


def test_a_side_is_as_wide_as_its_longest_sentence():
    inside = word_mask(sentences())
    maps = torch.arange(6 * 7 * 2).view(6, 7, 2)
    rows = torch.tensor([4, 0, 4])
    side, mask = side_of(maps, inside, rows)
    assert side.equal(maps[[4, 0, 4], :3])
    assert mask.tolist() == [[True, True, False], [True] * 3, [True, True, False]]
