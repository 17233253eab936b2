"""Damage that fuzzing found, which once ended in another exception, a hang or a wrong result."""

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from analogyqa.errors import AnalogyQAError, shown
from analogyqa.pretrained import infersent
from analogyqa.pretrained.nli import read_nli
from analogyqa.pretrained.sent2vec import encode_tokens
from analogyqa.report.summary import read_runs
from analogyqa.schemas import METRICS, read_table
from analogyqa.settings.paper import load_paper
from analogyqa.settings.run import MOST_SEEDS, load_config, read_config
from analogyqa.sources.registry import load_registry
from analogyqa.training.checkpoints import load_state
from analogyqa.vectors.select import select_vectors
from analogyqa.vectors.store import read_store, store_record

WORDS = ["ada", "rome"]


def select(path: Path) -> object:
    return select_vectors(path, WORDS, "random")


def run(path: Path) -> object:
    return list(read_runs([path], [path]))


def nli(path: Path) -> object:
    return read_nli([str(path)])


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def saved(value: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def zipped(content: bytes, flags: int = 0, offset: int | None = None) -> bytes:
    """Return an archive whose directory says that its member is otherwise than it is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a_train.jsonl", content)
    packed = bytearray(buffer.getvalue())
    directory = packed.index(b"PK\x01\x02")
    packed[directory + 8 : directory + 10] = struct.pack("<H", flags)
    if offset is not None:
        packed[-6:-2] = struct.pack("<L", offset)
    return bytes(packed)


def sent2vec(words: int = 2, buckets: int = 2, order: int = 2, height: int = 4) -> bytes:
    arguments = (793712314, 11, 3, 5, 5, 5, 10, order, 1, 4, buckets, 0, 0, 100, 1e-4)
    dictionary = b"".join(word.encode() + b"\0" + struct.pack("<qb", 3, 0) for word in WORDS)
    matrix = np.ones((4, 3), "<f4").tobytes()
    return (
        struct.pack("<2i12id3i2q", *arguments, len(WORDS), words, 0, 10, -1)
        + dictionary
        + struct.pack("<?2q", False, height, 3)
        + matrix
        + struct.pack("<?2q", False, 4, 3)
        + matrix
    )


def encode(path: Path) -> object:
    return encode_tokens([WORDS], path)


TEXT = b"ada 1 2 3\nrome 4 5 6\n"
SENTENCES = b'{"sentence1": %s, "sentence2": "b", "gold_label": "neutral"}\n'

# Each: the name of the file, its content, who reads it, and what of the message names the cause.
DAMAGE = {
    "text without numbers": ("a.vec", b"ada\nrome\n", select, "line 1: no numbers behind a word"),
    "text of no dimensions": ("a.vec", b"2 0\nada\nrome\n", select, "line 2: no numbers"),
    "text with a tab": ("a.vec", TEXT + b"rome 1\t2 3 4\n", select, "line 3: a vector of 4"),
    "text with two spaces": ("a.vec", b"ada 1  2\nrome 1 2 3\n", select, "line 1: a vector of 2"),
    "text, broadcast": ("a.vec", b"ada 1 2\nrome  7\n", select, "line 2: a vector of 1 numbers"),
    "text, a count of 5000 digits": ("a.vec", b"%b 3\n" % (b"9" * 5000) + TEXT, select, "none of"),
    "text, half a header": ("a.vec", b" 3\n" + TEXT, select, "none of the 2 words"),
    "text, large numbers": ("a.vec", b"ada 3e38 -3e38 3e38\n", select, "too large to have a stand"),
    "text, a line without end": ("a.vec", b"ada " + b"1" * (1 << 22), select, "line 1: too long"),
    "binary of no dimensions": ("a.bin", b"999999999999 0\nada ", select, "vectors of 0 numbers"),
    "binary of many dimensions": ("a.bin", b"1 99999999999999999\nada ", select, "vectors of 99,9"),
    "binary, a word without end": ("a.bin", b"1 3\n" + b"a" * 70_000, select, "the word of vector"),
    "binary, 90 digits": ("a.bin", b"1 " + b"9" * 90 + b"\n", select, "neither a fastText nor"),
    "zip, encrypted": ("a.vec.zip", zipped(TEXT, flags=1), select, "encrypted"),
    "zip, patched": ("a.vec.zip", zipped(TEXT, flags=32), select, "compressed patched data"),
    "zip, another place": ("a.vec.zip", zipped(TEXT, offset=1 << 20), select, "damaged or cut off"),
    "inference, zip, encrypted": ("a.zip", zipped(b"", flags=1), nli, "encrypted"),
    "inference, nested": ("a.jsonl", b"[" * 100_000, nli, "line 1: not a JSON object"),
    "inference, a number": ("a.jsonl", SENTENCES % b"7", nli, "line 1: sentence1 and sentence2"),
    "inference, half a letter": ("a.jsonl", SENTENCES % rb'"\ud800"', nli, "line 1: 'utf-8' codec"),
    "store, an archive": ("a.npy", zipped(b""), read_store, "damaged word vectors"),
    "store, a cut header": ("a.npy", npy(np.ones((2, 2)))[:40], read_store, "damaged word vectors"),
    "store, a bracket": (
        "a.npy",
        npy(np.ones((2, 2), np.float32)).replace(b"2)", b"2,"),
        read_store,
        "damaged word vectors",
    ),
    "store, other numbers": ("a.npy", npy(np.ones((2, 2))), read_store, "not float32 [V, d]"),
    "store, one dimension": ("a.npy", npy(np.ones(2, np.float32)), read_store, "float32 [2], not"),
    "store, no dimension": ("a.npy", npy(np.float32(1)), read_store, "float32 [], not float32"),
    "record, no JSON": ("a.json", b"{", store_record, "not the record of word vectors"),
    "record, no origin": ("a.json", b"{}", store_record, "KeyError('origin')"),
    "record, a list": ("a.json", b"[]", store_record, "not the record of word vectors"),
    "record, nested": ("a.json", b"[" * 100_000, store_record, "not the record of word vectors"),
    "Sent2Vec, fewer words": ("a.bin", sent2vec(words=1), encode, "a word behind the 1 words"),
    "Sent2Vec, negative words": ("a.bin", sent2vec(words=-9), encode, "a word behind the -9"),
    "Sent2Vec, negative buckets": ("a.bin", sent2vec(buckets=-1), encode, "-1 buckets"),
    "Sent2Vec, negative order": ("a.bin", sent2vec(order=-1, buckets=0), encode, "0 buckets"),
    "Sent2Vec, large": ("a.bin", sent2vec(height=1 << 62), encode, "damaged or cut off"),
    "checkpoint, a tensor": (
        "a.pt",
        saved(torch.ones(2)),
        lambda path: load_state(path, torch.device("cpu")),
        "damaged checkpoint (a Tensor)",
    ),
    "InferSent, a place before its start": (
        "a.pkl",
        saved(infersent.InferSent(2, 2).state_dict())[40:],
        infersent.load,
        "not a file of PyTorch weights, or damaged",
    ),
    "InferSent, empty": ("a.pkl", b"", infersent.load, "not a file of PyTorch weights"),
    "registry, a number": ("a.yaml", b"a: !!float b\n", load_registry, "cannot be read as a YAML"),
    "registry, a date": ("a.yaml", b"a: 2001-99-99\n", load_registry, "cannot be read as a YAML"),
    "registry, nested": ("a.yaml", b"a: " + b"[" * 500, load_registry, "cannot be read as a YAML"),
    "paper, not UTF-8": ("a.yaml", b"a: \xff\n", load_paper, "cannot be read as a YAML mapping"),
    "paper, a truth": ("a.yaml", b"a: !!bool b\n", load_paper, "cannot be read as a YAML mapping"),
    "configuration, a time": ("a.yaml", b"a: !!timestamp b\n", read_config, "as a YAML mapping"),
    "configuration, digits": ("a.yaml", b"device: 0x" + b"f" * 5000, read_config, "a number of"),
    "configuration, seeds": ("a.yaml", b"seeds: 99999999999999\n", read_config, "at most 10,000"),
    "run, a list": (
        "a.json",
        b"[]",
        run,
        "cannot be read",
    ),
    "run, nested": (
        "a.json",
        b"[" * 100_000,
        run,
        "cannot be read",
    ),
    "run, another cell": (
        "a.json",
        b'{"cell": {"model": "a"}}',
        run,
        "cannot be read",
    ),
    "Parquet, not UTF-8": (
        "a.parquet",
        b"PAR1",
        lambda path: read_table(path, METRICS),
        "damaged Parquet file",
    ),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_is_one_message_that_names_file_and_cause(tmp_path, case):
    name, content, read, cause = DAMAGE[case]
    path = tmp_path / name
    path.write_bytes(content)
    path.with_suffix(".words.txt").write_text("".join(f"{word}\n" for word in WORDS))
    with pytest.raises(AnalogyQAError) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert cause in str(caught.value)


def test_a_table_of_columns_that_are_no_text_is_damaged(tmp_path):
    path = tmp_path / "a.parquet"
    METRICS.empty_table().to_pandas().to_parquet(path)
    path.write_bytes(path.read_bytes().replace(b"tied_candidates", b"tied_\xf6andidates"))
    with pytest.raises(AnalogyQAError, match=r"a\.parquet: damaged Parquet file"):
        read_table(path, METRICS)


def test_no_more_seeds_are_made_than_can_be_run():
    with pytest.raises(AnalogyQAError, match=r"seeds: .* at most 10,000 seeds can be asked for"):
        load_config({"seeds": MOST_SEEDS + 1})


@pytest.mark.parametrize("value", ["x" * 10**6, ["x"] * 10**6, dict.fromkeys(range(10**6))])
def test_a_message_shows_a_large_value_in_short(value):
    assert len(shown(value)) < 1000


def test_a_message_about_a_name_that_is_no_text_can_be_printed(tmp_path):
    with pytest.raises(AnalogyQAError) as caught:
        load_registry(tmp_path / "\udcff.yaml")
    assert r"\udcff.yaml" in str(caught.value).encode("utf-8").decode()
