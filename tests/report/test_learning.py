"""A training run has learnt when its loss comes below that of one energy for all quadruples."""

import pandas as pd
import pytest

from analogyqa.plan import Cell
from analogyqa.report.learning import NEAR, has_learnt, learnt_of
from analogyqa.schemas import HISTORY, write_table


def history(*seeds: list[float], constants: tuple[float, ...] = (0.5,)) -> pd.DataFrame:
    """The losses of each seed, epoch by epoch, and the loss of a constant, one for all seeds."""
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
        ([0.6, NEAR * 0.5 + 0.001], False),  # so little is chance
        ([0.6, NEAR * 0.5 - 0.001], True),
        ([0.3], True),
    ],
)
def test_a_training_has_learnt_when_an_epoch_beats_every_constant(losses, learnt):
    assert has_learnt(history(losses)) is learnt


@pytest.mark.parametrize(("other", "learnt"), [(0.65, False), (0.55, True)])
def test_the_mean_over_seeds_counts(other, learnt):
    assert has_learnt(history([0.6, 0.4], [0.6, other])) is learnt


def test_each_seed_has_a_constant_of_its_own():
    for constants, learnt in (((0.4, 0.7), True), ((0.7, 0.4), True), ((0.4, 0.55), False)):
        assert has_learnt(history([0.5], [0.5], constants=constants)) is learnt


def test_the_histories_of_cells_are_told_by_their_paths(tmp_path):
    cells = {
        Cell("analogy", "toy", "who"): [0.3],
        Cell("analogy", "toy", "who", (("fold", "1of5"), ("p", "2"))): [0.6],
    }
    paths = []
    for cell, losses in cells.items():
        paths.append(str(tmp_path / "runs" / cell.path / "history.parquet"))
        write_table(history(losses), HISTORY, paths[-1])
    assert learnt_of(paths) == dict(zip(cells, (True, False), strict=True))
    assert learnt_of([]) == {}
