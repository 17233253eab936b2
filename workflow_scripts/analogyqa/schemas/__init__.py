"""The tables between the stages: their columns, asserted on every read and write."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path

SPLITS = ("train", "dev", "test")

_id = pa.dictionary(pa.int32(), pa.string())


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind) for name, kind in columns.items()])


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
# `measure` is the loss, a measure of the dev split (dev_..), seconds or examples_per_second; of the
# first epoch also constant_loss, that of one energy for all quadruples.
HISTORY = _schema(seed=pa.int32(), epoch=pa.int32(), measure=_id, value=pa.float64())
# `item` is a question, `group` its type.
METRICS = _schema(seed=pa.int32(), split=_id, item=_id, group=_id, measure=_id, value=pa.float64())
ENTITIES = _schema(
    split=_id,
    question_id=pa.string(),
    candidate_id=pa.string(),
    entity=pa.string(),
    entity_type=_id,
)


def write_table(frame: pd.DataFrame, schema: pa.Schema, path: str | Path) -> None:
    """Write `frame` to `path` as Parquet (zstd), atomically, its columns being `schema`'s.

    Raises AnalogyQAError when a column is missing, unknown or of another type.
    """
    if set(frame.columns) != set(schema.names):
        raise AnalogyQAError(
            f"{path}: columns {sorted(frame.columns)} do not match {sorted(schema.names)}"
        )
    try:
        table = pa.Table.from_pandas(frame[schema.names], schema=schema, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise AnalogyQAError(f"{path}: {error}") from error
    with atomic_path(path) as temporary:
        # Where equal columns are cut into chunks shows in the bytes.
        table = table.replace_schema_metadata(None).combine_chunks()
        pq.write_table(table, temporary, compression="zstd")


def read_table(path: str | Path, schema: pa.Schema) -> pd.DataFrame:
    """Read a Parquet table that `write_table` wrote.

    Raises AnalogyQAError when the file is missing, damaged or of another schema.
    """
    try:
        with pq.ParquetFile(path) as file:
            found = file.schema_arrow
            if not found.equals(schema):
                raise AnalogyQAError(
                    f"{path}: columns {_describe(found)} instead of {_describe(schema)}. "
                    "Delete the file, then run the same command again to rebuild it."
                )
            return file.read().to_pandas()
    except FileNotFoundError as error:
        raise AnalogyQAError(f"{path}: no such file. Run the rule that makes it.") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise AnalogyQAError(
            f"{path}: damaged Parquet file ({error}). "
            "Delete it, then run the same command again to rebuild it."
        ) from error


def _describe(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)
