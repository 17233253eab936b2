"""The summary of runs."""

import numpy as np
import pytest

from analogyqa.plan import Cell
from analogyqa.report.summary import join_folds, measure_columns, shared_seeds, values_of
from report.builders import make_config, make_run


@pytest.mark.parametrize(
    ("parts", "trained", "shared"),
    [
        ({"analogy": [0, 1]}, {"analogy"}, 2),
        ({"analogy": [0, 1], "similarity": [0]}, {"analogy", "similarity"}, 5 / 3),
        ({"analogy": [0, 1], "glove": [0]}, {"analogy"}, 2),
        ({"glove": [0], "word2vec": [0]}, set(), 1),
        (None, set(), 1),
    ],
)
def test_values_remember_how_many_ensembles_share_a_model(parts, trained, shared):
    ranker = {"name": "fused", "parts": parts} if parts else {"name": "analogy"}
    settings = {
        name: {"training": {} if name not in trained else {"dropout": 0.5}} for name in parts or ()
    }
    cells = [Cell("both", "wikiqa", "comb", (("fold", f"{fold}of2"),)) for fold in (1, 2)]
    values = np.array([[0.2, 0.4], [0.4, 0.6], [0.6, 0.5]])
    runs = [
        make_run(cell, {"mrr": values}, system={"ranker": ranker}, parts=settings) for cell in cells
    ]
    config, lookup = make_config(seeds=[0, 1, 2]), values_of(runs)
    joined = join_folds(cells, "mrr", lookup)
    for frame in (joined, joined.iloc[:, :1], joined.sort_index(axis=1)):
        assert shared_seeds(frame) == pytest.approx(shared)
    sd = measure_columns(joined, "mrr", config)["sd"]
    naive = values.mean(axis=1).std(ddof=1)
    assert sd == pytest.approx(naive * np.sqrt(2 / (3 - shared)), abs=1e-6)
