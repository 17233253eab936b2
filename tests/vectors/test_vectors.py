"""Word vectors: every format, damaged files, the store and training."""

import gzip
import json
import re
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import example, given
from hypothesis import strategies as st

from analogyqa.errors import AnalogyQAError
from analogyqa.vectors.files import build_vocabulary, select_vectors
from analogyqa.vectors.frequencies import WEIGHTS, read_frequencies
from analogyqa.vectors.store import read_store, store_record, write_store
from analogyqa.vectors.train import train_vectors, train_word2vec
from builders.projects import clean_environment

WORDS = ["the", "who", "é", "1901", "</s>"]
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32)
VOCABULARY = ["1901", "absent", "who", "é"]
EXPECTED = np.stack([VECTORS[3], np.zeros(4), VECTORS[1], VECTORS[2]])
CUT_OFF = r"cannot be written \(.*written.*Free some disk space"


def lines(vectors: np.ndarray = VECTORS) -> str:
    pairs = zip(WORDS, vectors, strict=True)
    return "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in pairs)


def binary(end: bytes = b"", vectors: np.ndarray = VECTORS) -> bytes:
    pairs = zip(WORDS, vectors, strict=True)
    return b"5 4\n" + b"".join(b"%b %b%b" % (w.encode(), v.tobytes(), end) for w, v in pairs)


TREES = ["Oak elm ash", "oak elm", "elm ash oak beech"] * 20
GLOVE, TEXT, BINARY = lines(), "5 4\n" + lines(), binary()


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, packed as its suffix says."""
    data = content.encode() if isinstance(content, str) else content
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(data, mtime=0))
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(path.stem, data)
    else:
        path.write_bytes(data)
    return path


def train(path: Path, *texts: Path, dim: int = 2, min_count: int = 1) -> Path:
    train_vectors([*map(str, texts)], path, dim, epochs=1, min_count=min_count, lowercase=True)
    return path


@pytest.fixture(scope="module")
def fasttext_bin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fasttext")
    (folder / "text").write_text("who wrote the book ?\nthe writer wrote it in 1901 .\n" * 20)
    return train(folder / "model.bin", folder / "text", dim=6)


# Formats


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.vec", TEXT),
        ("a.txt", GLOVE),
        ("a.vec.gz", TEXT),
        ("a.txt.gz", GLOVE),
        ("a.vec.zip", TEXT),
        ("a.bin", BINARY),
        ("a.bin", binary(end=b"\n")),
        ("a.bin.gz", BINARY),
        ("a.bin.zip", BINARY),
        pytest.param("a.vec", TEXT.replace("\n", " \n"), id="a space after the numbers"),
        pytest.param("a.txt", GLOVE + "who 9 9 9 9\n", id="the first vector of a word counts"),
        pytest.param("a.txt", GLOVE + "at who@x.org .5 .5 .5 .5\n", id="GloVe, word with a space"),
        pytest.param("a.vec", "6 4\n" + lines() + "at who@x.org .5 .5 .5 .5\n", id="header, space"),
        pytest.param("a.vec", "\ufeff" + TEXT, id="a byte-order mark"),
        pytest.param("a.txt", "\ufeff" + GLOVE[GLOVE.index("who") :], id="before a word"),
        pytest.param("a.vec", TEXT.replace("é", "e\u0301"), id="decomposed"),
        pytest.param("a.bin", BINARY.replace("é".encode(), "e\u0301".encode()), id="decomposed"),
    ],
)
def test_vectors_are_in_the_order_of_the_vocabulary(tmp_path, name, content):
    vectors, is_found = select_vectors(write(tmp_path / name, content), VOCABULARY, "zero")
    assert vectors.dtype == np.float32
    assert is_found.tolist() == [True, False, True, True]
    np.testing.assert_array_equal(vectors, EXPECTED)


@pytest.mark.parametrize("dim", [1, 4])
@pytest.mark.parametrize(("name", "is_binary"), [("a.bin", True), ("a.vec", False)])
def test_files_written_by_gensim_are_read(tmp_path, name, is_binary, dim):
    keyed = KeyedVectors(vector_size=dim)
    keyed.add_vectors(WORDS, VECTORS[:, :dim])
    keyed.save_word2vec_format(str(tmp_path / name), binary=is_binary)
    vectors, _ = select_vectors(tmp_path / name, VOCABULARY, "zero")
    np.testing.assert_array_equal(vectors, EXPECTED[:, :dim])


def test_a_fasttext_model_gives_vectors_of_words_and_subwords(tmp_path, fasttext_bin):
    import fasttext

    words, model = ["book", "bookwriter", "who"], fasttext.load_model(str(fasttext_bin))
    expected = np.stack([model.get_word_vector(word) for word in words])
    vectors, is_found = select_vectors(fasttext_bin, words, "zero")
    assert is_found.tolist() == [True, False, True]
    np.testing.assert_array_equal(vectors, expected * is_found[:, None])
    # An unknown word has a vector of its subwords, even if no word is known.
    np.testing.assert_array_equal(select_vectors(fasttext_bin, words, "subword")[0], expected)
    assert select_vectors(fasttext_bin, ["bookwriter"], "subword")[0].any()
    with pytest.raises(AnalogyQAError, match=r"model\.bin: none of the 1 words"):
        select_vectors(fasttext_bin, ["bookwriter"], "random")
    with pytest.raises(AnalogyQAError, match=r"a\.vec: .*subword needs a fastText \.bin"):
        select_vectors(write(tmp_path / "a.vec", TEXT), words, "subword")


def test_random_vectors_depend_on_the_word_and_the_scale(tmp_path):
    large = np.random.default_rng(0).normal(scale=0.1, size=(5, 500)).astype(np.float32)
    path = write(tmp_path / "a.vec", lines(large))
    alone, again = (select_vectors(path, VOCABULARY, "random")[0] for _ in range(2))
    in_other_order, _ = select_vectors(path, ["zzz", *reversed(VOCABULARY), "aaa"], "random")
    np.testing.assert_array_equal(alone, again)
    np.testing.assert_allclose(alone[1], in_other_order[3], rtol=1e-6)
    assert not np.allclose(in_other_order[0], in_other_order[3])
    assert alone[1].std() == pytest.approx(large[[3, 1, 2]].std(), rel=0.15)


# Broken files


def test_words_with_spaces_are_refused_in_binary_and_skipped_in_text(tmp_path):
    keyed, words = KeyedVectors(vector_size=4), [*(f"in the {n}th" for n in range(20)), "who"]
    keyed.add_vectors(words, np.random.default_rng(0).normal(size=(21, 4)).astype(np.float32))
    keyed.save_word2vec_format(str(tmp_path / "a.bin"), binary=True)
    for word in ("in", "who"):
        with pytest.raises(AnalogyQAError, match=r"a\.bin: .*words with spaces"):
            select_vectors(tmp_path / "a.bin", [word, "absent"], "zero")
    keyed.save_word2vec_format(str(tmp_path / "a.vec"))
    vectors, _ = select_vectors(tmp_path / "a.vec", ["who"], "zero")
    np.testing.assert_array_equal(vectors[0], keyed["who"])


def test_metadata_of_macos_in_an_archive_is_ignored(tmp_path):
    path = write(tmp_path / "a.vec.zip", TEXT)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/._a.vec", b"\0")
    assert select_vectors(path, VOCABULARY, "zero")[1].any()


def test_a_damaged_fasttext_model_is_an_error(tmp_path, fasttext_bin):
    data = fasttext_bin.read_bytes()
    word = data.index(b"\0", 92) + 9  # the type of the first entry
    matrix = data.index(struct.pack("<q", 6)) - 9  # 6 is its number of columns

    def changed(position: int, byte: bytes, end: int | None = None) -> bytes:
        return data[:position] + byte + data[position + 1 : end]

    damaged = {data[:kept]: "damaged .*buffer" for kept in (4, 99, len(data) // 2)} | {
        data[:-100]: "bytes are missing",
        changed(8, b"\0", 99): "its arguments contradict each other",
        changed(word, b"\7", matrix): "an entry with type 7",
        changed(matrix, b"\1", matrix + 17): "a quantised model",
        changed(40, b"\xff"): "instead of",  # its number of buckets
    }
    paths = [write(tmp_path / f"{number}.bin", content) for number, content in enumerate(damaged)]
    # This runs in another process, because fastText itself may crash on such a file.
    script = (
        "import sys; from analogyqa.errors import AnalogyQAError\n"
        "from analogyqa.vectors.files import select_vectors\n"
        "for path in sys.argv[1:]:\n"
        "    try: select_vectors(path, ['book'], 'zero')\n"
        "    except AnalogyQAError as error: print(error)\n"
    )
    command = [sys.executable, "-c", script, *map(str, paths)]
    printed = subprocess.check_output(command, env=clean_environment(), text=True)
    messages = zip(paths, damaged.values(), printed.splitlines(), strict=True)
    for path, cause, message in messages:
        assert re.match(rf"{path}: .*{cause}", message)


def test_memory_does_not_grow_with_the_file(tmp_path):
    numbers = b" -0.1234" * 100 + b"\n"
    path = write(tmp_path / "a.vec", b"".join(b"w%d" % row + numbers for row in range(10_000)))
    tracemalloc.start()
    try:
        assert select_vectors(path, ["w0", "w9999"], "zero")[1].all()
        assert tracemalloc.get_traced_memory()[1] < 500_000 < path.stat().st_size // 10
    finally:
        tracemalloc.stop()


# The store


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")))
@example("one\rline")
@example("\x0b\x0c\x1c\u2028\x85")
@example("")
def test_a_store_round_trips_any_text_without_line_feeds(tmp_path_factory, sentence):
    path = tmp_path_factory.getbasetemp() / "sentences.npy"
    sentences = ["before it", sentence + "x", "after it"]
    write_store(VECTORS[:3], np.arange(3) > 0, sentences, "some encoder", path)
    vectors, rows = read_store(path)
    assert list(rows.items()) == [(text, row) for row, text in enumerate(sentences)]
    np.testing.assert_array_equal(vectors, VECTORS[:3])
    assert isinstance(vectors, np.memmap)
    assert store_record(path) == {"name": "sentences", "origin": "some encoder"}
    record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert record.pop("settings") is None
    assert record == {"origin": "some encoder", "words": 3, "found": 2, "dim": 4}


# The C library buffers the last bytes of an array, and ignores the error of writing them.
@pytest.mark.parametrize("lost", [1, 1000, 30_000])
def test_a_full_disk_leaves_no_store(tmp_path, limit_file_size, lost):
    vectors, path = np.zeros((100, 100), dtype=np.float32), tmp_path / "v.npy"
    store = vectors, np.ones(100, dtype=bool), [f"w{number}" for number in range(100)], "here", path
    write_store(*store)
    size = path.stat().st_size
    path.unlink()
    with limit_file_size(size - lost), pytest.raises(AnalogyQAError, match=CUT_OFF):
        write_store(*store)
    assert not [*tmp_path.glob("*.npy*"), *tmp_path.glob(".*")]


# The vocabulary, and vectors that are trained here


def test_the_vocabulary_is_sorted_and_unique():
    assert build_vocabulary(["Who is it?", "it is"], True) == ["?", "is", "it", "who"]
    assert build_vocabulary(["Who is it?", "it is"], False) == ["?", "Who", "is", "it"]


def train_word2vec_file(path: Path, sentences=TREES, **changes) -> Path:
    options = {"dim": 4, "window": 2, "epochs": 2, "min_count": 20, "lowercase": True}
    train_word2vec(sentences, path, **options | changes)
    return path


def test_training_is_reproducible_and_depends_on_its_settings(tmp_path):
    options = [{}, {}, {"epochs": 1}, {"seed": 1}, {"model": "cbow"}]
    contents = [train_word2vec_file(tmp_path / "b.bin", **o).read_bytes() for o in options]
    assert contents[0] == contents[1] and len({*contents}) == 4
    assert [*tmp_path.iterdir()] == [tmp_path / "b.bin"]


# fastText leaves most of its matrix as the memory was, which is zero in a new process only.
def test_fasttext_is_reproducible_in_a_process_of_its_own(tmp_path):
    text = write(tmp_path / "text", "who wrote the book ?\n" * 20)
    script = (
        "import sys; from analogyqa.vectors.train import train_vectors\n"
        "train_vectors([sys.argv[1]], sys.argv[2], 6, epochs=1, min_count=1, lowercase=True)\n"
    )
    models = []
    for name in ("a.bin", "b.bin"):
        command = [sys.executable, "-c", script, str(text), str(tmp_path / name)]
        subprocess.run(command, env=clean_environment(), check=True)
        models.append(np.fromfile(tmp_path / name, np.uint8))
    np.testing.assert_array_equal(*models)  # pytest would take an hour to show how bytes differ
    assert {path.name for path in tmp_path.iterdir()} == {"text", "a.bin", "b.bin"}


def test_texts_are_joined_at_lines_and_may_be_gzipped(tmp_path):
    texts = [write(tmp_path / "a", "one two"), write(tmp_path / "b.gz", "three four")]
    model = train(tmp_path / "m.bin", *texts)
    assert select_vectors(model, ["two", "three"], "zero")[1].all()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a", b"", "fastText could not train .*min_count"),
        ("a", b"too rare\n", "fastText could not train .*min_count"),
        ("a.gz", gzip.compress(b"one two three\n" * 99, mtime=0)[:-12], "damaged or truncated"),
    ],
)
def test_texts_without_frequent_words_are_errors(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(AnalogyQAError, match=f"/{name}: {message}"):
        train(tmp_path / "m.bin", tmp_path / name, min_count=5)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("sentences", [[], ["oak"]], ids=["none", "rare words"])
def test_word2vec_needs_a_frequent_word(tmp_path, sentences):
    with pytest.raises(AnalogyQAError, match=r"20 times .min_count"):
        train_word2vec_file(tmp_path / "a.bin", sentences)
    assert list(tmp_path.iterdir()) == []


def test_word2vec_keeps_frequent_tokens(tmp_path):
    for min_count, expected in ((20, [True, True, False]), (21, [False, True, False])):
        path = train_word2vec_file(tmp_path / "a.bin", min_count=min_count)
        vectors, is_found = select_vectors(path, ["beech", "elm", "fir"], "zero")
        assert (vectors.shape, is_found.tolist()) == ((3, 4), expected)


def test_a_full_disk_leaves_no_model(tmp_path, limit_file_size):
    text = write(tmp_path / "a", "one two three\n")
    with limit_file_size(1_000_000), pytest.raises(AnalogyQAError, match=CUT_OFF):
        train(tmp_path / "m.bin", text, dim=1)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_word_weights_follow_from_the_counts_of_a_file(tmp_path):
    (tmp_path / "counts.txt").write_text("oak 3\n 5\nelm 990\nfir 3\noak 4\n")
    counts, tokens = read_frequencies(tmp_path / "counts.txt", {"elm": 0, "ash": 1, "oak": 2})
    # The words that are not looked up are tokens of the text: 3 + 990 + 3 + 4.
    assert (counts.tolist(), tokens) == ([990, 0, 7], 1000)
    # p is .99, 0 and .007.
    np.testing.assert_allclose(WEIGHTS["sif"](counts, tokens), [0.001 / 0.991, 1, 0.125])
    expected = np.log([1000 / 990, 1000, 1000 / 7])
    np.testing.assert_allclose(WEIGHTS["log_inverse"](counts, tokens), expected)
