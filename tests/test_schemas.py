"""The tables between the stages keep their columns."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import (
    CORPUS,
    ENTITIES,
    HISTORY,
    METRICS,
    PROTOTYPES,
    QUADRUPLES,
    SCORES,
    read_table,
    write_table,
)

SCHEMAS = [CORPUS, PROTOTYPES, QUADRUPLES, SCORES, HISTORY, METRICS, ENTITIES]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_tables_round_trip(schema, tmp_path):
    values = {"string": ["a", "é"], "int": [0, 1], "float": [0.5, -1.0], "double": [0.5, -1.0]}
    values["dictionary"] = values["string"]
    frame = pd.DataFrame(
        {
            field.name: next(values[name] for name in values if str(field.type).startswith(name))
            for field in schema
        }
    )
    write_table(frame, schema, tmp_path / "table.parquet")
    read = read_table(tmp_path / "table.parquet", schema)
    assert read.astype(object).to_dict("list") == frame.to_dict("list")
    write_table(frame[frame.columns[::-1]], schema, tmp_path / "reversed.parquet")
    assert (tmp_path / "reversed.parquet").read_bytes() == (tmp_path / "table.parquet").read_bytes()


def test_missing_types_round_trip(corpus, tmp_path):
    write_table(corpus, CORPUS, tmp_path / "corpus.parquet")
    read = read_table(tmp_path / "corpus.parquet", CORPUS)
    pd.testing.assert_series_equal(read["question_type"].isna(), corpus["question_type"].isna())
    assert read["question_type"].isna().any()
    parts = pd.concat([corpus[:7], corpus[7:]])  # as a table that was put together
    write_table(parts, CORPUS, tmp_path / "parts.parquet")
    assert (tmp_path / "parts.parquet").read_bytes() == (tmp_path / "corpus.parquet").read_bytes()


ROW = {"rank": 0, "question_type": "who", "question_id": "q1", "candidate_id": "q1-0"}
PROTOTYPE_ROWS = pd.DataFrame([ROW, {**ROW, "rank": 1}])


@pytest.mark.parametrize(
    "frame",
    [
        PROTOTYPE_ROWS.drop(columns="rank"),
        PROTOTYPE_ROWS.assign(extra=1),
        *(PROTOTYPE_ROWS.assign(rank=value) for value in ("first", 0.5, 2**40)),
    ],
    ids=["missing column", "extra column", "text for a number", "fraction", "too large"],
)
def test_a_table_with_another_schema_is_not_written(frame, tmp_path):
    with pytest.raises(AnalogyQAError, match=r"table\.parquet"):
        write_table(frame, PROTOTYPES, tmp_path / "table.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop_columns(["rank"]),
        lambda table: table.append_column("extra", pa.array([1, 2])),
        lambda table: table.set_column(0, "rank", pa.array([0, 1], pa.int64())),
    ],
    ids=["missing column", "extra column", "another type"],
)
def test_a_table_with_another_schema_is_not_read(change, tmp_path):
    path = tmp_path / "table.parquet"
    write_table(PROTOTYPE_ROWS, PROTOTYPES, path)
    pq.write_table(change(pq.read_table(path)), path)
    with pytest.raises(AnalogyQAError, match=r"table\.parquet: columns .* Delete it"):
        read_table(path, PROTOTYPES)
