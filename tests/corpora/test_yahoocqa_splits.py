"""A pickle of plain values is read; test_weights.py has those that would run code."""

import pickle

import pytest

from analogyqa.corpora.table import Pair
from analogyqa.corpora.yahoocqa_splits import read
from builders.damaged import zipped

SPLIT = {
    "train": {"which tree": [["a fir", 1], ["an oak", 0]]},
    "dev": {"which tree": [["an elm", 0], ["a fir", 1]]},
    "test": {"where is it": [["here", 1]]},
}
PAIRS = [
    Pair(1, "1", "which tree", "a fir", 1, "train"),
    Pair(2, "1", "which tree", "an oak", 0, "train"),
    Pair(3, "2", "which tree", "an elm", 0, "dev"),
    Pair(4, "2", "which tree", "a fir", 1, "dev"),
    Pair(5, "3", "where is it", "here", 1, "test"),
]
# {"dev": {"caf\xc3\xa9": [["a", 1]]}} as Python 2 writes it, where texts are bytes.
PYTHON_2_PICKLE = b"(dp0\nS'dev'\np1\n(dp2\nS'caf\\xc3\\xa9'\np3\n(lp4\n(lp5\nS'a'\np6\naI1\naass."


@pytest.fixture
def pairs(read_file):
    return lambda content: read_file(read, "env.pkl.zip", zipped(("env.pkl", content)))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_all_splits_are_read(pairs, protocol):
    assert pairs(pickle.dumps(SPLIT, protocol)) == PAIRS


def test_a_pickle_written_by_python_2_is_read(pairs):
    assert pairs(PYTHON_2_PICKLE) == [Pair(1, "1", "café", "a", 1, "dev")]
