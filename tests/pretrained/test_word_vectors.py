"""SIF, the discrete cosine transform, and vectors that another program computed."""

import numpy as np
import pytest
from scipy.fft import dct

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources
from analogyqa.pretrained.external import look_up
from analogyqa.pretrained.word_vectors import coefficients, encode_dct, encode_sif
from analogyqa.vectors.store import write_store

WORDS = ["the", "cat", "dog", "bird", "sat", "Cat", "fish"]
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32)
TRAINING = ["the cat sat", "the dog", "the the unknown bird", "dog sat"]


@pytest.fixture
def run_sif(write_vectors):
    def run_sif(texts, training=TRAINING, lowercase=True):
        vectors = write_vectors(WORDS, VECTORS)
        return encode_sif(texts, Resources("", vectors, training, lowercase))

    return run_sif


def by_hand(texts: list[str]) -> np.ndarray:
    """Algorithm 1 in float64; the 11 training tokens have `the` four times."""
    tokens = " ".join(TRAINING).split()
    assert (len(tokens), tokens.count("the")) == (11, 4)

    def mean(text):
        known = [word for word in text.split() if word in WORDS]
        weights = [1e-3 / (1e-3 + tokens.count(word) / len(tokens)) for word in known]
        rows = [VECTORS[WORDS.index(word)].astype(np.float64) for word in known]
        return sum(weight * row for weight, row in zip(weights, rows, strict=True)) / len(known)

    matrix = np.stack([mean(text) for text in TRAINING])
    values, directions = np.linalg.eigh(matrix.T @ matrix)
    shared = directions[:, np.argmax(values)]
    return np.stack([(np.eye(4) - np.outer(shared, shared)) @ mean(text) for text in texts])


def test_vectors_match_the_algorithm(run_sif):
    """`fish`, which training never saw, has the weight one; unknown words are left out."""
    texts = ["the cat", "dog dog bird", "unknown cat never seen", "fish", "fish the", *TRAINING]
    vectors = run_sif(texts)
    np.testing.assert_allclose(vectors, by_hand(texts), rtol=1e-4, atol=1e-7)
    assert vectors.dtype == np.float32
    assert np.abs(vectors).max() > 1e-4
    np.testing.assert_array_equal(run_sif(texts), vectors)
    np.testing.assert_allclose(run_sif(texts[1:2])[0], vectors[1], rtol=1e-4, atol=1e-7)


def test_a_sentence_without_a_known_word_is_zero(run_sif):
    assert run_sif(["", "unknown words only", "dog"]).any(axis=1).tolist() == [False, False, True]
    assert run_sif([]).shape == (0, 4)


def test_words_are_lower_cased_on_demand(run_sif):
    np.testing.assert_array_equal(run_sif(["The CAT"]), run_sif(["the cat"]))
    assert not np.allclose(run_sif(["Cat"], lowercase=False), run_sif(["cat"], lowercase=False))


@pytest.mark.parametrize("training", [[], ["unknown words", "more of them"]])
def test_a_training_split_without_known_words_is_an_error(run_sif, training):
    with pytest.raises(AnalogyQAError, match=r"\.vec: none of the words of the training split"):
        run_sif(["the cat"], training)


DCT_WORDS = ["a", "b", "c"]
DCT_VECTORS = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


@pytest.fixture
def run_dct(write_vectors):
    vectors = write_vectors(DCT_WORDS, DCT_VECTORS)
    return lambda texts, k: encode_dct(texts, Resources("", vectors, [], True, {"k": k}))


@pytest.mark.parametrize("words", [1, 2, 5])
def test_coefficients_match_the_orthonormal_transform(words):
    rows = coefficients(words, 7)
    expected = dct(np.eye(words), norm="ortho", axis=0)[:7]
    assert rows[: len(expected)] == pytest.approx(expected, abs=1e-6)
    assert not rows[words:].any()


def test_a_sentence_vector_concatenates_the_first_coefficients(run_dct):
    (vector,) = run_dct(["A b  unknown c"], 1)
    assert vector == pytest.approx(dct(DCT_VECTORS, norm="ortho", axis=0)[:2].ravel(), abs=1e-5)
    assert run_dct(["unknown", "a"], 3)[0].tolist() == [0] * 16


def test_the_same_words_have_the_same_first_coefficient(run_dct):
    words = np.random.default_rng(0).choice([*DCT_WORDS, "unknown"], size=(100, 12))
    one, other = (
        run_dct([" ".join(part) for part in np.sort(words)[:, ::step]], 1) for step in (1, -1)
    )
    assert (one[:, :4] == other[:, :4]).all()


def test_a_word_is_looked_up_in_its_original_case_first(write_vectors):
    path = write_vectors(["a", "A", "b"], np.float32([[1, 0], [0, 2], [3, 3]]))
    vectors = encode_dct(["A", "B", "a", "C"], Resources("", path, [], False, {"k": 0}))
    assert vectors.tolist() == [[0, 2], [3, 3], [1, 0], [0, 0]]


# Vectors that another program computed


def test_sentences_are_looked_up(tmp_path):
    path = tmp_path / "vectors.npy"
    identity, sentences = np.eye(2, dtype=np.float32), ["A e\u0301.", "C."]
    write_store(identity, np.ones(2, bool), sentences, "elsewhere", path)
    resources = Resources(str(path), "", [], True)
    assert look_up(["C.", "A é.", "C."], resources).tolist() == [[0, 1], [1, 0], [0, 1]]
    with pytest.raises(AnalogyQAError, match=r"1 of 2 sentences have no vector.*'D\.'"):
        look_up(["C.", "D."], resources)
    path.with_suffix(".words.txt").write_text("C.\n")
    with pytest.raises(AnalogyQAError, match=r"s\.npy: .*Compute them again and save both files"):
        look_up(["C."], resources)


def test_ids_are_looked_up_in_a_text_file(write_vectors):
    resources = Resources(write_vectors(["Q1", "Q1_R2"], np.eye(2)), "", [], True)
    assert look_up(["Q1_R2", "Q1", "Q1_R2"], resources).tolist() == [[0, 1], [1, 0], [0, 1]]
    with pytest.raises(AnalogyQAError, match=r"words\.vec: 1 of 2 sentences have no vector.*'q1'"):
        look_up(["Q1", "q1"], resources)
