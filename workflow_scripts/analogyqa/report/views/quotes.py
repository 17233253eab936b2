"""The questions and answers that a paper prints, looked up in the data."""

import re
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.views.show import Panel, ViewContent, text_block
from analogyqa.settings.artefacts import Quote, View
from analogyqa.settings.run import Config

# `exact` says whether the printed text is in the data word for word, within a longer text, or not.
# `similarity` is that of the most similar question, or candidate of that question, which its id
# names: an archive has this table, and must have no sentences of the data. `missing` are the
# printed words that no candidate has.
QUOTES = {
    **dict.fromkeys(["example", "kind", "printed", "panel", "split"], "str"),
    **dict.fromkeys(["question_id", "candidate_id"], "str"),
    **{"label": "Int64", "exact": "str", "similarity": "float64", "missing": "str"},
}
LABELS = {"example": "Example", "kind": "", "printed": "Printed"}
COLUMNS = {
    "panel": "data",
    "split": "split",
    "question_id": "question id",
    "exact": "word for word",
    "similarity": "similarity",
    "missing": "in no candidate",
}
QUESTION, ANSWER = "question", "answer"
YES, WITHIN, NO = "yes", "within a longer text", "no"
LEFT_OUT = "[...]"
_WORD = re.compile(r"[a-z0-9]+")


def show_quotes(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Say which printed questions and answers are in the data. The data are of QUOTES."""
    if not config.comparable:
        note = "The examples of the paper are not looked up in other data."
        return ViewContent(to_frame([], QUOTES), [note])
    corpus = pd.concat([panel.table.assign(panel=panel.name) for panel in panels])
    rows = [row for quote in view.quotes for row in (look_up(quote, corpus) if len(corpus) else ())]
    frame = to_frame(rows, QUOTES)
    texts = frame.assign(similarity=[f"{at:.2f}".removeprefix("0") for at in frame["similarity"]])
    blocks = [text_block("", texts, LABELS, COLUMNS)] if rows else []
    notes = [
        "The most similar question of the data, and the most similar of its candidates. "
        "Similarity: twice the number of common words, divided by the number of words of both. "
        "Case and punctuation do not count."
    ]
    return ViewContent(frame, notes, blocks=blocks)


def look_up(quote: Quote, corpus: pd.DataFrame) -> list[dict]:
    """Return a row for the question of a quote and one for its answer: columns QUOTES.

    The corpus is of schema CORPUS with a column `panel`, of one or more data sets.
    """
    keys = ["panel", "split", "question_id"]
    question, agreement = _most_similar(quote.question, corpus.drop_duplicates(keys), "question")
    ids = {key: str(question[key]) for key in keys}
    row = {"example": quote.example, **ids}
    rows = [row | {"kind": QUESTION, "printed": quote.question} | agreement]
    candidates = corpus[(corpus[keys].astype(str) == pd.Series(ids)).all(axis=1)]
    candidate, agreement = _most_similar(quote.answer, candidates, "candidate")
    known = {word for text in candidates["candidate"] for word in split_words(text)}
    missing = [word for word in dict.fromkeys(split_words(quote.answer)) if word not in known]
    row |= {key: candidate[key] for key in ("candidate_id", "label")}
    row |= {"kind": ANSWER, "printed": quote.answer, "missing": " ".join(missing)}
    return [*rows, row | agreement]


def match(printed: str, text: str) -> tuple[str, float]:
    """Return how a printed text, which may leave out words, agrees with a text of the data.

    These are the columns `exact` and `similarity` of QUOTES. The similarity is Dice's coefficient
    of their words, each taken as often as it occurs.
    """
    words, parts = split_words(text), [split_words(part) for part in printed.split(LEFT_OUT)]
    is_equal = len(parts) == 1 and parts[0] == words
    # Words are separated by spaces, so that only whole ones are found.
    pattern = " .*".join(re.escape(f" {' '.join(part)}") for part in parts if part)
    is_within = re.search(f"{pattern} ", f" {' '.join(words)} ")
    counts = Counter(split_words(printed)), Counter(words)
    common = (counts[0] & counts[1]).total()
    similarity = 2 * common / max(counts[0].total() + counts[1].total(), 1)
    return YES if is_equal else WITHIN if is_within else NO, similarity


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def _most_similar(printed: str, rows: pd.DataFrame, column: str) -> tuple[dict, dict]:
    """Return the row whose text agrees best with a printed one, the first of several, and how."""
    matches = [match(printed, text) for text in rows[column]]
    best = max(range(len(matches)), key=lambda index: (matches[index][1], -index))
    exact, similarity = matches[best]
    return rows.iloc[best].to_dict(), {"exact": exact, "similarity": similarity}
