"""Histograms of norms, and whether those of questions are larger (Figure 5 of HyperQA)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analogyqa.evaluation.claim_values import norms_of
from analogyqa.evaluation.claims import FAILS, HOLDS, UNDECIDED
from analogyqa.evaluation.spread import summarise
from analogyqa.evaluation.summary import to_frame
from analogyqa.report.figures import COLOURS
from analogyqa.report.legend import percent
from analogyqa.report.views.show import Panel, ViewContent
from analogyqa.settings.artefacts import View
from analogyqa.settings.run import Config

# `value` is a count, a mean norm, a share or a difference, as `what` says. `low` and `high` are the
# ends of a bin, or of the interval of a difference. Only differences have a verdict.
NORMS = {
    "panel": "str",
    "kind": "str",
    "what": "str",
    "low": "float64",
    "high": "float64",
    "value": "float64",
    "verdict": "str",
}
BINS = 30
COUNT, MEAN, WORDS = "count", "mean norm", "mean number of words"
SHARE = "share above the mean norm of their correct answers"
DIFFERENCE = "norm minus the mean norm of its correct answers"
FOR_EACH_WORD = "norm for each word minus that of its correct answers"
SENTENCES, WORD = ("question", "answer"), "word"
TITLES = {"question": "questions", "answer": "correct answers", "word": "words"}


def show(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Draw histograms of the norms of sentences and of words, a line for each panel.

    The data are of columns NORMS.
    """
    rows = [row for panel in panels if not panel.reason for row in _rows(panel, config)]
    frame = to_frame(rows, NORMS)
    figure = Figure((9.6, 1.4 + 3 * len(panels)), layout="constrained")
    drawn = figure.subplots(nrows=len(panels), ncols=2, squeeze=False)
    for line, panel in zip(drawn, panels, strict=True):
        counts = frame[(frame["panel"] == panel.name) & (frame["what"] == COUNT)]
        before = f"{panel.name}: " if len(panels) > 1 else ""
        for axes, letter, group in zip(line, "ab", (SENTENCES, (WORD,)), strict=True):
            _draw(axes, counts, group, panel.reason)
            axes.set_title(
                f"{before}({letter}) {' and '.join(TITLES[kind] for kind in group)}",
                fontsize="medium",
            )
    notes = [note for panel in panels if not panel.reason for note in _notes(panel, frame, config)]
    return ViewContent(frame, notes, figure)


def _rows(panel: Panel, config: Config) -> list[dict]:
    """Return the counts of a panel, its means, and the verdict."""
    parts = {"question": panel.rows("question"), "answer": panel.answers, WORD: panel.rows(WORD)}
    rows = []
    for group in (SENTENCES, (WORD,)):
        norms = pd.concat([parts[kind]["norm"] for kind in group])
        edges = np.linspace(norms.min(), norms.max(), BINS + 1)
        for kind in group:
            counts, _ = np.histogram(parts[kind]["norm"], edges)
            rows += [
                {"kind": kind, "what": COUNT, "low": low, "high": high, "value": count}
                for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
            ]
    for kind, part in parts.items():
        rows.append({"kind": kind, "what": MEAN, "value": part["norm"].mean()})
        if kind != WORD:
            words = part["words"].map(len).mean()
            rows.append({"kind": kind, "what": WORDS, "value": words})
    for what in (DIFFERENCE, FOR_EACH_WORD):
        differences = differences_of(panel, what == FOR_EACH_WORD)
        low, high, verdict = mean_verdict(
            differences, config.bootstrap.samples, config.bootstrap.confidence
        )
        judged = {"value": differences.mean(), "low": low, "high": high, "verdict": verdict}
        rows.append({"kind": "question", "what": what, **judged})
    above = (differences_of(panel) > 0).mean()
    rows.append({"kind": "question", "what": SHARE, "value": above})
    return [{"panel": panel.name, "verdict": ""} | row for row in rows]


def differences_of(panel: Panel, for_each_word: bool = False) -> np.ndarray:
    """Return for each question its norm minus the mean norm of its correct answers, [n].

    With `for_each_word` norms are divided by the number of words.
    """
    inside = panel.table[panel.table["kind"] != WORD]
    if for_each_word:
        # An empty sentence has the norm 0.
        inside = inside.assign(norm=inside["norm"] / inside["words"].map(len).clip(1))
    norms = norms_of(inside)
    return (norms["question"] - norms["answer"]).to_numpy()


def mean_verdict(
    differences: np.ndarray, samples: int, confidence: float
) -> tuple[float, float, str]:
    """Return the bootstrap interval of the mean of differences [n], and whether it is above 0."""
    *_, low, high = summarise(differences[None], samples, confidence, smallest=-np.inf)
    return low, high, HOLDS if low > 0 else FAILS if high < 0 else UNDECIDED


def _draw(axes: Axes, frame: pd.DataFrame, group: Sequence[str], reason: str) -> None:
    if reason:
        axes.text(0.5, 0.5, reason, transform=axes.transAxes, ha="center", wrap=True)
        return
    for kind in group:
        bins = frame[frame["kind"] == kind]
        edges = [*bins["low"], bins["high"].iloc[-1]]
        colour = COLOURS[(*SENTENCES[::-1], WORD).index(kind)]
        shares = 100 * bins["value"] / bins["value"].sum()
        label = f"{TITLES[kind]} ({bins['value'].sum():.0f})"
        axes.stairs(shares, edges, fill=True, color=colour, alpha=0.35)
        axes.stairs(shares, edges, color=colour, linewidth=1.5, label=label)
    axes.set_xlabel("norm")
    axes.set_ylabel("% of the vectors")


def _notes(panel: Panel, frame: pd.DataFrame, config: Config) -> list[str]:
    rows = frame[frame["panel"] == panel.name].set_index(["kind", "what"])
    values = rows["value"]
    verdicts = {}
    for what in (DIFFERENCE, FOR_EACH_WORD):
        row = rows.loc["question", what]
        interval = f"{row['value']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]"
        verdicts[what] = f"{row['verdict']}, {interval}"
    return [
        f"{panel.name}: mean norm of questions {values['question', MEAN]:.2f}, of correct answers "
        f"{values['answer', MEAN]:.2f}. {values['question', SHARE]:.0%} of the questions have a "
        "norm above the mean of their correct answers.",
        f'"Questions in general have a higher vector norm" than answers: {verdicts[DIFFERENCE]} '
        f"(question minus its answers, {percent(config)} interval, bootstrap over questions).",
        "A norm is that of a sum over words, before any constraint to the unit ball, and a "
        f"question has {values['question', WORDS]:.1f} words, an answer "
        f"{values['answer', WORDS]:.1f}. Divided by the number of words: "
        f"{verdicts[FOR_EACH_WORD]}.",
    ]
