"""The summary of runs."""

import numpy as np
import pytest

from analogyqa.cells import Cell
from analogyqa.evaluation.summary import (
    find_records,
    index_values,
    join_folds,
    measure_columns,
    read_runs,
    shared_seeds,
)
from builders.report import make_config, make_run, write_made_run

CELL = Cell("analogy", "wikiqa", "who")


def test_each_run_keeps_its_own_cell_and_values(tmp_path):
    values = {CELL: 0.25, CELL._replace(system="similarity"): 0.75}
    for cell, value in values.items():
        write_made_run(tmp_path, cell, {"mrr": np.full((2, 3), value)})
    records = find_records(tmp_path)
    assert list(records) == [cell.path for cell in values]
    metrics = [path.with_name("metrics.parquet") for path in records.values()]
    lookup = index_values(read_runs(records.values(), metrics))
    assert {cell: lookup(cell, "mrr").to_numpy().tolist() for cell in values} == {
        cell: [[value] * 3] * 2 for cell, value in values.items()
    }


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
    systems = {name: {"training": {}} if name in trained else {} for name in parts or ()}
    settings = {"parts": {name: {"systems": {"paper": one}} for name, one in systems.items()}}
    cells = [Cell("both", "wikiqa", "comb", (("fold", f"{fold}of2"),)) for fold in (1, 2)]
    values = np.array([[0.2, 0.4], [0.4, 0.6], [0.6, 0.5]])
    runs = [
        make_run(cell, {"mrr": values}, system={"ranker": ranker}, settings=settings)
        for cell in cells
    ]
    config, lookup = make_config(seeds=[0, 1, 2]), index_values(runs)
    joined = join_folds(cells, "mrr", lookup)
    for frame in (joined, joined.iloc[:, :1], joined.sort_index(axis=1)):
        assert shared_seeds(frame) == pytest.approx(shared)
    sd = measure_columns(joined, "mrr", config)["sd"]
    naive = values.mean(axis=1).std(ddof=1)
    assert sd == pytest.approx(naive * np.sqrt(2 / (3 - shared)), abs=1e-6)
