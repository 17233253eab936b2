"""Schema of what decided a ranking by analogy. Training does not import this module."""

import pyarrow as pa

from analogyqa.schemas import _id, _schema

# The candidate that each seed ranks first for a test question, and the prototype that gave it its
# score. `correct` is the correct candidate that is ranked best. `margin` is the best score of a
# correct candidate minus that of a wrong one, null if there is no wrong one.
DECISIONS = _schema(
    seed=pa.int32(),
    question_type=_id,
    question_id=pa.string(),
    question=pa.string(),
    candidate_id=pa.string(),
    candidate=pa.string(),
    label=pa.int8(),
    correct=pa.string(),
    margin=pa.float64(),
    prototype_question_id=pa.string(),
    prototype_candidate_id=pa.string(),
    prototype_question=pa.string(),
    prototype_candidate=pa.string(),
)
