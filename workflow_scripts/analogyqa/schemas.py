"""Schemas of the tables between stages, checked on every read and write, and of explanations."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, TypeAdapter

from analogyqa.errors import REBUILD, AnalogyQAError, explain_damage
from analogyqa.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def write_table(frame: pd.DataFrame, schema: pa.Schema, path: str | Path) -> None:
    """Write a table as Parquet (zstd), atomically.

    Raises AnalogyQAError when a column is missing, unknown or of the wrong type.
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

    Raises AnalogyQAError when the file is missing, damaged or has another schema.
    """
    with explain_damage(path, "damaged Parquet file"), pq.ParquetFile(path) as file:
        if not file.schema_arrow.equals(schema):
            found, expected = (
                ", ".join(f"{field.name}: {field.type}" for field in fields)
                for fields in (file.schema_arrow, schema)
            )
            raise AnalogyQAError(f"{path}: columns {found} instead of {expected}. {REBUILD}")
        return file.read().to_pandas()


# Words of a sentence, each with the share of the dimensions of the sentence vector that it won when
# the encoder took the maximum over the words, the largest share first.
WordShares = list[tuple[str, float]]
Point = tuple[float, float]


class Shifts(BaseModel):
    """The shifts, question minus answer, on their first two principal components.

    The points have the order of the candidates and prototypes. `shares` are the shares of the
    variance of all shifts on the two components.
    """

    candidates: list[Point]
    prototypes: list[Point]
    shares: Point


class Prototype(BaseModel):
    """A prototype of the question's type."""

    question: str
    answer: str
    question_words: WordShares
    answer_words: WordShares


class Candidate(BaseModel):
    """A ranked candidate.

    `label` is null for a new text, and `unknown` are its words without a vector, which are ignored.
    `unread` is how many tokens of the question and the candidate are too many for the encoder.
    `matches` are the words of the question, each with the most similar word of the candidate and
    their cosine, for a ranker that adds these up. `nearest` are the numbers of the most similar
    prototypes, each with the score that it alone would give. `decided_by` is the one whose score
    the candidate has; null if the score depends on several.
    """

    candidate_id: str
    candidate: str
    label: int | None
    score: float
    unknown: str = ""
    unread: int = 0
    words: WordShares
    matches: list[tuple[str, str, float]]
    nearest: list[tuple[int, float]] = []
    decided_by: int | None = None


class Explanation(BaseModel):
    """How a run ranked the candidates of a question, the best first.

    Without prototypes, there are no shifts.
    """

    run: str
    seed: int
    question_id: str
    question: str
    words: WordShares
    candidates: list[Candidate]
    prototypes: list[Prototype] = []
    shifts: Shifts | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each candidate, the best first; the index is its rank, from 1.

        The columns are candidate, label, score, unknown and words, those that won most dimensions.
        If the system compares with prototypes, there are also prototype_question and
        prototype_answer, those of the prototype that decides, and letter, its letter in the plot.
        """
        return _report().explanation_frame(self)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the shifts of the candidates and the prototypes; return the axes.

        Args:
            ax: The axes of matplotlib to draw into; None for a new figure of pyplot.

        Raises AnalogyQAError for a system that does not compare with prototypes.
        """
        return _report().plot_explanation(self, ax)


def _report() -> Any:
    """Return the module that shows explanations.

    It is imported by its name, as plug-ins are: what a job computes does not depend on how it is
    drawn (runs/depends_on.py).
    """
    return import_module("analogyqa.report.explained")


EXPLANATIONS = TypeAdapter(list[Explanation])
