"""The table of what is inside a trained system, which no training reads."""

import pyarrow as pa

from analogyqa.schemas import _id, _schema

# What a trained encoder makes of the test split. `kind` is question, candidate or word; `label` is
# of a candidate, else -1; `words` are what the encoder read; a word has no vector. `norm` is of the
# vector before a ranker changes it.
INSIDE = _schema(
    kind=_id,
    id=pa.string(),
    question_id=pa.string(),
    label=pa.int8(),
    text=pa.string(),
    words=pa.list_(pa.string()),
    norm=pa.float64(),
    vector=pa.list_(pa.float32()),
)
