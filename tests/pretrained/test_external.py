"""Vectors that another program computed."""

import numpy as np
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources
from analogyqa.pretrained.external import look_up
from analogyqa.vectors.store import write_store


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
