"""Schemas of the tables between stages, checked on every read and write."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path

SPLITS = ("train", "dev", "test")

_id = pa.dictionary(pa.int32(), pa.string())


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(columns)


CORPUS = _schema(
    split=_id,
    question_id=pa.string(),
    question=pa.string(),
    candidate_id=pa.string(),
    candidate=pa.string(),
    label=pa.int8(),
    question_type=_id,
)
PROTOTYPES = _schema(
    rank=pa.int32(), question_type=_id, question_id=pa.string(), candidate_id=pa.string()
)
QUADRUPLES = _schema(prototype=pa.int32(), question_id=_id, candidate_id=_id, label=pa.int8())
SCORES = _schema(
    seed=pa.int32(),
    split=_id,
    question_id=_id,
    candidate_id=_id,
    label=pa.int8(),
    score=pa.float32(),
    best_prototype=pa.int32(),
)
# `measure` is loss, a measure on dev (dev_*), seconds or examples_per_second. The first epoch also
# has constant_loss, the loss when all quadruples have the same energy.
HISTORY = _schema(seed=pa.int32(), epoch=pa.int32(), measure=_id, value=pa.float64())
# `item` is a question or sentence pair, `group` its type.
METRICS = _schema(seed=pa.int32(), split=_id, item=_id, group=_id, measure=_id, value=pa.float64())
ENTITIES = _schema(
    split=_id,
    question_id=pa.string(),
    candidate_id=pa.string(),
    entity=pa.string(),
    entity_type=_id,
)


def write_table(frame: pd.DataFrame, schema: pa.Schema, path: str | Path) -> None:
    """Write a table as Parquet (zstd), atomically.

    Raises:
        AnalogyQAError: when a column is missing, unknown or of the wrong type.
    """
    if set(frame.columns) != set(schema.names):
        raise AnalogyQAError(
            f"{path}: expected the columns {sorted(schema.names)}, not {sorted(frame.columns)}."
        )
    try:
        table = pa.Table.from_pandas(frame[schema.names], schema=schema, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise AnalogyQAError(f"{path}: {error}") from error
    with atomic_path(path) as temporary:
        # The bytes of the file depend on the chunks of a column.
        table = table.replace_schema_metadata(None).combine_chunks()
        pq.write_table(table, temporary, compression="zstd")


def read_table(path: str | Path, schema: pa.Schema) -> pd.DataFrame:
    """Read a table that `write_table` wrote.

    Raises:
        AnalogyQAError: when the file is missing, damaged or has another schema.
    """
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(schema):
                raise AnalogyQAError(
                    f"{path}: columns {_describe(file.schema_arrow)} instead of "
                    f"{_describe(schema)}. Delete the file, then run the same command again to "
                    "rebuild it."
                )
            return file.read().to_pandas()
    except FileNotFoundError as error:
        raise AnalogyQAError(f"{path}: no such file. Run the rule that creates it.") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise AnalogyQAError(
            f"{path}: damaged Parquet file ({error}). "
            "Delete it, then run the same command again to rebuild it."
        ) from error


def _describe(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)
