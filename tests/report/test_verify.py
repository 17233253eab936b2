"""The demo is compared with the scores that the repository expects."""

import numpy as np
import pandas as pd
import pytest

from analogyqa.arithmetic import AVX2
from analogyqa.cells import Cell
from analogyqa.evaluation.summary import SUMMARY, read_csv, to_frame, write_csv
from analogyqa.files import write_json
from analogyqa.report import verify
from analogyqa.report.stored import store_configuration
from analogyqa.report.verify import (
    EXPECTED,
    EXPECTED_COLUMNS,
    EXPECTED_MEASURES,
    SAMPLE,
    differences_from_expected,
    expected_values,
    is_sample,
)
from analogyqa.schemas import SCORES, write_table
from analogyqa.settings.load import read_values
from builders.report import make_record

CELL = Cell("analogy", "toy", "who")
KEY = {"system": "analogy", "dataset": "toy", "subset": "who", "overrides": "default"}


def make_demo(folder, change=0.0, mean=0.5, gaps=(), n_items=3):
    """Write the scores and the record of a run; return the summary."""
    run = folder / "runs" / CELL.path
    scores = pd.DataFrame({name: np.zeros(n_items, "int8") for name in SCORES.names})
    scores = scores.astype(dict.fromkeys(SCORES.names[1:4], str))
    scores["score"] = np.arange(n_items, dtype="float32") + np.float32(change)
    write_table(scores, SCORES, run / "scores.parquet")
    facts = {"settings": {}, "not_portable": [*gaps], "processor": "A CPU"}
    write_json(run / "run.json", make_record(CELL, **facts))
    values = KEY | {"mean": mean, "n_seeds": 2, "n_items": n_items}
    return to_frame([values | {"measure": name} for name in EXPECTED_MEASURES], SUMMARY)


@pytest.fixture
def differences(tmp_path, monkeypatch):
    """Return how a run differs from one that is expected."""
    write_csv(expected_values(make_demo(tmp_path), tmp_path), tmp_path / "expected.csv")
    monkeypatch.setattr(verify, "EXPECTED", tmp_path / "expected.csv")
    return lambda **changed: [*differences_from_expected(make_demo(tmp_path, **changed), tmp_path)]


LAST_BIT = 1e-7


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, None),
        ({"change": LAST_BIT}, "was in force on this processor, A CPU"),
        ({"change": LAST_BIT, "gaps": ["MKL_CBWR"]}, "MKL_CBWR was not 'COMPATIBLE'"),
        ({"change": LAST_BIT, "gaps": [AVX2], "mean": 0.54}, None),
        ({"change": LAST_BIT, "gaps": [AVX2], "mean": 0.56}, "no AVX2"),
        ({"n_items": 2}, "2 seeds and 2 items; expected 2 and 3"),
    ],
)
def test_scores_differ_in_their_last_bit_unless_the_processor_lacks_avx2(
    differences, changed, said
):
    texts = differences(**changed)
    assert len(texts) == (said is not None)
    assert all(said in text and text.startswith("analogy toy who default") for text in texts)


def test_a_missing_cell_is_a_difference(tmp_path, differences):
    other = make_demo(tmp_path).assign(system="other")
    write_csv(expected_values(make_demo(tmp_path), tmp_path), tmp_path / "expected.csv")
    (tmp_path / "runs" / "analogy").rename(tmp_path / "runs" / "other")
    assert [*differences_from_expected(other, tmp_path)] == ["analogy toy who default is missing"]


def test_the_expected_scores_are_those_of_distinct_cells():
    expected = read_csv(EXPECTED, EXPECTED_COLUMNS)
    assert len(expected) > 50 and not expected.duplicated([*KEY]).any()
    assert expected["scores"].str.fullmatch("[0-9a-f]{16}").all()


def test_only_changes_that_affect_scores_distinguish_a_run_from_the_sample(tmp_path):
    values, _ = read_values(SAMPLE)
    native = {"arithmetic": "native"}
    for changes, expected in (({"output_dir": "x", "device": "cpu"}, True), (native, False)):
        store_configuration(tmp_path, values | changes, {}, "make it")
        assert is_sample(tmp_path) == expected
