"""Damage, found by fuzzing, that once ended in another exception, a hang or a wrong result."""

import numpy as np
import pytest
import torch

from analogyqa.errors import AnalogyQAError, shown
from analogyqa.schemas import METRICS, read_table
from analogyqa.sources.registry import load_registry
from builders.damaged import INFERSENT, TARGETS, npy, saved, sent2vec, zipped

TEXT = b"Ada 1 2 3\nrome 4 5 6\n"
SENTENCES = b'{"sentence1": %s, "sentence2": "b", "gold_label": "neutral"}\n'
NESTED = b"[" * 100_000
ONES = np.ones((2, 2), np.float32)
NO_YAML = "cannot be read as a YAML mapping"
NO_RECORD = "not a record of vectors"

# The reader, the content of its file, and the part of the message that names the cause.
DAMAGE = [
    ("vectors", b"2 0\nAda\nrome\n", "line 2: no numbers"),
    ("vectors", TEXT + b"rome 1\t2 3 4\n", "line 3: a vector of 4"),
    ("vectors", b"Ada 1  2\nrome 1 2 3\n", "line 1: a vector of 2"),
    ("vectors", b"Ada 1 2\nrome  7\n", "line 2: a vector of 1 numbers"),
    ("vectors", b"%b 3\n" % (b"9" * 5000) + TEXT, "line 2: a vector of"),
    ("vectors", b" 3\n" + TEXT, "line 2: a vector of"),
    ("vectors", b"Ada 3e38 -3e38 3e38\n", "too large for a stand"),
    ("vectors", b"Ada " + b"1" * (1 << 22), "line 1: the line is too long"),
    ("word2vec", b"999999999999 0\nAda ", "have 0 numbers"),
    ("word2vec", b"1 99999999999999999\nAda ", "have 99,9"),
    ("word2vec", b"1 3\n" + b"a" * 70_000, "the word of vector"),
    ("word2vec", b"1 " + b"9" * 90 + b"\n", "neither a fastText nor"),
    ("vectors, zipped", zipped(("a.vec", TEXT), flags=1), "encrypted"),
    ("vectors, zipped", zipped(("a.vec", TEXT), flags=32), "compressed patched data"),
    ("vectors, zipped", zipped(("a.vec", TEXT), offset=1 << 20), "damaged or truncated"),
    ("SNLI", NESTED, "line 1: not a JSON object"),
    ("SNLI", SENTENCES % b"7", "line 1: sentence1 and sentence2"),
    ("store", zipped(("a", b"")), "damaged, or a.words.txt"),
    ("store", npy(ONES).replace(b"2)", b"2,"), "damaged, or a.words.txt"),
    ("store", npy(np.ones((2, 2))), "not float32 [V, d]"),
    ("store", npy(ONES[0]), "float32 [2], not"),
    ("store", npy(ONES[0, 0]), "float32 [], not float32"),
    ("record of a store", b"{", NO_RECORD),
    ("record of a store", b"{}", "KeyError('origin')"),
    ("record of a store", b"[]", NO_RECORD),
    ("record of a store", NESTED, NO_RECORD),
    ("Sent2Vec", sent2vec(words=1), "a word after the 1 words"),
    ("Sent2Vec", sent2vec(words=-9), "a word after the -9"),
    ("Sent2Vec", sent2vec(buckets=-1), "-1 buckets"),
    ("Sent2Vec", sent2vec(order=-1, buckets=0), "0 buckets"),
    ("Sent2Vec", sent2vec(height=1 << 62), "damaged or truncated"),
    ("checkpoint", saved(torch.ones(2)), "damaged checkpoint (a Tensor)"),
    # PyTorch would seek to before its start.
    ("InferSent", INFERSENT[40:], "not a file of PyTorch weights, or damaged"),
    ("registry", b"a: !!float b\n", NO_YAML),
    ("registry", b"a: 2001-99-99\n", NO_YAML),
    ("registry", b"a: " + b"[" * 500, NO_YAML),
    ("paper", b"a: \xff\n", NO_YAML),
    ("paper", b"a: !!bool b\n", NO_YAML),
    ("configuration", b"a: !!timestamp b\n", NO_YAML),
    ("configuration", b"device: 0x" + b"f" * 5000, "a number of"),
    ("configuration", b"seeds: 99999999999999\n", "at most 10,000"),
    ("run record", b"{", "cannot be read"),
    ("run record", b"[]", "cannot be read"),
    ("run record", NESTED, "cannot be read"),
    ("run record", b'{"cell": {"model": "a"}}', "cannot be read"),
    ("run record", b'{"cell": {"overrides": []}}', "cannot be read"),
    ("Parquet", b"PAR1", "damaged Parquet file"),
]


@pytest.mark.parametrize(
    ("reader", "content", "cause"), DAMAGE, ids=[f"{name}: {cause}" for name, _, cause in DAMAGE]
)
def test_damage_is_one_message_that_names_file_and_cause(tmp_path, reader, content, cause):
    path = tmp_path / f"a{TARGETS[reader].suffix}"
    path.write_bytes(content)
    with pytest.raises(AnalogyQAError) as caught:
        TARGETS[reader].read(path)
    assert str(path) in str(caught.value)
    assert cause in str(caught.value)


def test_a_table_with_an_undecodable_column_name_is_damaged(tmp_path):
    path = tmp_path / "a.parquet"
    METRICS.empty_table().to_pandas().to_parquet(path)
    path.write_bytes(path.read_bytes().replace(b"measure", b"meas\xf6re"))
    with pytest.raises(AnalogyQAError, match=r"a\.parquet: damaged Parquet file"):
        read_table(path, METRICS)


@pytest.mark.parametrize("value", ["x" * 10**6, ["x"] * 10**6, dict.fromkeys(range(10**6))])
def test_a_message_shortens_a_large_value(value):
    assert len(shown(value)) < 1000


def test_a_message_about_an_undecodable_name_can_be_printed(tmp_path):
    with pytest.raises(AnalogyQAError) as caught:
        load_registry(tmp_path / "\udcff.yaml")
    assert r"\udcff.yaml" in str(caught.value).encode("utf-8").decode()
