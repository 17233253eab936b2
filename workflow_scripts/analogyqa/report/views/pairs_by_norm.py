"""The words of questions and of answers by level of norm (Table 8 of HyperQA)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.views.show import Panel, ViewContent
from analogyqa.settings.artefacts import Example, View
from analogyqa.settings.run import Config

WORD_LEVELS = {
    "panel": "str",
    "question_id": "str",
    "candidate_id": "str",
    "sentence": "str",
    "level": "str",
    "words": "str",
    "published": "str",
}
QUESTION, ANSWER = "Q", "A"
MOST = 8  # words of a level


def show(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Show the words of the paper's questions, and of an answer to each, by level of norm.

    The data are of columns WORD_LEVELS, a row for each level of a sentence.
    """
    rows: list[dict] = []
    lines: list[tuple[list[str], list[Value]]] = []
    missing, count = [], len(view.examples[0].question)
    for panel in panels:
        examples = [example for example in view.examples if example.panel == panel.name]
        missing += (
            []
            if panel.reason
            else [example for example in examples if find(panel, example) is None]
        )
        for question, example in questions_of(panel, examples):
            sentences = _sentences(panel, question, example, count)
            rows += [row for sentence in sentences for row in sentence]
            lines += [_line(question["text"], sentence) for sentence in sentences]
    levels = [f"H{level + 1}" for level in range(count)]
    notes = [
        f"Levels: {len(levels)} equal parts of the words of a test split by their norm, H1 the "
        "smallest norms. A word's norm is that of its projection; punctuation is left out.",
        f"A cell: ours (published). Each level shows its first {MOST} words, in the order of the "
        "sentence. The answer is the correct one that shares the most words with the published "
        "answer.",
    ]
    if missing:
        names = " and ".join(f'"{example.find}" of {example.panel}' for example in missing)
        notes.append(f"Not in these data: {names}. The first other test questions replace them.")
    blocks = [Block("", ["Question", ""], levels, lines, wrapped=True)] if lines else []
    return ViewContent(to_frame(rows, WORD_LEVELS), notes, blocks=blocks)


def questions_of(panel: Panel, examples: Sequence[Example]) -> list[tuple[dict, Example | None]]:
    """Return the questions of examples, each with its example.

    Examples that are not in the data are replaced by the first other questions, with None.
    """
    questions = [find(panel, example) for example in examples]
    used = {question["question_id"] for question in questions if question}
    rows = panel.rows("question")
    others = iter(rows[~rows["question_id"].isin(used)].to_dict("records"))
    pairs: list[tuple[dict, Example | None]] = []
    for question, example in zip(questions, examples, strict=True):
        if question:
            pairs.append((question, example))
        elif other := next(others, None):
            pairs.append((other, None))
    return pairs


def find(panel: Panel, example: Example) -> dict | None:
    """Return the first question of a panel that has the words of an example, or None."""
    words = set(example.find.lower().split())
    for question in panel.rows("question").to_dict("records"):
        if words <= {word.lower() for word in question["words"]}:
            return question
    return None


def answer_to(panel: Panel, question: dict, printed: str) -> dict:
    """Return the first correct answer that shares the most words with a printed one."""
    words = set(printed.replace(",", " ").lower().split())
    answers = panel.answers[panel.answers["question_id"] == question["question_id"]]
    shared = [len(words & {word.lower() for word in answer}) for answer in answers["words"]]
    return answers.iloc[int(np.argmax(shared))].to_dict()


def _sentences(
    panel: Panel, question: dict, example: Example | None, count: int
) -> list[list[dict]]:
    """Return the rows of a question and those of its answer, a row for each of `count` levels."""
    norms = pd.Series(panel.word_norms)
    edges = np.quantile(norms, np.arange(1, count) / count)
    printed = {QUESTION: [""] * count, ANSWER: [""] * count}
    if example:
        printed = {QUESTION: example.question, ANSWER: example.answer}
    answer = answer_to(panel, question, " ".join(printed[ANSWER]))
    sentences = []
    for sentence, row in ((QUESTION, question), (ANSWER, answer)):
        words = [word for word in dict.fromkeys(row["words"]) if word in norms.index]
        level_of = dict(zip(words, np.searchsorted(edges, norms[words], "right"), strict=True))
        sentences.append(
            [
                {
                    "panel": panel.name,
                    "question_id": question["question_id"],
                    "candidate_id": answer["id"],
                    "sentence": sentence,
                    "level": f"H{level + 1}",
                    # A level without words is printed as in the paper.
                    "words": ", ".join([w for w in words if level_of[w] == level][:MOST]) or "-",
                    "published": printed[sentence][level],
                }
                for level in range(count)
            ]
        )
    return sentences


def _line(text: str, rows: list[dict]) -> tuple[list[str], list[Value]]:
    kind = rows[0]["sentence"]
    values = [
        Value(row["words"], published=f"({row['published']})" if row["published"] else "")
        for row in rows
    ]
    return [text if kind == QUESTION else "", kind], values
