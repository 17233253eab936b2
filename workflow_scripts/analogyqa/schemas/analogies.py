"""The table of a category of sentence analogies, which no training reads."""

import pyarrow as pa

from analogyqa.schemas import _id, _schema

# A pair of sentences of a relation. `source` is the file that it was made of, `rule` what made it;
# `distractors` are in the order of the registry, or none.
ANALOGIES = _schema(
    pair_id=pa.string(),
    first=pa.string(),
    second=pa.string(),
    source=_id,
    rule=_id,
    distractors=pa.list_(pa.string()),
)
