"""The words of sentences by the level of their norms (Tables 8 and 9 of HyperQA)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.views.show import Panel, ViewContent
from analogyqa.settings.artefacts import Example, View
from analogyqa.settings.run import Config

WORDS = {
    **dict.fromkeys(["panel", "level"], "str"),
    **dict.fromkeys(["low", "high"], "float64"),
    "n_words": "Int64",
    **dict.fromkeys(["words", "published"], "str"),
}
LEVELS = 6  # where none are printed
MOST_OF_LEVEL = 10  # words of a level
TOP = 0.99  # a few outliers above would leave most levels empty

WORD_LEVELS = dict.fromkeys(
    ["panel", "question_id", "candidate_id", "sentence", "level", "words", "published"], "str"
)
QUESTION, ANSWER = "Q", "A"
MOST_OF_SENTENCE = 8  # words of a level
NO_WORDS = "-"  # as the paper prints a level without words


def show_words(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """List words by level of norm; the data are of columns WORDS, a row for each level."""
    printed = view.levels or {str(level + 1): "" for level in range(LEVELS)}
    rows = [row for panel in panels if panel.word_norms for row in _levels(panel, printed)]
    frame, blocks = to_frame(rows, WORDS), []
    columns = ["How many", "Most frequent in the test split", "Published"]
    for panel, part in frame.groupby("panel", sort=False):
        lines = [
            (
                [row["level"], f"{row['low']:.3g} to {row['high']:.3g}"],
                [Value(str(row["n_words"])), Value(row["words"]), Value(row["published"])],
            )
            for row in part.to_dict("records")
        ]
        heading = str(panel) if len(panels) > 1 else ""
        blocks.append(Block(heading, ["Level", "Norm"], columns, lines, wrapped=True))
    notes = [
        "Level: as published, where it is a range of the paper's norms. Ours have another scale: "
        f"the levels are {len(printed)} equal parts of what lies between the smallest norm and "
        f"the {TOP * 100:g}th percentile; the highest level also has all norms above it.",
        "A word's norm is that of its projection. Words of the test split with a letter or a "
        f"digit, the {MOST_OF_LEVEL} most frequent of each level.",
        *(note for panel in panels for note in _agreement(panel, view.levels)),
    ]
    return ViewContent(frame, notes, blocks=blocks)


def _levels(panel: Panel, printed: Mapping[str, str]) -> Iterator[dict]:
    """Yield a row of WORDS for each level."""
    norms = pd.Series(panel.word_norms)
    sentences = panel.table[panel.table["kind"] != "word"].drop_duplicates("text")
    counts = Counter(word for words in sentences["words"] for word in words)
    edges = np.linspace(norms.min(), np.quantile(norms, TOP), len(printed) + 1)
    # The inner edges only: what is above the last level belongs to it.
    level_of = np.searchsorted(edges[1:-1], norms, side="right")
    edges[-1] = norms.max()
    for number, (level, words) in enumerate(printed.items()):
        level_words = sorted(
            norms.index[level_of == number], key=lambda word: (-counts[word], word)
        )
        yield {
            "panel": panel.name,
            "level": level,
            "low": edges[number],
            "high": edges[number + 1],
            "n_words": len(level_words),
            "words": ", ".join(level_words[:MOST_OF_LEVEL]) or NO_WORDS,
            "published": words,
        }


def _agreement(panel: Panel, printed: Mapping[str, str]) -> Iterator[str]:
    """Yield the rank correlation between published levels and our norms."""
    norms = panel.word_norms
    level_of = {
        word: number
        for number, words in enumerate(printed.values())
        for word in words.split(", ")
        if word in norms
    }
    if len(set(level_of.values())) > 1:
        rank = spearmanr(list(level_of.values()), [norms[word] for word in level_of]).statistic
        yield (
            f"{panel.name}: {len(level_of)} of the published words are in the test split. Between "
            f"their published levels and our norms Spearman's rank correlation is {rank:.2f}."
        )


def show_pairs(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Show the words of the paper's questions, and of an answer to each, by level of norm.

    The data are of columns WORD_LEVELS, a row for each level of a sentence.
    """
    rows: list[dict] = []
    lines: list[tuple[list[str], list[Value]]] = []
    missing, levels = [], [f"H{number}" for number, _ in enumerate(view.examples[0].question, 1)]
    for panel in panels:
        examples = [example for example in view.examples if example.panel == panel.name]
        if not panel.reason:
            missing += [example for example in examples if _find(panel, example) is None]
        for question, example in _questions(panel, examples):
            for sentence in _sentences(panel, question, example, levels):
                is_question = sentence[0]["sentence"] == QUESTION
                labels = [question["text"] if is_question else "", sentence[0]["sentence"]]
                lines.append((labels, list(map(_words_and_published, sentence))))
                rows += sentence
    notes = [
        f"Levels: {len(levels)} equal parts of the words of a test split by their norm, H1 the "
        "smallest norms. A word's norm is that of its projection; punctuation is left out.",
        f"A cell: ours (published). Each level shows its first {MOST_OF_SENTENCE} words, in the "
        "order of the sentence. The answer is the correct one that shares the most words with the "
        "published answer.",
    ]
    if missing:
        names = " and ".join(f'"{example.find}" of {example.panel}' for example in missing)
        notes.append(f"Not in these data: {names}. The first other test questions replace them.")
    blocks = [Block("", ["Question", ""], levels, lines, wrapped=True)] if lines else []
    return ViewContent(to_frame(rows, WORD_LEVELS), notes, blocks=blocks)


def _questions(panel: Panel, examples: Sequence[Example]) -> Iterator[tuple[dict, Example | None]]:
    """Yield the questions of examples, each with its example.

    Examples that are not in the data are replaced by the first other questions, with None.
    """
    questions = [_find(panel, example) for example in examples]
    used = {question["question_id"] for question in questions if question}
    rows = panel.rows("question")
    others = iter(rows[~rows["question_id"].isin(used)].to_dict("records"))
    for question, example in zip(questions, examples, strict=True):
        if question:
            yield question, example
        elif other := next(others, None):
            yield other, None


def _find(panel: Panel, example: Example) -> dict | None:
    """Return the first question of a panel that has the words of an example, or None."""
    words = set(example.find.lower().split())
    for question in panel.rows("question").to_dict("records"):
        if words <= {word.lower() for word in question["words"]}:
            return question
    return None


def _answer(panel: Panel, question: dict, printed: str) -> dict:
    """Return the first correct answer that shares the most words with a printed one."""
    words = set(printed.replace(",", " ").lower().split())
    answers = panel.answers[panel.answers["question_id"] == question["question_id"]]
    shared = [len(words & {word.lower() for word in answer}) for answer in answers["words"]]
    return answers.iloc[int(np.argmax(shared))].to_dict()


def _sentences(
    panel: Panel, question: dict, example: Example | None, levels: list[str]
) -> Iterator[list[dict]]:
    """Yield the rows of a question and those of its answer, a row for each level."""
    norms = pd.Series(panel.word_norms)
    edges = np.quantile(norms, np.arange(1, len(levels)) / len(levels))
    published_question, published_answer = (
        (example.question, example.answer) if example else ([""] * len(levels),) * 2
    )
    answer = _answer(panel, question, " ".join(published_answer))
    for sentence, words, published in (
        (QUESTION, question["words"], published_question),
        (ANSWER, answer["words"], published_answer),
    ):
        known = np.array([word for word in dict.fromkeys(words) if word in norms.index], object)
        level_of = np.searchsorted(edges, norms[known], "right")
        yield [
            {
                "panel": panel.name,
                "question_id": question["question_id"],
                "candidate_id": answer["id"],
                "sentence": sentence,
                "level": level,
                "words": ", ".join(known[level_of == number][:MOST_OF_SENTENCE]) or NO_WORDS,
                "published": published[number],
            }
            for number, level in enumerate(levels)
        ]


def _words_and_published(row: dict) -> Value:
    return Value(row["words"], published=f"({row['published']})" if row["published"] else "")
