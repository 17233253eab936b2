"""A training run has learnt if the loss of its kept epoch is below that of a constant energy."""

import numpy as np
import pandas as pd
import pytest

from analogyqa.cells import Cell
from analogyqa.evaluation.summary import (
    NEAR,
    has_cell_learnt,
    has_learnt,
    kept_epochs,
    read_learnt,
)
from analogyqa.files import write_json
from analogyqa.schemas import HISTORY, write_table
from builders.report import SYSTEMS, make_config, make_run


def history(
    losses: list[list[float]], dev: list[list[float]], constants: list[float]
) -> pd.DataFrame:
    """Return a history with the loss and the dev MAP of each seed by epoch; the MRR falls."""
    rows = []
    for seed, curves in enumerate(zip(losses, dev, strict=True)):
        for epoch, (loss, value) in enumerate(zip(*curves, strict=True), 1):
            rows += [(seed, epoch, "loss", loss), (seed, epoch, "dev_mrr", -epoch)]
            rows.append((seed, epoch, "dev_map", value))
    rows += [(seed, 1, "constant_loss", value) for seed, value in enumerate(constants)]
    return pd.DataFrame(rows, columns=HISTORY.names).astype({"value": "float64"})


@pytest.mark.parametrize(
    ("losses", "dev", "constants", "learnt"),
    [
        ([[0.6, 0.4, 0.3]], [[0.1, 0.2, 0.3]], [0.5], True),
        ([[0.6, 0.4, 0.3]], [[0.3, 0.2, 0.1]], [0.5], False),  # a later epoch's loss was lower
        ([[0.6, 0.3, 0.7]], [[0.1, 0.3, 0.2]], [0.5], True),
        ([[0.6, 0.4, 0.3]], [[0.2, 0.2, 0.2]], [0.5], False),  # the first of equal epochs is kept
        ([[NEAR * 0.5 + 0.001]], [[0.1]], [0.5], False),  # may be chance
        ([[NEAR * 0.5]], [[0.1]], [0.5], False),
        ([[NEAR * 0.5 - 0.001]], [[0.1]], [0.5], True),
        # Each seed is judged alone, at its own epoch.
        ([[0.4, 0.6], [0.6, 0.4]], [[0.2, 0.1], [0.1, 0.2]], [0.5, 0.5], True),
        ([[0.4, 0.6], [0.6, 0.4]], [[0.1, 0.2], [0.1, 0.2]], [0.5, 0.5], False),
        ([[0.1], [0.55]], [[0.1], [0.1]], [0.5, 0.5], False),
        ([[0.5], [0.5]], [[0.1], [0.1]], [0.4, 0.7], False),
        ([[0.3], [0.6]], [[0.1], [0.1]], [0.4, 0.7], True),
    ],
)
def test_a_cell_has_learnt_if_the_kept_epoch_of_every_seed_beats_the_constant(
    losses, dev, constants, learnt
):
    assert has_learnt(history(losses, dev, constants), "map") is learnt


def test_the_kept_epoch_does_not_depend_on_the_order_of_rows():
    frame = history([[0.6, 0.4, 0.3]] * 2, [[0.1, 0.2, 0.2], [0.3, 0.1, 0.2]], [0.5, 0.5])
    for rows in (frame, frame[::-1]):
        assert kept_epochs(rows, "map").to_dict() == {0: 2, 1: 1}
        assert kept_epochs(rows, "mrr").to_dict() == {0: 1, 1: 1}


def test_a_history_is_judged_by_the_measure_that_its_record_selects_by(tmp_path):
    cells = {
        Cell("analogy", "toy", "who"): "map",
        Cell("analogy", "toy", "who", (("fold", "1of5"), ("p", "2"))): "mrr",
    }
    paths = []
    for cell, select_by in cells.items():
        folder = tmp_path / "runs" / cell.path
        record, _ = make_run(cell, {"mrr": np.zeros((1, 1))}, training={"select_by": select_by})
        write_json(folder / "run.json", record)
        paths.append(str(folder / "history.parquet"))
        write_table(history([[0.6, 0.3]], [[0.1, 0.2]], [0.5]), HISTORY, paths[-1])
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
