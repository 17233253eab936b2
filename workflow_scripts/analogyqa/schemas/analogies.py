"""Schema of the sentence pairs of a category. Training does not import this module."""

import pyarrow as pa

from analogyqa.schemas import _id, _schema

# `source` is the file that a pair was made from, `rule` the rule that made it. `distractors` are in
# the order of the registry, or empty.
ANALOGIES = _schema(
    pair_id=pa.string(),
    first=pa.string(),
    second=pa.string(),
    source=_id,
    rule=_id,
    distractors=pa.list_(pa.string()),
)
