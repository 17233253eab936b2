"""A pickle of plain values is read; one that names a class or a function is refused."""

import pickle
import zipfile

import pytest

from analogyqa.corpora.table import Pair
from analogyqa.corpora.yahoocqa_splits import read
from analogyqa.errors import AnalogyQAError

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


class Harmful:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "env.pkl.zip"


def write(path, *contents):
    with zipfile.ZipFile(path, "w") as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"{number}.pkl", content)
    return path


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_all_splits_are_read(path, protocol):
    assert list(read(write(path, pickle.dumps(SPLIT, protocol)))) == PAIRS


def test_a_pickle_written_by_python_2_is_read(path):
    assert list(read(write(path, PYTHON_2_PICKLE))) == [Pair(1, "1", "café", "a", 1, "dev")]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_could_run_code_is_refused(path, tmp_path, protocol):
    target = tmp_path / "written"
    write(path, pickle.dumps({**SPLIT, "dev": Harmful(target)}, protocol))
    with pytest.raises(AnalogyQAError, match="could run code"):
        list(read(path))
    assert not target.exists()
