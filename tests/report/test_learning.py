"""A training run has learnt if its loss falls below that of a constant energy."""

import pandas as pd
import pytest

from analogyqa.plan import Cell
from analogyqa.report.learning import NEAR, has_cell_learnt, has_learnt, read_learnt
from analogyqa.schemas import HISTORY, write_table
from report.builders import SYSTEMS, make_config


def history(seeds: list[list[float]], constants: list[float]) -> pd.DataFrame:
    """Return a history with the losses of each seed by epoch, and the losses of a constant."""
    rows = [
        (seed, epoch, "loss", loss)
        for seed, losses in enumerate(seeds)
        for epoch, loss in enumerate(losses, 1)
    ]
    rows += [(seed, 1, "constant_loss", value) for seed, value in enumerate(constants)]
    rows += [(seed, 1, "dev_mrr", 0.1) for seed in range(len(seeds))]
    return pd.DataFrame(rows, columns=HISTORY.names)


@pytest.mark.parametrize(
    ("seeds", "constants", "learnt"),
    [
        ([[0.6, 0.4, 0.3]], [0.5], True),
        ([[0.6, 0.3, 0.7]], [0.5], True),  # the best epoch counts
        ([[0.6, 0.52, 0.5]], [0.5], False),
        ([[0.6, NEAR * 0.5 + 0.001]], [0.5], False),  # may be chance
        ([[0.6, NEAR * 0.5 - 0.001]], [0.5], True),
        ([[0.3]], [0.5], True),
        # The means over seeds are compared.
        ([[0.6, 0.4], [0.6, 0.65]], [0.5, 0.5], False),
        ([[0.6, 0.4], [0.6, 0.55]], [0.5, 0.5], True),
        ([[0.5], [0.5]], [0.4, 0.7], True),
        ([[0.5], [0.5]], [0.7, 0.4], True),
        ([[0.5], [0.5]], [0.4, 0.55], False),
    ],
)
def test_a_run_has_learnt_if_an_epoch_beats_the_constant(seeds, constants, learnt):
    assert has_learnt(history(seeds, constants)) is learnt


def test_the_cell_of_a_history_comes_from_its_path(tmp_path):
    cells = {
        Cell("analogy", "toy", "who"): [0.3],
        Cell("analogy", "toy", "who", (("fold", "1of5"), ("p", "2"))): [0.6],
    }
    paths = []
    for cell, losses in cells.items():
        paths.append(str(tmp_path / "runs" / cell.path / "history.parquet"))
        write_table(history([losses], [0.5]), HISTORY, paths[-1])
    assert read_learnt(paths) == dict(zip(cells, (True, False), strict=True))
    assert read_learnt([]) == {}


def test_a_fused_cell_has_learnt_if_all_of_its_parts_have():
    ranker = {"name": "fused", "parts": ["analogy", "similarity"]}
    config = make_config(systems=SYSTEMS | {"both": {"title": "Both", "ranker": ranker}})
    analogy, similarity, fused = (
        Cell(system, "wikiqa", "comb") for system in ("analogy", "similarity", "both")
    )
    assert has_cell_learnt(fused, {}, config) is None
    assert has_cell_learnt(fused, {analogy: True, similarity: True}, config) is True
    assert has_cell_learnt(fused, {analogy: False, similarity: True}, config) is False
