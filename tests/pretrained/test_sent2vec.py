"""Sent2Vec: models written byte by byte against sums written out."""

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences, sent2vec
from analogyqa.pretrained.sent2vec import encode_tokens

MAGIC, SENT2VEC, SKIPGRAM = 793712314, 4, 2
WORDS = ["<PLACEHOLDER>", "the", "cat", "sat", "café"]
BUCKETS, DIM = 7, 3
MATRIX = np.random.default_rng(0).normal(size=(len(WORDS) + BUCKETS, DIM)).astype(np.float32)


def model_bytes(
    order: int = 2,
    magic: int = MAGIC,
    version: int = 11,
    kind: int = SENT2VEC,
    pruned: int = -1,
    quantised: bool = False,
    matrix: np.ndarray = MATRIX,
    label: str | None = None,
) -> bytes:
    """Return a model as the original program writes it."""
    arguments = (DIM, 5, 1, 1, 10, order, 2, kind, BUCKETS, 0, 0, 100)
    entries = [(word, 0) for word in WORDS] + ([(label, 1)] if label else [])
    counts = (len(entries), len(WORDS), len(entries) - len(WORDS), 99, pruned)
    output = np.ones((len(WORDS), DIM), dtype=np.float32)
    return b"".join(
        [
            struct.pack("<2i", magic, version),
            struct.pack("<12id", *arguments, 1e-4),
            struct.pack("<3i2q", *counts),
            *(struct.pack(f"<{len(w.encode())}sxqb", w.encode(), 9, kind) for w, kind in entries),
            *(
                struct.pack("<?2q", flag, *part.shape) + part.tobytes()
                for flag, part in ((quantised, matrix), (False, output))
            ),
        ]
    )


@pytest.fixture
def model(tmp_path):
    def write(**changes) -> Path:
        path = tmp_path / "model.bin"
        path.write_bytes(model_bytes(**changes))
        return path

    return write


def word(text: str) -> int:
    return WORDS.index(text)


def hashed(*words: str) -> int:
    """Return the row of an n-gram, by arithmetic modulo 2^64 (four words exceed it)."""
    code = np.uint64(word(words[0]))
    with np.errstate(over="ignore"):
        for following in words[1:]:
            code = code * np.uint64(116049371) + np.uint64(word(following))
    return len(WORDS) + int(code % np.uint64(BUCKETS))


def mean(*rows: int) -> np.ndarray:
    return MATRIX[list(rows)].mean(axis=0)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_sentence_is_the_mean_of_its_words_and_hashed_ngrams(model, order):
    words = ["the", "cat", "sat", "the"]
    spans = [
        words[start : start + length]
        for start in range(len(words))
        for length in range(2, order + 1)
        if start + length <= len(words)
    ]
    expected = mean(*map(word, words), *(hashed(*span) for span in spans))
    np.testing.assert_allclose(encode_tokens([words], model(order=order))[0], expected, rtol=1e-6)


def test_ngrams_reach_across_a_word_without_a_vector(model):
    vector = encode_tokens([["the", "unheard", "cat"]], model())[0]
    expected = mean(word("the"), word("cat"), hashed("the", "cat"))
    np.testing.assert_allclose(vector, expected, rtol=1e-6)


@pytest.mark.parametrize("tokens", [[], ["unheard", "words"]])
def test_a_sentence_without_words_is_zero(model, tokens):
    assert not encode_tokens([tokens, ["cat"]], model())[0].any()


def test_words_are_compared_as_utf_8(model):
    np.testing.assert_array_equal(encode_tokens([["café"]], model())[0], MATRIX[word("café")])


def test_a_label_of_the_dictionary_is_no_word(model):
    path = model(label="__label__x")
    assert not encode_tokens([["__label__x"]], path).any()


def test_texts_are_tokenised_in_the_case_of_the_resources(model):
    def encoded(lowercase: bool) -> np.ndarray:
        return encode_sentences(
            "sent2vec", ["The cat"], Resources(str(model()), None, [], lowercase)
        )

    np.testing.assert_array_equal(encoded(True), encode_tokens([["the", "cat"]], model()))
    np.testing.assert_array_equal(encoded(False), encode_tokens([["cat"]], model()))


def test_word_vectors_give_the_mean_of_the_words_that_they_hold(tmp_path):
    path = tmp_path / "words.unigrams.vec"
    path.write_text("2 2\nthe 1 2\ncat 3 5\n")
    vectors = encode_tokens([["the", "cat", "sat"], ["sat"]], path)
    assert vectors.tolist() == [[2, 3.5], [0, 0]] and vectors.dtype == np.float32


# Other files


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"magic": 1}, "another format, not a model of Sent2Vec"),
        ({"version": 12}, "a fastText model of another kind"),
        ({"kind": SKIPGRAM}, "a fastText model of another kind"),
        ({"quantised": True}, "a quantised Sent2Vec model"),
        ({"pruned": 0}, "a quantised Sent2Vec model"),
        ({"matrix": MATRIX[:-1]}, "a matrix of 11 x 3 for 5 words, 7 buckets and 3 dimensions"),
        ({"matrix": MATRIX[:, :-1]}, "a matrix of 12 x 2 for"),
    ],
)
def test_a_model_of_another_kind_is_named(model, changes, message):
    with pytest.raises(AnalogyQAError, match=rf"model\.bin: .*{message}"):
        encode_tokens([["the"]], model(**changes))


@pytest.mark.parametrize("content", [b"", b"hello", b"<html>" * 100])
def test_a_file_that_is_no_model_is_named(tmp_path, content):
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    with pytest.raises(AnalogyQAError, match=r"model\.bin: "):
        encode_tokens([["the"]], path)


@pytest.mark.parametrize("kept", [0.1, 0.3, 0.45, 0.7, 0.85, 0.999])
def test_a_cut_off_model_is_named(tmp_path, kept):
    content = model_bytes()
    path = tmp_path / "model.bin"
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(AnalogyQAError, match=r"model\.bin: damaged or cut off Sent2Vec model"):
        encode_tokens([["the"]], path)


MEMORY = """
import resource, sys
from analogyqa.pretrained.sent2vec import encode_tokens
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
encode_tokens([["the", "cat"]], sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_the_matrix_stays_on_the_disk(tmp_path):
    path = tmp_path / "model.bin"
    rows = 5_000_000
    start = model_bytes(matrix=np.zeros((0, DIM), dtype=np.float32))
    head = start[: -struct.calcsize("<?2q") * 2 - len(WORDS) * DIM * 4]
    with open(path, "wb") as file:  # holes: 240 MB that take no room
        file.write(head + struct.pack("<?2q", False, rows, DIM))
        file.seek(4 * rows * DIM, 1)
        file.write(struct.pack("<?2q", False, rows, DIM))
        file.seek(4 * rows * DIM - 1, 1)
        file.write(b"\0")
    environment = {"PYTHONPATH": str(Path(sent2vec.__file__).parents[2])}
    command = [sys.executable, "-c", MEMORY, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert int(done.stdout) < 20_000, done.stderr  # kilobytes
