"""Questions and their correct answers in three dimensions (Figure 4 of HyperQA)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.figures import COLOURS
from analogyqa.report.views.show import Panel, ViewContent
from analogyqa.settings.artefacts import View
from analogyqa.settings.run import Config

POINTS = {
    "panel": "str",
    "kind": "str",
    "id": "str",
    "question_id": "str",
    "x": "float64",
    "y": "float64",
    "z": "float64",
}
AXES = ["x", "y", "z"]
PERPLEXITY = 30
FEWEST = 5  # points for a projection
LABELS = {"question": "questions", "answer": "their correct answers"}
LOOK = {
    "question": {"color": COLOURS[1], "marker": "^", "s": 14},
    "answer": {"color": COLOURS[0], "marker": "o", "s": 9},
}


def show(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Project the vectors of each panel by t-SNE and draw them, with lines to the answers.

    The data are of columns POINTS, a row for each question and correct answer.
    """
    frames = [_points(panel) for panel in panels]
    figure = Figure((0.6 + 5.2 * len(panels), 6.6), layout="constrained")
    drawn = figure.subplots(ncols=len(panels), subplot_kw={"projection": "3d"}, squeeze=False)
    for axes, panel, frame in zip(drawn.flat, panels, frames, strict=True):
        axes.set_title(panel.name, fontsize="medium")
        _draw(axes, frame, panel.reason or "too few points")
    notes = [
        "t-SNE of the vectors before any constraint to the unit ball, perplexity "
        f"{PERPLEXITY} (a third of the points where they are few), initialised with "
        "PCA. It preserves neighbourhoods, but distances only roughly.",
        *_distances(frames),
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


def _draw(axes: Axes, frame: pd.DataFrame, reason: str) -> None:
    if not frame["x"].notna().any():
        axes.text2D(0.5, 0.5, reason, transform=axes.transAxes, ha="center", wrap=True)
        axes.set_axis_off()
        return
    coordinates = frame.set_index(["kind", "question_id"])[AXES]
    for question, answers in coordinates.loc["answer"].groupby(level=0):
        start = coordinates.loc["question", question].to_numpy().reshape(-1)
        for end in answers.to_numpy():
            axes.plot(*zip(start, end, strict=True), color="0.55", linewidth=0.35, alpha=0.6)
    for kind, label in LABELS.items():
        points = coordinates.loc[kind].to_numpy()
        axes.scatter(*points.T, **LOOK[kind], depthshade=False, linewidths=0, label=label)
    axes.set_box_aspect((1, 1, 1), zoom=1.1)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_ticklabels([])  # t-SNE coordinates have no unit


def _distances(frames: Sequence[pd.DataFrame]) -> list[str]:
    """Say whether questions lie around the answers of a panel, or beside them."""
    notes = []
    for frame in frames:
        if frame["x"].notna().any():
            questions, answers = (frame[frame["kind"] == kind][AXES].to_numpy() for kind in LABELS)
            centre = answers.mean(axis=0)
            distances = [
                np.linalg.norm(points - centre, axis=1).mean() for points in (questions, answers)
            ]
            between_centres = np.linalg.norm(questions.mean(axis=0) - centre)
            notes.append(
                f"{frame['panel'].iloc[0]}: from the centre of the answers, questions lie "
                f"{distances[0]:.1f} away, answers {distances[1]:.1f}, the centre of the questions "
                f"{between_centres:.1f} (0 if all around)."
            )
    return notes
