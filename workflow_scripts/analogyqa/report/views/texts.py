"""Questions and answers: the decisions of prototypes, and the examples that a paper prints."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.explained import EXAMPLES, clearest_decisions
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.views.show import Panel, ViewContent, text_block
from analogyqa.settings.artefacts import Quote, View
from analogyqa.settings.run import Config

# A row for each prototype that decides. `seeds` is the number of seeds in which it decides;
# `decisions` and `right` are totals over seeds.
DECIDING = dict.fromkeys(["panel", "question_type", "question_id", "candidate_id"], "str")
DECIDING |= dict.fromkeys(["seeds", "decisions", "right"], "Int64")
SHOWN = 5  # prototypes of each question type, those that decide most often
DECIDED = {
    **dict.fromkeys(["panel", "answered", "question_id", "question", "candidate"], "str"),
    **{"correct": "str", "margin": "float64"},
    **dict.fromkeys(["prototype_question", "prototype_candidate"], "str"),
}
COLUMNS = {
    "candidate": "Chosen answer",
    "correct": "Correct answer",
    "prototype_question": "Question of the prototype",
    "prototype_candidate": "Answer of the prototype",
    "margin": "Margin",
}


def show_deciding(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Count the decisions of each prototype: a block for each panel, columns DECIDING."""
    frames = [count_decisions(panel.table).assign(panel=panel.name) for panel in panels]
    frame = to_frame(pd.concat(frames).to_dict("records"), DECIDING)
    columns = ["seeds", "decides", "right", "share right"]
    blocks = [
        Block(str(name), ["Type", "Prototype"], columns, list(_deciding_lines(part)))
        for name, part in frame.groupby("panel", sort=False)
    ]
    # The coordinates of each panel, in the same order.
    coordinates = zip(panels, view.coordinates().values(), strict=True)
    counts = {
        config.system_at(at.system, at.overrides).p for panel, at in coordinates if not panel.reason
    }
    notes = [
        "A prototype decides a question if the candidate that is ranked first has its score from "
        "it, and is right if that candidate is correct. Decisions are summed over seeds.",
        f"A prototype is named by the ids of its training question and of the answer. For "
        f"each type, the {SHOWN} that decide most often; the csv has all that ever decide.",
    ]
    if counts:
        text = " or ".join(map(str, sorted(counts)))
        notes.insert(0, f"Prototypes of each type and seed: {text}.")
    return ViewContent(frame, notes, blocks=blocks)


def count_decisions(decisions: pd.DataFrame) -> pd.DataFrame:
    """Count the decisions of each prototype in a table DECISIONS, the most frequent first."""
    keys = ["question_type", "prototype_question_id", "prototype_candidate_id"]
    groups = decisions.astype({"question_type": str}).groupby(keys)
    counts = groups.agg(
        seeds=("seed", "nunique"), decisions=("seed", "size"), right=("label", "sum")
    ).reset_index()
    order = ["question_type", "decisions", *keys[1:]]
    counts = counts.sort_values(order, ascending=[True, False, True, True])
    return counts.rename(columns=lambda name: name.removeprefix("prototype_"))


def _deciding_lines(frame: pd.DataFrame) -> Iterator[tuple[list[str], list[Value]]]:
    """Yield the most frequent prototypes of each type, the others together, and all."""
    for question_type, part in frame.groupby("question_type", sort=False):
        groups = [
            (f"{row['question_id']}, {row['candidate_id']}", str(row["seeds"]), part.loc[[index]])
            for index, row in part.head(SHOWN).iterrows()
        ]
        if len(others := part.iloc[SHOWN:]):
            groups.append((f"{len(others)} other{'s' * (len(others) > 1)}", "", others))
        groups.append((f"all {len(part)} that decide", "", part))
        for name, seeds, counts in groups:
            decisions, right = counts["decisions"].sum(), counts["right"].sum()
            share = f"{right / decisions:.2f}".removeprefix("0")
            texts = seeds, str(decisions), str(right), share
            yield [str(question_type), name], list(map(Value, texts))


def show_decided(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Show the clearest answers of the first seed, correct and incorrect: columns DECIDED."""
    frames = [clearest_decisions(panel.table).assign(panel=panel.name) for panel in panels]
    frame = to_frame(pd.concat(frames).to_dict("records"), DECIDED)
    texts = frame.assign(margin=frame["margin"].map("{:+.3f}".format))
    blocks = [
        text_block(f"{panel}: answered {answered}", part, {"question": "Question"}, COLUMNS)
        for (panel, answered), part in texts.groupby(["panel", "answered"], sort=False)
    ]
    notes = [
        "Do not publish this table: it contains sentences of the data.",
        f"The first seed. The {EXAMPLES} questions with the largest and with the smallest margin: "
        "the best score of a correct answer minus that of a wrong one. If several answers are "
        "correct, the best ranked one is shown.",
    ]
    return ViewContent(frame, notes, blocks=blocks)


# `exact` says whether the printed text is in the data word for word, within a longer text, or not.
# `similarity` is that of the most similar question, or candidate of that question, which its id
# names: an archive has this table, and must have no sentences of the data. `missing` are the
# printed words that no candidate has.
QUOTES = {
    **dict.fromkeys(["example", "kind", "printed", "panel", "split"], "str"),
    **dict.fromkeys(["question_id", "candidate_id"], "str"),
    **{"label": "Int64", "exact": "str", "similarity": "float64", "missing": "str"},
}
QUOTE_LABELS = {"example": "Example", "kind": "", "printed": "Printed"}
QUOTE_COLUMNS = {
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
WORD = re.compile(r"[a-z0-9]+")


def show_quotes(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Say which printed questions and answers are in the data: columns QUOTES."""
    if not config.comparable:
        note = "The examples of the paper are not looked up in other data."
        return ViewContent(to_frame([], QUOTES), [note])
    corpus = pd.concat([panel.table.assign(panel=panel.name) for panel in panels])
    rows = [row for quote in view.quotes for row in (look_up(quote, corpus) if len(corpus) else ())]
    frame = to_frame(rows, QUOTES)
    texts = frame.assign(similarity=[f"{at:.2f}".removeprefix("0") for at in frame["similarity"]])
    blocks = [text_block("", texts, QUOTE_LABELS, QUOTE_COLUMNS)] if rows else []
    notes = [
        "The most similar question of the data, and the most similar of its candidates. "
        "Similarity: twice the number of common words, divided by the number of words of both. "
        "Case and punctuation do not count."
    ]
    return ViewContent(frame, notes, blocks=blocks)


def look_up(quote: Quote, corpus: pd.DataFrame) -> list[dict]:
    """Return a row for the question of a quote and one for its answer: columns QUOTES.

    The corpus has the schema CORPUS and a column `panel`, for one or more data sets.
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
    return WORD.findall(text.lower())


def _most_similar(printed: str, rows: pd.DataFrame, column: str) -> tuple[dict, dict]:
    """Return the row whose text agrees best with a printed one, the first of several, and how."""
    matches = [match(printed, text) for text in rows[column]]
    best = max(range(len(matches)), key=lambda index: (matches[index][1], -index))
    exact, similarity = matches[best]
    return rows.iloc[best].to_dict(), {"exact": exact, "similarity": similarity}
