"""A corpus from a pandas data frame, and the bundled sample as one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analogyqa.corpora.questions import classify_question, normalise_texts
from analogyqa.corpora.tabular import read_wikiqa
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.schemas import CORPUS, SPLITS
from analogyqa.text import require_text

FRAME = "the data frame"  # in messages
TEXTS = ("question", "candidate")
EVERY = 10  # a split that is missing gets every tenth training question of each type
_LIBRARY = Path(__file__).parents[1]
# A wheel has the files below the library.
_SAMPLE = _LIBRARY.parents[1] / "sample" / "wikiqa", _LIBRARY / "sample"


def load_sample() -> pd.DataFrame:
    """Return the bundled sample of 360 questions as a data frame for `corpus_from_frame`.

    Its sentences are invented; see sample/README.md.
    """
    folder = next(folder for folder in _SAMPLE if folder.is_dir())
    tables = {split: pd.DataFrame(read_wikiqa(folder / f"WikiQA-{split}.tsv")) for split in SPLITS}
    frame = pd.concat(tables, names=["split"]).reset_index("split").reset_index(drop=True)
    return frame[["split", "question_id", *TEXTS, "label"]]


def corpus_from_frame(
    frame: pd.DataFrame, question_types: Mapping[str, Sequence[str]], split: str = "train"
) -> pd.DataFrame:
    """Return a data frame of questions and their candidates as a table of schema CORPUS.

    Args:
        frame: A row for each candidate, with these columns; others are ignored.
            `question` and `candidate`: texts.
            `label`: 1 or True for a right candidate, 0 or False for a wrong one.
            `split`: train, dev or test; optional.
            `question_id`: Optional; without it, questions are distinguished by their texts.
            `candidate_id`: Unique within a split; optional.
        question_types: The first words of each question type.
        split: The split of all rows if there is no such column.

    Raises AnalogyQAError for a missing column, an unknown split, a candidate without a text or a
    label, and for an id that two texts share.
    """
    require_columns(frame, (*TEXTS, "label"))
    table = frame.reset_index(drop=True)
    for column in TEXTS:
        for row, text in table[column].items():
            require_sentence(text, f"{FRAME}, row {row}: the {column}")
    if "split" not in table:
        table = table.assign(split=split)
    for column, allowed in (("label", (0, 1)), ("split", SPLITS)):
        wrong = table.index[~table[column].isin(allowed)]
        if len(wrong):
            value, names = table.loc[wrong[0], column], " or ".join(map(str, allowed))
            raise AnalogyQAError(f"{FRAME}, row {wrong[0]}: the {column} is {value}, not {names}")
    if "question_id" not in table:
        table = table.assign(question_id=_numbered("q", table["question"]))
    table = table.astype({"question_id": str, "split": str, "label": "int8"})
    # All candidates of a question together, where its first one is.
    of_split = table["split"].map(SPLITS.index)
    places = table.groupby(["split", "question_id"], sort=False).ngroup()
    table = table.iloc[np.lexsort((places, of_split))].reset_index(drop=True)
    questions = table.groupby(["split", "question_id"], sort=False)
    if "candidate_id" not in table:
        ids = table["question_id"] + "-" + questions.cumcount().astype(str)
        table = table.assign(candidate_id=ids)
    table = table.astype({"candidate_id": str})
    for column, is_wrong in {
        "question_id": table["question"] != questions["question"].transform("first"),
        "candidate_id": table.duplicated(["split", "candidate_id"]),
    }.items():
        if is_wrong.any():
            value = table.loc[is_wrong.idxmax(), column]
            raise AnalogyQAError(f"{FRAME}: two texts share the {column} {shown(value)}")
    is_answerable = questions["label"].transform("any")
    types = [
        classify_question(question, question_types) if answerable else None
        for question, answerable in zip(table["question"], is_answerable, strict=True)
    ]
    return table.assign(question_type=types)[CORPUS.names]


def with_all_splits(corpus: pd.DataFrame) -> pd.DataFrame:
    """Give a missing dev or test split every tenth training question of each type.

    Copies of a question stay together, and the same questions are drawn in each call. A type with
    a single question keeps it in train.

    Args:
        corpus: A table of schema CORPUS.
    """
    for split in SPLITS[1:]:
        if split in set(corpus["split"]):
            continue
        texts, is_train = normalise_texts(corpus["question"]), corpus["split"] == "train"
        answerable = corpus[is_train & (corpus["label"] == 1)].assign(text=texts)
        questions = answerable.drop_duplicates("text").sample(frac=1, random_state=0)
        types = questions["question_type"].fillna("")
        moved = questions["text"][types.groupby(types).cumcount() % EVERY == 1]
        corpus = corpus.assign(split=corpus["split"].mask(is_train & texts.isin(moved), split))
    return corpus


def require_columns(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Raise AnalogyQAError when a data frame lacks one of some columns, or has no rows."""
    if missing := [column for column in columns if column not in frame]:
        raise AnalogyQAError(
            f"{FRAME} has no column {' and no column '.join(missing)}, but {shown([*frame])}. "
            "Rename the right ones: frame.rename(columns={...})"
        )
    if not len(frame):
        raise AnalogyQAError(f"{FRAME} has no rows")


def require_sentence(text: object, name: str) -> None:
    """Raise AnalogyQAError, which starts with a name, for anything but a text with characters."""
    if not isinstance(text, str):
        raise AnalogyQAError(f"{name} is {shown(text)}, which is not a text")
    if not text.strip():
        raise AnalogyQAError(f"{name} is empty. Leave out empty texts")
    try:
        require_text(text)
    except ValueError as error:  # such as bytes that a terminal could not decode
        raise AnalogyQAError(f"{name} {shown(text)} is no valid text ({error})") from error


def _numbered(prefix: str, values: pd.Series) -> pd.Series:
    """Return a name for each value: the prefix, and its number from 1 in order of appearance."""
    return prefix + (pd.Series(pd.factorize(values)[0], values.index) + 1).astype(str)
