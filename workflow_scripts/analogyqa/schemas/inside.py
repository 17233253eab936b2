"""Schema of the vectors inside a trained system. Training does not import this module."""

import pyarrow as pa

from analogyqa.schemas import _id, _schema

# The encoder's output on the test split. `kind` is question, candidate or word. `label` is that of
# a candidate, or -1. `words` are those the encoder read. `norm` is that of the vector before a
# ranker changes it. A word has no vector.
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
