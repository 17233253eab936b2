"""Word vectors from every format, whole and broken."""

import gzip
import json
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from analogyqa.errors import AnalogyQAError
from analogyqa.vectors.select import select_vectors, vocabulary_of
from analogyqa.vectors.store import read_store, store_record, write_store
from analogyqa.vectors.train import train_vectors

WORDS = ["the", "who", "é", "1901", "</s>"]
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32)
VOCABULARY = ["1901", "absent", "who", "é"]
ROWS = [WORDS.index(word) for word in VOCABULARY if word != "absent"]
FOUND = [True, False, True, True]
CUT_OFF = r"cannot be written \(.*written.*Make room on the disk"


def text(header: bool = True, words=WORDS, vectors=VECTORS) -> str:
    lines = [
        f"{word} {' '.join(map(str, vector))}\n"
        for word, vector in zip(words, vectors, strict=True)
    ]
    return "".join([f"{len(words)} {vectors.shape[1]}\n"] * header + lines)


def write(path: Path, content: str) -> Path:
    """Write text to a file, packed as its suffix says."""
    data = content.encode()
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(data))
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(path.stem, data)
    else:
        path.write_bytes(data)
    return path


def run_python(script: str, path: Path) -> subprocess.CompletedProcess:
    """Run a script on a file with the library at hand."""
    environment = {"PYTHONPATH": str(Path(__file__).parents[2] / "workflow_scripts")}
    command = [sys.executable, "-c", script, str(path)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.fixture
def keyed():
    keyed = KeyedVectors(vector_size=4)
    keyed.add_vectors(WORDS, VECTORS)
    return keyed


@pytest.fixture(scope="module")
def fasttext_bin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fasttext")
    (folder / "text").write_text("who wrote the book ?\nthe writer wrote it in 1901 .\n" * 20)
    train_vectors(
        [str(folder / "text")], folder / "model.bin", dim=6, epochs=1, min_count=1, lowercase=True
    )
    return folder / "model.bin"


# Formats


@pytest.mark.parametrize("name", ["a.vec", "a.txt", "a.vec.gz", "a.vec.zip"])
@pytest.mark.parametrize("header", [True, False], ids=["header", "no header"])
def test_text_is_read_in_the_order_of_the_vocabulary(tmp_path, name, header):
    path = write(tmp_path / name, text(header))
    vectors, found = select_vectors(path, VOCABULARY, "zero")
    assert vectors.dtype == np.float32
    assert found.tolist() == FOUND
    np.testing.assert_array_equal(vectors[found], VECTORS[ROWS])


@pytest.mark.parametrize(("name", "binary"), [("a.bin", True), ("a.vec", False)])
def test_a_file_that_gensim_writes_is_read_as_gensim_reads_it(tmp_path, keyed, name, binary):
    path = tmp_path / name
    keyed.save_word2vec_format(str(path), binary=binary)
    vectors, found = select_vectors(path, VOCABULARY, "zero")
    read = KeyedVectors.load_word2vec_format(str(path), binary=binary)
    assert found.tolist() == FOUND
    np.testing.assert_array_equal(vectors[found], read[[VOCABULARY[i] for i in (0, 2, 3)]])


@pytest.mark.parametrize("suffix", [".gz", ".zip"])
def test_word2vec_binary_may_be_packed(tmp_path, keyed, suffix):
    plain = tmp_path / "a.bin"
    keyed.save_word2vec_format(str(plain), binary=True)
    packed = tmp_path / f"a.bin{suffix}"
    if suffix == ".gz":
        packed.write_bytes(gzip.compress(plain.read_bytes()))
    else:
        with zipfile.ZipFile(packed, "w") as archive:
            archive.write(plain, plain.name)
    vectors, found = select_vectors(packed, VOCABULARY, "zero")
    assert found.tolist() == FOUND
    assert np.array_equal(vectors[found], VECTORS[ROWS])


def test_word2vec_binary_may_end_its_vectors_with_a_line_end(tmp_path):
    records = [f"{w} ".encode() + v.tobytes() + b"\n" for w, v in zip(WORDS, VECTORS, strict=True)]
    (tmp_path / "a.bin").write_bytes(b"5 4\n" + b"".join(records))
    vectors, found = select_vectors(tmp_path / "a.bin", VOCABULARY, "zero")
    np.testing.assert_array_equal(vectors[found], VECTORS[ROWS])


def test_the_words_with_spaces_of_glove_are_skipped(tmp_path):
    lines = text(header=False).splitlines(keepends=True)
    lines.insert(2, "at who@x.org " + "0.5 " * 3 + "0.5\n")
    vectors, found = select_vectors(write(tmp_path / "a.txt", "".join(lines)), VOCABULARY, "zero")
    np.testing.assert_array_equal(vectors[found], VECTORS[ROWS])


def test_a_space_behind_the_numbers_is_no_number(tmp_path):
    path = write(tmp_path / "a.vec", text().replace("\n", " \n"))
    vectors, found = select_vectors(path, VOCABULARY, "zero")
    np.testing.assert_array_equal(vectors[found], VECTORS[ROWS])


def test_the_first_of_two_vectors_of_a_word_counts(tmp_path):
    path = write(tmp_path / "a.vec", text(False) + "who 9 9 9 9\n")
    vectors, _ = select_vectors(path, ["who"], "zero")
    np.testing.assert_array_equal(vectors[0], VECTORS[WORDS.index("who")])


def test_a_fasttext_model_gives_its_own_vectors(fasttext_bin):
    import fasttext

    vectors, found = select_vectors(fasttext_bin, ["book", "who"], "zero")
    model = fasttext.load_model(str(fasttext_bin))
    assert found.all()
    np.testing.assert_array_equal(vectors, [model.get_word_vector(w) for w in ("book", "who")])


# Words that a file lacks


def test_subword_gives_an_unknown_word_a_vector_of_its_parts(fasttext_bin):
    vectors, found = select_vectors(fasttext_bin, ["book", "bookwriter"], "subword")
    assert found.tolist() == [True, False]
    assert vectors[1].any()


def test_subword_needs_a_fasttext_model(tmp_path):
    with pytest.raises(AnalogyQAError, match=r"a\.vec: .*subword needs a fastText \.bin"):
        select_vectors(write(tmp_path / "a.vec", text()), VOCABULARY, "subword")


def test_zero_gives_a_missing_word_the_zero_vector(tmp_path, fasttext_bin):
    for path in (write(tmp_path / "a.vec", text()), fasttext_bin):
        vectors, found = select_vectors(path, VOCABULARY, "zero")
        assert not found[1]
        assert not vectors[1].any()


def test_random_vectors_are_the_same_each_time(tmp_path):
    path = write(tmp_path / "a.vec", text())
    first, second = (select_vectors(path, VOCABULARY, "random")[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first[1].any()


def test_a_random_vector_does_not_depend_on_the_other_missing_words(tmp_path):
    path = write(tmp_path / "a.vec", text())
    alone, _ = select_vectors(path, VOCABULARY, "random")
    among, _ = select_vectors(path, ["zzz", *reversed(VOCABULARY), "aaa"], "random")
    np.testing.assert_allclose(alone[1], among[3], rtol=1e-6)
    assert not np.allclose(among[0], among[3])


def test_random_vectors_have_the_spread_of_those_found(tmp_path):
    large = np.random.default_rng(0).normal(scale=0.1, size=(5, 500)).astype(np.float32)
    path = write(tmp_path / "a.vec", text(vectors=large))
    vectors, found = select_vectors(path, ["absent", *WORDS], "random")
    assert vectors[~found].std() == pytest.approx(large.std(), rel=0.15)


# Broken files


@pytest.mark.parametrize("name", ["a.vec", "a.vec.gz", "a.vec.zip"])
def test_a_vector_that_is_not_finite_is_named_with_its_line(tmp_path, name):
    vectors = VECTORS.copy()
    vectors[1, 2] = np.nan
    path = write(tmp_path / name, text(vectors=vectors))
    with pytest.raises(AnalogyQAError, match=rf"{name}, line 3: .*'who' .*not finite"):
        select_vectors(path, VOCABULARY, "zero")


@pytest.mark.parametrize("value", ["inf", "1e99"])
def test_a_number_beyond_float32_is_named(tmp_path, value):
    path = write(tmp_path / "a.vec", f"1 2\nwho 1 {value}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(AnalogyQAError, match=r"a\.vec, line 2: .*'who' .*not finite"):
            select_vectors(path, ["who"], "zero")


def test_a_binary_vector_that_is_not_finite_is_named(tmp_path, keyed):
    keyed.vectors[1, 2] = np.nan
    keyed.save_word2vec_format(str(tmp_path / "a.bin"), binary=True)
    with pytest.raises(AnalogyQAError, match=r"a\.bin, vector 2: .*'who' .*not finite"):
        select_vectors(tmp_path / "a.bin", VOCABULARY, "zero")


@pytest.mark.parametrize("line", ["who 1 2 3", "who 1 2 3 4 5", "who", ""])
def test_a_vector_of_another_length_is_named_with_its_line(tmp_path, line):
    path = write(tmp_path / "a.vec", f"2 4\nthe 1 2 3 4\n{line}\n")
    with pytest.raises(AnalogyQAError, match=r"a\.vec, line 3: a vector of \d numbers, not 4"):
        select_vectors(path, VOCABULARY, "zero")


def test_a_vector_that_is_too_short_is_named_without_a_header_too(tmp_path):
    path = write(tmp_path / "a.txt", text(False) + "more 1 2\n")
    with pytest.raises(AnalogyQAError, match=r"a\.txt, line 6: a vector of 2 numbers, not 4"):
        select_vectors(path, VOCABULARY, "zero")


def test_a_number_that_is_none_is_named_with_its_line(tmp_path):
    path = write(tmp_path / "a.vec", "1 2\nwho 1 two\n")
    with pytest.raises(AnalogyQAError, match=r"a\.vec, line 2: .*two"):
        select_vectors(path, ["who"], "zero")


@pytest.mark.parametrize("content", ["hello world\nmore text here\n", "<html>\n</html>\n", ""])
def test_a_file_that_holds_no_vectors_is_named(tmp_path, content):
    with pytest.raises(AnalogyQAError, match=r"a\.vec"):
        select_vectors(write(tmp_path / "a.vec", content), VOCABULARY, "zero")


@pytest.mark.parametrize("name", ["a.vec", "a.vec.gz", "a.vec.zip"])
def test_fewer_vectors_than_the_first_line_says_is_a_cut_off_file(tmp_path, name):
    content = text().rsplit("\n", 2)[0] + "\n"
    message = rf"{name}: 4 vectors, its first line says 5.* cut off"
    with pytest.raises(AnalogyQAError, match=message):
        select_vectors(write(tmp_path / name, content), VOCABULARY, "zero")


@pytest.mark.parametrize("name", ["a.vec.gz", "a.vec.zip"])
@pytest.mark.parametrize("kept", [0.1, 0.5, 0.95])
def test_a_truncated_archive_is_named(tmp_path, name, kept):
    path = write(tmp_path / name, text())
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(AnalogyQAError, match=rf"{name}: .*(damaged or )?cut off"):
        select_vectors(path, VOCABULARY, "zero")


@pytest.mark.parametrize("name", ["a.vec.gz", "a.vec.zip"])
def test_an_archive_that_is_none_is_named(tmp_path, name):
    (tmp_path / name).write_text("not packed at all")
    with pytest.raises(AnalogyQAError, match=rf"{name}: damaged or cut off"):
        select_vectors(tmp_path / name, VOCABULARY, "zero")


@pytest.mark.parametrize("name", ["a.vec.gz", "a.vec.zip"])
def test_a_changed_byte_in_an_archive_is_noticed(tmp_path, name):
    path = write(tmp_path / name, text())
    data = bytearray(path.read_bytes())
    data[60] ^= 255
    path.write_bytes(data)
    with pytest.raises(AnalogyQAError, match=name):
        select_vectors(path, VOCABULARY, "zero")


def test_a_zip_with_two_members_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("one.vec", text())
        archive.writestr("two.vec", text())
    with pytest.raises(AnalogyQAError, match=r"a\.zip: expected one file .*one\.vec.*two\.vec"):
        select_vectors(tmp_path / "a.zip", VOCABULARY, "zero")


@pytest.mark.parametrize("cut", [1, 5, 16, 17, 30])
def test_a_truncated_binary_is_named_with_its_place(tmp_path, keyed, cut):
    path = tmp_path / "a.bin"
    keyed.save_word2vec_format(str(path), binary=True)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(AnalogyQAError, match=r"a\.bin: cut off at vector [45] of 5"):
        select_vectors(path, VOCABULARY, "zero")


@pytest.mark.parametrize("content", [b"", b"hello", b"1 2 3\n", b"PK\x03\x04 1"])
def test_a_binary_that_is_none_is_named(tmp_path, content):
    (tmp_path / "a.bin").write_bytes(content)
    with pytest.raises(AnalogyQAError, match=r"a\.bin: neither a fastText nor a word2vec"):
        select_vectors(tmp_path / "a.bin", VOCABULARY, "zero")


@pytest.mark.parametrize("kept", [4, 0.5, 0.99])
def test_a_truncated_fasttext_model_is_named(tmp_path, fasttext_bin, kept):
    # In a process of its own: fastText itself may crash on such a file.
    data = fasttext_bin.read_bytes()
    (tmp_path / "a.bin").write_bytes(data[: kept if kept == 4 else int(kept * len(data))])
    script = (
        "import sys; from analogyqa.errors import AnalogyQAError\n"
        "from analogyqa.vectors.select import select_vectors\n"
        "try: select_vectors(sys.argv[1], ['book'], 'zero')\n"
        "except AnalogyQAError as error: print(error)\n"
    )
    done = run_python(script, tmp_path / "a.bin")
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path / 'a.bin'}: damaged" in done.stdout


@pytest.mark.parametrize("name", ["a.vec", "a.bin", "model.bin"])
def test_a_file_without_any_of_the_words_is_named(tmp_path, keyed, fasttext_bin, name):
    path = fasttext_bin if name == "model.bin" else tmp_path / name
    if path != fasttext_bin:
        keyed.save_word2vec_format(str(path), binary=name == "a.bin")
    with pytest.raises(AnalogyQAError, match=rf"{name}: none of the 2 words"):
        select_vectors(path, ["absent", "missing"], "random")


# Memory


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    """300,000 words of 300 numbers, 720 MB of text, are read in less than 300 MB.

    Only the vectors of the vocabulary are kept, so a file of 2 million words needs no more.
    """
    path = tmp_path / "large.vec"
    numbers = b" -0.1234" * 300 + b"\n"
    with open(path, "wb") as file:
        file.write(b"300000 300\n")
        for start in range(0, 300_000, 10_000):
            file.write(b"".join(b"w%d" % row + numbers for row in range(start, start + 10_000)))
    assert path.stat().st_size > 700e6
    # The peak of this process alone: getrusage of a child starts at its parent's peak.
    script = (
        "import sys; from pathlib import Path\n"
        "from analogyqa.vectors.select import select_vectors\n"
        "words = [f'w{row}' for row in range(0, 300_000, 30)]\n"
        "assert select_vectors(sys.argv[1], words, 'zero')[1].all()\n"
        "lines = Path('/proc/self/status').read_text().splitlines()\n"
        "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))\n"
    )
    done = run_python(script, path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 300 * 1024


# The store


@pytest.fixture
def store(tmp_path):
    write_store(VECTORS, np.arange(5) > 0, WORDS, "some file", tmp_path / "a.npy")
    return tmp_path / "a.npy"


def test_a_store_comes_back_as_it_was_written(store):
    vectors, rows = read_store(store)
    np.testing.assert_array_equal(vectors, VECTORS)
    assert list(rows) == WORDS
    assert list(rows.values()) == list(range(5))


@pytest.mark.parametrize(
    "sentence", ["one\rline", "ends so\r", "\x0b\x0c\x1c", "line\u2028separator\x85", " ", ""]
)
def test_a_sentence_with_any_white_space_but_a_line_feed_comes_back(tmp_path, sentence):
    sentences = ["before", sentence, "after"]
    write_store(VECTORS[:3], np.ones(3, bool), sentences, "some encoder", tmp_path / "a.npy")
    vectors, rows = read_store(tmp_path / "a.npy")
    assert rows == {text: row for row, text in enumerate(sentences)}
    np.testing.assert_array_equal(vectors, VECTORS[:3])


def test_the_record_of_a_store_is_its_name_and_origin(store):
    assert store_record(store) == {"name": "a", "origin": "some file"}


def test_a_store_is_mapped_into_memory(store):
    assert isinstance(read_store(store)[0], np.memmap)


def test_a_store_says_where_it_comes_from(store):
    record = json.loads(store.with_suffix(".json").read_text())
    assert record == {"origin": "some file", "words": 5, "found": 4, "dim": 4}


@pytest.mark.parametrize("kept", [0, 20, -1])
def test_a_damaged_store_is_named(store, kept):
    store.write_bytes(store.read_bytes()[:kept])
    with pytest.raises(AnalogyQAError, match=r"a\.npy: damaged word vectors .*Delete"):
        read_store(store)


def test_a_store_with_other_words_is_named(store):
    words = store.with_suffix(".words.txt")
    words.write_text(words.read_text() + "more\n")
    with pytest.raises(AnalogyQAError, match=r"a\.npy: 5 vectors for 6 words"):
        read_store(store)


@pytest.mark.parametrize("content", [None, b"the\nwho\n\xc3\n1901\n</s>\n"])
def test_a_store_whose_words_are_missing_or_damaged_is_named(store, content):
    words = store.with_suffix(".words.txt")
    words.unlink() if content is None else words.write_bytes(content)
    with pytest.raises(AnalogyQAError, match=r"a\.(npy|words\.txt): "):
        read_store(store)


# The vocabulary and vectors of our own


def test_the_vocabulary_is_every_token_once_sorted():
    assert vocabulary_of(["Who is it?", "it is"], True) == ["?", "is", "it", "who"]
    assert vocabulary_of(["Who is it?", "it is"], False) == ["?", "Who", "is", "it"]


def test_training_on_the_same_text_gives_the_same_bytes(tmp_path, fasttext_bin):
    source = str(fasttext_bin.parent / "text")
    train_vectors([source], tmp_path / "b.bin", dim=6, epochs=1, min_count=1, lowercase=True)
    assert [path.name for path in tmp_path.iterdir()] == ["b.bin"]
    assert (tmp_path / "b.bin").read_bytes() == fasttext_bin.read_bytes()


def test_texts_are_joined_between_lines_and_may_be_gzipped(tmp_path):
    (tmp_path / "a").write_text("one two")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"three four"))
    texts = [str(tmp_path / "a"), str(tmp_path / "b.gz")]
    train_vectors(texts, tmp_path / "m.bin", dim=2, epochs=1, min_count=1, lowercase=True)
    assert select_vectors(tmp_path / "m.bin", ["two", "three"], "zero")[1].all()


@pytest.mark.parametrize("content", ["", "too rare\n"])
def test_a_text_without_frequent_words_is_named(tmp_path, content):
    (tmp_path / "a").write_text(content)
    with pytest.raises(AnalogyQAError, match=r"/a: fastText could not train .*min_count"):
        train_vectors(
            [str(tmp_path / "a")], tmp_path / "m.bin", dim=2, epochs=1, min_count=5, lowercase=True
        )
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_truncated_text_is_named(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"one two three\n" * 99)[:-12])
    with pytest.raises(AnalogyQAError, match=r"a\.gz"):
        train_vectors(
            [str(tmp_path / "a.gz")],
            tmp_path / "m.bin",
            dim=2,
            epochs=1,
            min_count=1,
            lowercase=True,
        )


def test_a_model_that_fastText_cannot_write_whole_is_no_model(tmp_path, little_room):
    (tmp_path / "a").write_text("one two three\n")
    with little_room(1_000_000), pytest.raises(AnalogyQAError, match=CUT_OFF):
        train_vectors(
            [str(tmp_path / "a")], tmp_path / "m.bin", dim=1, epochs=1, min_count=1, lowercase=True
        )
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


# The C library holds back the last bytes of an array and loses the error when it closes the file.
@pytest.mark.parametrize("lost", [1, 1000, 30_000])
def test_vectors_that_cannot_be_written_whole_leave_no_file(tmp_path, little_room, lost):
    vectors = np.zeros((100, 100), dtype=np.float32)
    words = [f"w{number}" for number in range(100)]
    path = tmp_path / "v.npy"
    write_store(vectors, np.ones(100, dtype=bool), words, "here", path)
    whole = path.stat().st_size
    path.unlink()
    with little_room(whole - lost), pytest.raises(AnalogyQAError, match=CUT_OFF):
        write_store(vectors, np.ones(100, dtype=bool), words, "here", path)
    assert not list(tmp_path.glob("*.npy*"))
    assert not list(tmp_path.glob(".*"))
