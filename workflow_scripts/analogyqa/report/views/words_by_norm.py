"""The most frequent words of each level of norm (Table 9 of HyperQA)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.stats import spearmanr

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.views.show import Panel, ViewContent
from analogyqa.settings.artefacts import View
from analogyqa.settings.run import Config

WORDS = {
    "panel": "str",
    "level": "str",
    "low": "float64",
    "high": "float64",
    "n_words": "Int64",
    "words": "str",
    "published": "str",
}
LEVELS = 6  # where none are printed
MOST = 10  # words of a level
TOP = 0.99  # a few outliers above would leave most levels empty


def show(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """List words by level of norm; the data are of columns WORDS, a row for each level."""
    printed = view.levels or {str(level + 1): "" for level in range(LEVELS)}
    rows, blocks = [], []
    columns = ["How many", "Most frequent in the test split", "Published"]
    for panel in panels:
        levels = _rows(panel, printed)
        lines = [
            (
                [row["level"], f"{row['low']:.3g} to {row['high']:.3g}"],
                [Value(str(row["n_words"])), Value(row["words"]), Value(row["published"])],
            )
            for row in levels
        ]
        if lines:
            heading = panel.name if len(panels) > 1 else ""
            blocks.append(Block(heading, ["Level", "Norm"], columns, lines, wrapped=True))
        rows += levels
    notes = [
        "Level: as published, where it is a range of the paper's norms. Ours have another scale: "
        f"the levels are {len(printed)} equal parts of what lies between the smallest norm and "
        f"the {TOP * 100:g}th percentile; the highest level also has all norms above it.",
        "A word's norm is that of its projection. Words of the test split with a letter or a "
        f"digit, the {MOST} most frequent of each level.",
        *(note for panel in panels for note in _agreement(panel, view.levels)),
    ]
    return ViewContent(to_frame(rows, WORDS), notes, blocks=blocks)


def _rows(panel: Panel, printed: dict[str, str]) -> list[dict]:
    norms = panel.word_norms
    if not norms:
        return []
    sentences = panel.table[panel.table["kind"] != "word"].drop_duplicates("text")
    counts = Counter(word for words in sentences["words"] for word in words)
    values = np.array(list(norms.values()))
    edges = np.linspace(values.min(), np.quantile(values, TOP), len(printed) + 1)
    # The inner edges only: what is above the last level belongs to it.
    level_of = dict(zip(norms, np.searchsorted(edges[1:-1], values, side="right"), strict=True))
    rows = []
    for number, (level, words) in enumerate(printed.items()):
        level_words = sorted(
            (word for word in norms if level_of[word] == number),
            key=lambda word: (-counts[word], word),
        )
        last = number == len(printed) - 1
        rows.append(
            {
                "panel": panel.name,
                "level": level,
                "low": float(edges[number]),
                "high": float(values.max() if last else edges[number + 1]),
                "n_words": len(level_words),
                "words": ", ".join(level_words[:MOST]) or "-",  # as the paper prints no words
                "published": words,
            }
        )
    return rows


def _agreement(panel: Panel, printed: dict[str, str]) -> list[str]:
    """Return the rank correlation between published levels and our norms."""
    norms = panel.word_norms
    level_of = {
        word: number
        for number, words in enumerate(printed.values())
        for word in words.split(", ")
        if word in norms
    }
    if len(set(level_of.values())) < 2:
        return []
    rank = spearmanr(list(level_of.values()), [norms[word] for word in level_of]).statistic
    return [
        f"{panel.name}: {len(level_of)} of the published words are in the test split. Between "
        f"their published levels and our norms Spearman's rank correlation is {rank:.2f}."
    ]
