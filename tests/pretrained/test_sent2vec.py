"""Sent2Vec: vectors from models written byte by byte match sums written out."""

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.pretrained.sent2vec import encode_tokens
from builders import tiny

WORDS = ["<PLACEHOLDER>", "the", "cat", "sat", "café"]
BUCKETS, DIM, LABEL = 7, 3, "__label__x"
MATRIX = np.random.default_rng(0).normal(size=(len(WORDS) + BUCKETS, DIM)).astype(np.float32)


def model_bytes(matrix: np.ndarray = MATRIX, **changes) -> bytes:
    return tiny.sent2vec_bytes(WORDS, matrix, DIM, BUCKETS, **changes)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    def write(**changes) -> Path:
        path = tmp_path_factory.getbasetemp() / "model.bin"
        path.write_bytes(model_bytes(**changes))
        return path

    return write


def ngram_row(words: list[str]) -> int:
    """Return the row of an n-gram, by arithmetic modulo 2^64 (four words exceed it)."""
    codes = np.array([WORDS.index(word) for word in words], dtype=np.uint64)
    code = codes[:1]
    for following in codes[1:]:
        code = code * np.uint64(116049371) + following
    return len(WORDS) + int(code[0] % np.uint64(BUCKETS))


@given(st.lists(st.sampled_from([*WORDS, "unheard", LABEL]), max_size=6), st.integers(1, 4))
@example(["the", "unheard", "cat", "sat", "the"], 4)
def test_a_sentence_is_the_mean_of_words_and_ngrams(model, tokens, order):
    """N-grams skip words without a vector, such as labels."""
    words = [token for token in tokens if token in WORDS]
    rows = [WORDS.index(word) for word in words]
    for length in range(2, order + 1):
        starts = range(len(words) - length + 1)
        rows += [ngram_row(words[start : start + length]) for start in starts]
    expected = MATRIX[rows].mean(axis=0) if rows else np.zeros(DIM)
    vector = encode_tokens([["sat"], tokens], model(order=order, label=LABEL))[1]
    np.testing.assert_allclose(vector, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("lowercase", "words"), [(True, ["the", "cat"]), (False, ["cat"])])
def test_lowercase_is_respected(model, lowercase, words):
    resources = Resources(str(model()), None, [], lowercase)
    encoded = encode_sentences("sent2vec", ["The cat"], resources)
    np.testing.assert_array_equal(encoded, encode_tokens([words], model()))


def test_word_vectors_give_the_mean_of_known_words(tmp_path):
    path = tmp_path / "words.unigrams.vec"
    path.write_text("2 2\nthe 1 2\ncat 3 5\n")
    vectors = encode_tokens([["the", "cat", "sat"], ["sat"]], path)
    assert vectors.tolist() == [[2, 3.5], [0, 0]] and vectors.dtype == np.float32


def test_the_matrix_is_memory_mapped(tmp_path):
    rows, path = 5_000_000, tmp_path / "model.bin"
    sizes, output = struct.Struct("<?2q"), 4 * len(WORDS) * DIM
    empty = model_bytes(matrix=np.zeros((0, DIM), dtype=np.float32))
    with open(path, "wb") as file:  # sparse: 60 MB that take no disk space
        file.write(empty[: -2 * sizes.size - output] + sizes.pack(False, rows, DIM))
        file.seek(4 * rows * DIM, 1)
        file.write(empty[-sizes.size - output :])
    tracemalloc.start()
    try:
        assert not encode_tokens([["the", "cat"]], path).any()
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
