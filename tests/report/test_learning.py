"""A training run has learnt if its loss falls below that of a constant energy."""

import pandas as pd
import pytest

from analogyqa.plan import Cell
from analogyqa.report.learning import NEAR, has_learnt, read_learnt
from analogyqa.schemas import HISTORY, write_table


def history(*seeds: list[float], constants: tuple[float, ...] = (0.5,)) -> pd.DataFrame:
    """Return a history with the losses of each seed by epoch, and the losses of a constant."""
    constants = constants if len(constants) > 1 else constants * len(seeds)
    rows = [
        (seed, epoch, "loss", loss)
        for seed, losses in enumerate(seeds)
        for epoch, loss in enumerate(losses, 1)
    ]
    rows += [(seed, 1, "constant_loss", value) for seed, value in enumerate(constants)]
    rows += [(seed, 1, "dev_mrr", 0.1) for seed in range(len(seeds))]
    return pd.DataFrame(rows, columns=HISTORY.names)


@pytest.mark.parametrize(
    ("losses", "learnt"),
    [
        ([0.6, 0.4, 0.3], True),
        ([0.6, 0.3, 0.7], True),  # the best epoch counts
        ([0.6, 0.52, 0.5], False),
        ([0.6, NEAR * 0.5 + 0.001], False),  # may be chance
        ([0.6, NEAR * 0.5 - 0.001], True),
        ([0.3], True),
    ],
)
def test_a_run_has_learnt_if_an_epoch_beats_the_constant(losses, learnt):
    assert has_learnt(history(losses)) is learnt


@pytest.mark.parametrize(("other", "learnt"), [(0.65, False), (0.55, True)])
def test_the_mean_over_seeds_is_compared(other, learnt):
    assert has_learnt(history([0.6, 0.4], [0.6, other])) is learnt


def test_the_constant_is_the_mean_over_seeds():
    for constants, learnt in (((0.4, 0.7), True), ((0.7, 0.4), True), ((0.4, 0.55), False)):
        assert has_learnt(history([0.5], [0.5], constants=constants)) is learnt


def test_cells_of_histories_come_from_their_paths(tmp_path):
    cells = {
        Cell("analogy", "toy", "who"): [0.3],
        Cell("analogy", "toy", "who", (("fold", "1of5"), ("p", "2"))): [0.6],
    }
    paths = []
    for cell, losses in cells.items():
        paths.append(str(tmp_path / "runs" / cell.path / "history.parquet"))
        write_table(history(losses), HISTORY, paths[-1])
    assert read_learnt(paths) == dict(zip(cells, (True, False), strict=True))
    assert read_learnt([]) == {}
