"""Every CSV file is read as it was written."""

import pandas as pd
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.claims import CLAIMS, COMPARISONS, judge_claims
from analogyqa.evaluation.published import FRAME, LEDGER
from analogyqa.evaluation.summary import SUMMARY, read_csv, write_csv
from builders.report import CONFERENCE, make_config, make_summary
from evaluation import test_claims
from report import test_tables

CONFIG = make_config()


def claims() -> tuple[pd.DataFrame, pd.DataFrame]:
    unknown = test_claims.make_claim(test_claims.compare("nobody", "glove"))
    paper = test_claims.make_paper(one=test_claims.UNTRAINED, two=unknown)
    return judge_claims([paper], CONFIG, test_claims.lookup(glove=0.6, word2vec=0.5), {})


@pytest.mark.parametrize(
    ("frame", "columns"),
    [
        # The text "NA" stays a text; a missing number is missing.
        (lambda: make_summary(CONFIG, CONFERENCE, provenance="NA", sd=float("nan")), SUMMARY),
        (lambda: claims()[0], CLAIMS),
        (lambda: claims()[1], COMPARISONS),
        (lambda: test_tables.make_table("table4").frame, FRAME),
    ],
    ids=["summary", "claims", "comparisons", "table"],
)
def test_frames_survive_a_round_trip_and_give_equal_bytes(tmp_path, frame, columns):
    for name in ("a.csv", "b.csv"):
        write_csv(frame(), tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    pd.testing.assert_frame_equal(read_csv(tmp_path / "a.csv", columns), frame())


def test_a_missing_file_and_a_file_with_other_columns_are_named(tmp_path):
    write_csv(make_summary(CONFIG, CONFERENCE), tmp_path / "summary.csv")
    with pytest.raises(AnalogyQAError, match=r"summary\.csv: .*columns"):
        read_csv(tmp_path / "summary.csv", LEDGER)
    with pytest.raises(AnalogyQAError, match=r"none\.csv"):
        read_csv(tmp_path / "none.csv", LEDGER)
