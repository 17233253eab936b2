"""The mapping of questions and candidates into one space."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.rankers import Encoded, Fitting, build_ranker
from analogyqa.rankers.mapped import first_components, least_squares_map, orthogonal_map
from analogyqa.settings.systems import System
from analogyqa.vectors import unit

NORMALISED = {"normalise": ["unit", "centre"]}
EMPTY = np.zeros((0, 6), np.float32), np.zeros((0, 6), np.float32), np.zeros(0, int)


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def rotation(seed, dim):
    matrix, _ = np.linalg.qr(drawn(seed, dim, dim))
    return matrix


def fitting(questions, candidates, labels=None, splits=None):
    """Return pairs of sentences, each of which occurs once."""
    count = len(questions)
    return Fitting(
        np.concatenate([questions, candidates]).astype(np.float32),
        np.arange(count),
        np.arange(count, 2 * count),
        np.ones(count, int) if labels is None else np.array(labels),
        np.array(["train"] * count if splits is None else splits),
    )


def ranker(fitted_to, components=0, centred_components=False, **mapping):
    options = {"components": components, "centred_components": centred_components}
    values = {"encoder": "mean", "vectors": "v"}
    options = {"name": "mapped", "mapping": mapping, **options}
    fitted = build_ranker(System(title="M", **values, ranker=options))
    fitted.fit(fitted_to)
    return fitted


def scores(fitted, questions, candidates):
    pairs = questions.astype(np.float32), candidates.astype(np.float32)
    values, best = fitted.scores(Encoded(np.arange(len(questions)), *pairs, *EMPTY, EMPTY[2]))
    assert (values.dtype, set(best)) == (np.float32, {-1})
    return values


def cosines(questions, candidates):
    return np.einsum("md,md->m", unit(questions), unit(candidates))


@given(st.integers(0, 2**16), st.integers(1, 8), st.integers(1, 20))
def test_the_map_is_orthogonal_and_nearer_than_other_rotations(seed, dim, pairs):
    sources, targets = drawn(seed, pairs, dim), drawn(seed + 1, pairs, dim)
    matrix = orthogonal_map(sources, targets)
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(dim), atol=1e-6)
    distance = np.linalg.norm(sources @ matrix - targets)
    for other in (np.eye(dim), rotation(seed + 2, dim), matrix @ rotation(seed + 3, dim)):
        assert distance <= np.linalg.norm(sources @ other - targets) + 1e-9


@given(st.integers(0, 2**16), st.integers(1, 8))
def test_a_known_rotation_is_recovered(seed, dim):
    sources, known = drawn(seed, 3 * dim, dim), rotation(seed + 1, dim)
    np.testing.assert_allclose(orthogonal_map(sources, sources @ known), known, atol=1e-6)
    np.testing.assert_allclose(least_squares_map(sources, sources @ known), known, atol=1e-6)


@pytest.mark.parametrize("dim", [2, 5, 8])
def test_few_pairs_in_any_order_give_one_map(dim):
    sources, targets = drawn(0, dim // 2, dim), drawn(1, dim // 2, dim)
    matrix = orthogonal_map(sources, targets)
    np.testing.assert_allclose(orthogonal_map(sources[::-1], targets[::-1]), matrix, atol=1e-5)
    # The directions without a pair are mapped to each other by the nearest to the identity.
    rest_of_sources, rest_of_targets = (
        np.linalg.svd(vectors)[2][dim // 2 :] for vectors in (sources, targets)
    )
    common = rest_of_sources @ rest_of_targets.T
    aligned = rest_of_sources @ matrix @ rest_of_targets.T @ common.T
    np.testing.assert_allclose(aligned, aligned.T, atol=1e-5)
    assert np.linalg.eigvalsh(aligned).min() > -1e-5


@pytest.mark.parametrize("direction", ["to_candidate", "to_question"])
def test_mapping_one_side_undoes_a_rotation(direction):
    questions, known = drawn(0, 40, 6), rotation(1, 6)
    candidates = questions @ known
    options = {"learned_from": ["train"], "side": "source", "direction": direction}
    fitted = ranker(fitting(questions, candidates), **options)
    assert cosines(questions, candidates).mean() < 0.5
    np.testing.assert_allclose(scores(fitted, questions, candidates), 1, atol=1e-5)


def test_one_orthogonal_map_on_both_sides_changes_no_cosine():
    data = fitting(drawn(0, 30, 6), drawn(1, 30, 6))
    pairs = drawn(2, 9, 6), drawn(3, 9, 6)
    mapped = scores(ranker(data, **NORMALISED, learned_from=["train"]), *pairs)
    np.testing.assert_allclose(mapped, scores(ranker(data, **NORMALISED), *pairs), atol=1e-6)
    free = ranker(data, **NORMALISED, learned_from=["train"], orthogonal=False)
    assert np.abs(mapped - scores(free, *pairs)).max() > 0.01


def test_pairs_in_both_directions_give_a_map_that_is_its_own_inverse():
    fitted = ranker(fitting(drawn(0, 30, 6), drawn(1, 30, 6)), learned_from=["train"],
                  direction="both", side="source")  # fmt: skip
    (of_questions, of_candidates) = fitted.matrices
    np.testing.assert_allclose(of_questions @ of_questions, np.eye(6), atol=1e-6)
    assert of_candidates is None


def test_the_map_is_learned_only_from_correct_pairs_of_the_given_splits():
    questions, candidates, known = drawn(0, 40, 6), drawn(1, 40, 6), rotation(2, 6)
    labels, splits = np.arange(40) % 2, ["train"] * 20 + ["dev"] * 10 + ["test"] * 10
    is_used = (labels == 1) & (np.array(splits) != "test")
    candidates[is_used] = questions[is_used] @ known
    data = fitting(questions, candidates, labels, splits)
    options = {"side": "source", "learned_from": ["train", "dev"]}
    np.testing.assert_allclose(ranker(data, **options).matrices[0], known, atol=1e-6)


@pytest.mark.parametrize("splits", [["train"], ["train", "test"]])
def test_the_mean_counts_each_sentence_of_the_given_splits_once(splits):
    questions, candidates = drawn(0, 12, 6), drawn(1, 12, 6)
    split_names = np.array(["train"] * 5 + ["dev"] * 3 + ["test"] * 4)
    data = fitting(questions, candidates, splits=split_names)
    repeated = Fitting(data.sentences, *(np.r_[column, column] for column in data[1:]))
    counts = np.isin(split_names, splits)
    sentences = np.concatenate([questions[counts], candidates[counts]]).astype(np.float32)
    mean = unit(sentences).mean(axis=0)
    for pairs in (data, repeated):
        fitted = ranker(pairs, **NORMALISED, mean_of=splits)
        np.testing.assert_allclose(fitted.means, [mean, mean], atol=1e-6)
    expected = cosines(unit(questions) - mean, unit(candidates) - mean)
    np.testing.assert_allclose(scores(fitted, questions, candidates), expected, atol=1e-5)


@given(st.integers(0, 2**16), st.integers(0, 5))
def test_the_components_of_the_training_sentences_are_removed(seed, count):
    vectors = drawn(seed, 20, 6)
    components = first_components(vectors, count)
    np.testing.assert_allclose(components @ components.T, np.eye(count), atol=1e-6)
    # Their share of the vectors is that of the largest singular values.
    values = np.linalg.svd(vectors, compute_uv=False)
    np.testing.assert_allclose(
        np.linalg.norm(vectors @ components.T) ** 2, (values[:count] ** 2).sum()
    )
    data = fitting(vectors[:10], vectors[10:])
    kept = vectors - vectors @ components.T @ components
    actual = scores(ranker(data, components=count), vectors[:10], vectors[10:])
    np.testing.assert_allclose(actual, cosines(kept[:10], kept[10:]), atol=1e-4)


def test_negative_cosines_may_be_raised_to_zero_as_that_of_a_sentence_without_words():
    pairs = drawn(2, 30, 6), drawn(3, 30, 6)
    pairs[0][0] = 0
    data = fitting(drawn(0, 30, 6), drawn(1, 30, 6))
    kept, raised = (scores(ranker(data, negatives=name), *pairs) for name in ("kept", "lowest"))
    assert (kept < 0).any() and kept[0] == 0
    np.testing.assert_array_equal(raised, np.maximum(kept, 0))


def test_thread_pairs_link_question_and_correct_candidates():
    columns = [0, 0, 0, 0, 5, 5], [1, 2, 3, 4, 6, 7], [0, 1, 1, 1, 0, 1], ["train"] * 6
    data = Fitting(np.zeros((8, 1), np.float32), *map(np.array, columns))
    first, second = data.thread_pairs(["train"])
    assert list(zip(first, second, strict=True)) == [(0, 2), (2, 3), (2, 4), (3, 4), (5, 7)]
    assert [len(rows) for rows in data.thread_pairs(["dev"])] == [0, 0]


def test_each_side_has_its_own_mean():
    questions, candidates = np.array([[1.0, 2], [3, 0]]), np.array([[0.0, 5], [2, 1]])
    fitted = ranker(fitting(questions, candidates), normalise=["centre"], means="by_side")
    assert [mean.tolist() for mean in fitted.means] == [[2, 1], [1, 3]]
    # (-1, 1) and (-1, 2); (1, -1) and (1, -2): cosines 3 / sqrt(10)
    np.testing.assert_allclose(scores(fitted, questions, candidates), 0.948683, atol=1e-6)


def test_pairs_of_candidates_are_centred_with_the_mean_of_the_candidates():
    sentences = np.array([[5.0, 0], [1, 2], [3, 4], [2, 0]], np.float32)
    labels, splits = np.array([1, 1, 0]), np.array(["train"] * 3)
    data = Fitting(sentences, np.zeros(3, int), np.array([1, 2, 3]), labels, splits)
    options = {"normalise": ["centre"], "means": "by_side", "learned_from": ["train"]}
    fitted = ranker(data, **options, pairs="thread")
    assert [mean.tolist() for mean in fitted.means] == [[5, 0], [2, 2]]
    # The pairs are (0, 0) with (-1, 0), which has no effect, and (-1, 0) with (1, 2).
    np.testing.assert_allclose(fitted.matrices[0][0], np.array([-1, -2]) / np.sqrt(5), atol=1e-6)


def test_centred_components_are_those_of_a_principal_component_analysis():
    questions, candidates = np.array([[10.0, 0], [10, 4]]), np.array([[10.0, 1], [10, 3]])
    data = fitting(questions, candidates)
    assert abs(ranker(data, 1).removed[0, 0]) > 0.9
    removed = ranker(data, 1, centred_components=True).removed
    np.testing.assert_allclose(np.abs(removed), [[0, 1]], atol=1e-12)
