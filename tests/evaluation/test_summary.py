"""The summary of runs, and how many training runs have learned."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.cells import Cell
from analogyqa.evaluation.summary import (
    NEAR,
    LearnedCount,
    count_learned,
    find_records,
    index_values,
    item_folds,
    join_folds,
    kept_epochs,
    measure_columns,
    read_learned,
    read_runs,
    shared_seeds,
    sum_learned,
    summarise_runs,
)
from analogyqa.files import write_json
from analogyqa.schemas import HISTORY, write_table
from builders.report import SYSTEMS, make_config, make_run, write_made_run

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

    def joined_folds(**facts) -> pd.DataFrame:
        of_both = {"system": {"ranker": ranker}, "settings": settings | facts}
        runs = [make_run(cell, {"mrr": values}, **of_both) for cell in cells]
        return join_folds(cells, "mrr", index_values(runs))

    config, joined = make_config(seeds=[0, 1, 2]), joined_folds()
    for frame in (joined, joined.iloc[:, :1], joined.sort_index(axis=1)):
        assert shared_seeds(frame) == pytest.approx(shared)
    sd = measure_columns(joined, "mrr", config)["sd"]
    naive = values.mean(axis=1).std(ddof=1)
    assert sd == pytest.approx(naive * np.sqrt(2 / (3 - shared)), abs=1e-6)
    # With a partition for each seed, models are in one ensemble only.
    assert shared_seeds(joined_folds(corpora=["a", "b", "c"])) == 1


FOLDS = [Cell("analogy", "wikiqa", "comb", (("fold", f"{fold}of2"),)) for fold in (1, 2)]
# Each seed tests two of four items in the first fold.
FIRST = np.array([[0.2, 0.4, np.nan, np.nan], [np.nan, 0.6, np.nan, 0.7]])
ALL = np.array([[0.2, 0.4, 0.1, 0.3], [0.1, 0.6, 0.5, 0.7]])


def test_folds_are_joined_for_each_seed():
    first = pd.DataFrame(FIRST, columns=list("abcd"))
    second = pd.DataFrame(np.where(np.isnan(FIRST), ALL, np.nan), columns=list("abcd"))
    values = dict(zip(FOLDS, (first, second[list("dcba")]), strict=True))
    joined = join_folds(FOLDS, "mrr", lambda cell, _: values.get(cell))
    pd.testing.assert_frame_equal(joined, pd.DataFrame(ALL, columns=list("abcd")))
    assert item_folds(joined).tolist() == [[0, 0, 1, 1], [1, 0, 1, 0]]
    assert item_folds(joined.loc[:, ["d", "a"]] - 1).tolist() == [[1, 0], [0, 1]]
    assert item_folds(first) is None
    assert join_folds([*FOLDS, CELL], "mrr", lambda cell, _: values.get(cell)) is None


def test_one_fold_is_summarised_over_the_questions_of_each_seed():
    columns = measure_columns(pd.DataFrame(FIRST), "mrr", make_config())
    assert columns["mean"] == pytest.approx((0.3 + 0.65) / 2)
    assert columns["sd"] == pytest.approx(0.35 / np.sqrt(2), abs=1e-6)
    assert (columns["n_seeds"], columns["n_items"]) == (2, 2)
    assert np.isnan(columns["ci_low"]) and columns["run_low"] < columns["run_high"]


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
    ("losses", "dev", "constants", "learned"),
    [
        ([[0.6, 0.4, 0.3]], [[0.1, 0.2, 0.3]], [0.5], 1),
        ([[0.6, 0.4, 0.3]], [[0.3, 0.2, 0.1]], [0.5], 0),  # a later epoch's loss was lower
        ([[0.6, 0.3, 0.7]], [[0.1, 0.3, 0.2]], [0.5], 1),
        ([[0.6, 0.4, 0.3]], [[0.2, 0.2, 0.2]], [0.5], 0),  # the first of equal epochs is kept
        ([[NEAR * 0.5 + 0.001]], [[0.1]], [0.5], 0),  # may be chance
        ([[NEAR * 0.5]], [[0.1]], [0.5], 0),
        ([[NEAR * 0.5 - 0.001]], [[0.1]], [0.5], 1),
        # Each seed is judged alone, at its own epoch.
        ([[0.4, 0.6], [0.6, 0.4]], [[0.2, 0.1], [0.1, 0.2]], [0.5, 0.5], 2),
        ([[0.4, 0.6], [0.6, 0.4]], [[0.1, 0.2], [0.1, 0.2]], [0.5, 0.5], 1),
        ([[0.1], [0.55]], [[0.1], [0.1]], [0.5, 0.5], 1),
        ([[0.5], [0.5]], [[0.1], [0.1]], [0.4, 0.7], 1),
        ([[0.3], [0.6]], [[0.1], [0.1]], [0.4, 0.7], 2),
    ],
)
def test_a_training_run_has_learned_if_its_kept_epoch_beats_the_constant(
    losses, dev, constants, learned
):
    counts = count_learned(history(losses, dev, constants), {"select_by": "map"})
    assert counts == (learned, len(losses))


def test_the_kept_epoch_does_not_depend_on_the_order_of_rows():
    frame = history([[0.6, 0.4, 0.3]] * 2, [[0.1, 0.2, 0.2], [0.3, 0.1, 0.2]], [0.5, 0.5])
    for rows in (frame, frame[::-1]):
        assert kept_epochs(rows, {"select_by": "map"}).to_dict() == {0: 2, 1: 1}
        assert kept_epochs(rows, {"select_by": "mrr"}).to_dict() == {0: 1, 1: 1}
        assert kept_epochs(rows, {"select_by": "mrr", "keeps": "last"}).to_dict() == {0: 3, 1: 3}


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
    assert read_learned(paths) == dict(zip(cells, [(1, 1), (0, 1)], strict=True))
    assert read_learned([]) == {}


FUSED = {"title": "Both", "ranker": {"name": "fused", "parts": ["analogy", "similarity"]}}


def test_counts_add_up_over_folds_and_over_the_parts_of_a_fused_system():
    config = make_config(systems=SYSTEMS | {"both": FUSED})
    folds = [Cell("both", "wikiqa", "comb", (("fold", f"{fold}of2"),)) for fold in (1, 2)]
    parts = [cell._replace(system=name) for cell in folds for name in ("analogy", "similarity")]
    numbers = [LearnedCount(number, 3) for number in (3, 1, 0, 2)]
    learned = dict(zip(parts, numbers, strict=True))
    assert sum_learned(folds, learned, config) == (6, 12)
    assert sum_learned(parts[::2], learned, config) == (3, 6)
    assert sum_learned(folds, {}, config) == (0, 0)


@given(
    st.integers(2, 8).flatmap(lambda n: st.lists(st.floats(0, 1), min_size=n, max_size=n)),
    st.data(),
)
def test_a_mean_has_a_prediction_interval_only_if_all_training_runs_learned(means, data):
    learned = data.draw(st.integers(0, len(means)))
    values = {"mrr": np.tile(np.array(means)[:, None], (1, 3))}
    counts = {CELL: LearnedCount(learned, len(means))}
    rows = summarise_runs([make_run(CELL, values)], make_config(bootstrap={"samples": 100}), counts)
    row = rows.set_index("measure").loc["mrr"]
    assert (row["n_learned"], row["n_trained"]) == (learned, len(means))
    assert row["mean"] == pytest.approx(np.mean(means), abs=1e-6)
    assert pd.notna(row["run_low"]) == pd.notna(row["run_high"]) == (learned == len(means))
