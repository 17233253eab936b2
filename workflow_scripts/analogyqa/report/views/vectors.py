"""The vectors of questions, answers and words, drawn (Figures 4 and 5 of HyperQA)."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from analogyqa.evaluation.claims import FAILS, HOLDS, UNDECIDED, norms_of
from analogyqa.evaluation.spread import summarise
from analogyqa.evaluation.summary import to_frame
from analogyqa.report.figures import COLOURS
from analogyqa.report.table_notes import percent
from analogyqa.report.views.show import Panel, ViewContent
from analogyqa.settings.artefacts import View
from analogyqa.settings.run import Config

AXES = ["x", "y", "z"]
POINTS = dict.fromkeys(["panel", "kind", "id", "question_id"], "str")
POINTS |= dict.fromkeys(AXES, "float64")
PERPLEXITY = 30
FEWEST = 5  # points for a projection
LOOK = {
    "question": {"label": "questions", "color": COLOURS[1], "marker": "^", "s": 14},
    "answer": {"label": "their correct answers", "color": COLOURS[0], "marker": "o", "s": 9},
}

# `value` is a count, a mean norm, a share or a difference, as `what` says. `low` and `high` are the
# ends of a bin, or of the interval of a difference. Only differences have a verdict.
NORMS = {
    **dict.fromkeys(["panel", "kind", "what"], "str"),
    **dict.fromkeys(["low", "high", "value"], "float64"),
    "verdict": "str",
}
BINS = 30
COUNT, MEAN, WORDS = "count", "mean norm", "mean number of words"
SHARE = "share above the mean norm of their correct answers"
DIFFERENCE = "norm minus the mean norm of its correct answers"
FOR_EACH_WORD = "norm for each word minus that of its correct answers"
GROUPS = {"a": ("question", "answer"), "b": ("word",)}  # the kinds of a histogram, by its letter
TITLES = {"question": "questions", "answer": "correct answers", "word": "words"}
KIND_COLOURS = {"answer": COLOURS[0], "question": COLOURS[1], "word": COLOURS[2]}


def show_projection(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Project the vectors of each panel by t-SNE and draw them, with lines to the answers.

    The data are of columns POINTS, a row for each question and correct answer.
    """
    frames = [_points(panel) for panel in panels]
    figure = Figure((0.6 + 5.2 * len(panels), 6.6), layout="constrained")
    drawn = figure.subplots(ncols=len(panels), subplot_kw={"projection": "3d"}, squeeze=False)
    for axes, panel, frame in zip(drawn.flat, panels, frames, strict=True):
        axes.set_title(panel.name, fontsize="medium")
        if frame["x"].notna().any():
            _draw_points(axes, frame)
        else:
            reason = panel.reason or "too few points"
            axes.text2D(0.5, 0.5, reason, transform=axes.transAxes, ha="center", wrap=True)
            axes.set_axis_off()
    notes = [
        "t-SNE of the vectors before any constraint to the unit ball, perplexity "
        f"{PERPLEXITY} (a third of the points where they are few), initialised with "
        "PCA. It preserves neighbourhoods, but distances only roughly.",
        *(_distances(frame) for frame in frames if frame["x"].notna().any()),
    ]
    return ViewContent(to_frame(pd.concat(frames).to_dict("records"), POINTS), notes, figure)


def _points(panel: Panel) -> pd.DataFrame:
    questions = panel.rows("question").assign(kind="question")
    rows = pd.concat([questions, panel.answers.assign(kind="answer")], ignore_index=True)
    rows = rows.assign(panel=panel.name, **dict.fromkeys(AXES, np.nan))
    vectors = np.array(rows["vector"].tolist(), dtype=np.float64)
    if len(rows) >= FEWEST and vectors.shape[1] >= len(AXES):
        rows[AXES] = project(vectors)
    return rows[[*POINTS]]


def project(vectors: np.ndarray) -> np.ndarray:
    """Return vectors [n, dim] in three dimensions, [n, 3]; the same for the same vectors."""
    # It takes a second to import, and most jobs do not need it.
    from sklearn.manifold import TSNE

    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    tsne = TSNE(len(AXES), perplexity=perplexity, init="pca", random_state=0)
    with threadpool_limits(1):  # more threads change the last bits, which t-SNE amplifies
        return tsne.fit_transform(vectors)


def _draw_points(axes: Axes, frame: pd.DataFrame) -> None:
    coordinates = frame.set_index(["kind", "question_id"])[AXES]
    for question, answers in coordinates.loc["answer"].groupby(level=0):
        start = coordinates.loc["question", question].to_numpy().reshape(-1)
        for end in answers.to_numpy():
            axes.plot(*zip(start, end, strict=True), color="0.55", linewidth=0.35, alpha=0.6)
    for kind, look in LOOK.items():
        axes.scatter(*coordinates.loc[kind].to_numpy().T, **look, depthshade=False, linewidths=0)
    axes.set_box_aspect((1, 1, 1), zoom=1.1)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_ticklabels([])  # t-SNE coordinates have no unit


def _distances(frame: pd.DataFrame) -> str:
    """Say whether questions lie around the answers of a panel, or beside them."""
    questions, answers = (frame.loc[frame["kind"] == kind, AXES].to_numpy() for kind in LOOK)
    centre = answers.mean(axis=0)
    of_questions, of_answers = (
        np.linalg.norm(points - centre, axis=1).mean() for points in (questions, answers)
    )
    between_centres = np.linalg.norm(questions.mean(axis=0) - centre)
    return (
        f"{frame['panel'].iloc[0]}: from the centre of the answers, questions lie "
        f"{of_questions:.1f} away, answers {of_answers:.1f}, the centre of the questions "
        f"{between_centres:.1f} (0 if all around)."
    )


def show_norms(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Draw histograms of the norms of sentences and of words, a line for each panel.

    The data are of columns NORMS.
    """
    available = [panel for panel in panels if not panel.reason]
    frame = to_frame([row for panel in available for row in _norm_rows(panel, config)], NORMS)
    figure = Figure((9.6, 1.4 + 3 * len(panels)), layout="constrained")
    drawn = figure.subplots(nrows=len(panels), ncols=2, squeeze=False)
    for line, panel in zip(drawn, panels, strict=True):
        counts = frame[(frame["panel"] == panel.name) & (frame["what"] == COUNT)]
        before = f"{panel.name}: " if len(panels) > 1 else ""
        for axes, (letter, kinds) in zip(line, GROUPS.items(), strict=True):
            title = f"{before}({letter}) {' and '.join(TITLES[kind] for kind in kinds)}"
            axes.set_title(title, fontsize="medium")
            if panel.reason:
                axes.text(0.5, 0.5, panel.reason, transform=axes.transAxes, ha="center", wrap=True)
            else:
                _draw_histograms(axes, counts, kinds)
    notes = [note for panel in available for note in _norm_notes(panel.name, frame, config)]
    return ViewContent(frame, notes, figure)


def _norm_rows(panel: Panel, config: Config) -> Iterator[dict]:
    """Yield the counts of a panel, its means, and the differences with their verdicts."""
    parts = {
        "question": panel.rows("question"),
        "answer": panel.answers,
        "word": panel.rows("word"),
    }
    for kinds in GROUPS.values():
        norms = pd.concat([parts[kind]["norm"] for kind in kinds])
        edges = np.linspace(norms.min(), norms.max(), BINS + 1)
        for kind in kinds:
            counts, _ = np.histogram(parts[kind]["norm"], edges)
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
                row = {"panel": panel.name, "kind": kind, "what": COUNT}
                yield row | {"low": low, "high": high, "value": count}
    for kind, part in parts.items():
        row = {"panel": panel.name, "kind": kind}
        yield row | {"what": MEAN, "value": part["norm"].mean()}
        if kind != "word":
            yield row | {"what": WORDS, "value": part["words"].map(len).mean()}
    row = {"panel": panel.name, "kind": "question"}
    for what in (DIFFERENCE, FOR_EACH_WORD):
        differences = _differences(panel, what == FOR_EACH_WORD)
        low, high, verdict = mean_verdict(
            differences, config.bootstrap.samples, config.bootstrap.confidence
        )
        judged = {"value": differences.mean(), "low": low, "high": high, "verdict": verdict}
        yield row | {"what": what} | judged
    yield row | {"what": SHARE, "value": (_differences(panel) > 0).mean()}


def _differences(panel: Panel, for_each_word: bool = False) -> np.ndarray:
    """Return for each question its norm minus the mean norm of its correct answers, [n].

    With `for_each_word` norms are divided by the number of words.
    """
    inside = panel.table[panel.table["kind"] != "word"]
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


def _draw_histograms(axes: Axes, frame: pd.DataFrame, kinds: Sequence[str]) -> None:
    for kind in kinds:
        bins = frame[frame["kind"] == kind]
        edges = [*bins["low"], bins["high"].iloc[-1]]
        shares = 100 * bins["value"] / bins["value"].sum()
        label = f"{TITLES[kind]} ({bins['value'].sum():.0f})"
        axes.stairs(shares, edges, fill=True, color=KIND_COLOURS[kind], alpha=0.35)
        axes.stairs(shares, edges, color=KIND_COLOURS[kind], linewidth=1.5, label=label)
    axes.set_xlabel("norm")
    axes.set_ylabel("% of the vectors")


def _norm_notes(panel: str, frame: pd.DataFrame, config: Config) -> list[str]:
    rows = frame[frame["panel"] == panel].set_index(["kind", "what"])
    values, verdicts = rows["value"], {}
    for what in (DIFFERENCE, FOR_EACH_WORD):
        row = rows.loc["question", what]
        interval = f"{row['value']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]"
        verdicts[what] = f"{row['verdict']}, {interval}"
    return [
        f"{panel}: mean norm of questions {values['question', MEAN]:.2f}, of correct answers "
        f"{values['answer', MEAN]:.2f}. {values['question', SHARE]:.0%} of the questions have a "
        "norm above the mean of their correct answers.",
        f'"Questions in general have a higher vector norm" than answers: {verdicts[DIFFERENCE]} '
        f"(question minus its answers, {percent(config)} interval, bootstrap over questions).",
        "A norm is that of a sum over words, before any constraint to the unit ball, and a "
        f"question has {values['question', WORDS]:.1f} words, an answer "
        f"{values['answer', WORDS]:.1f}. Divided by the number of words: "
        f"{verdicts[FOR_EACH_WORD]}.",
    ]
