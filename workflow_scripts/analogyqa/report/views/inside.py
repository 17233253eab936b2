"""Views of trained encoders: the vectors and norms of the sentences and words of a test split.

Figures 4 and 5 and Tables 8 and 9 of HyperQA.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from analogyqa.evaluation.claims import FAILS, HOLDS, UNDECIDED, question_norms
from analogyqa.evaluation.spread import summarise
from analogyqa.evaluation.summary import to_frame
from analogyqa.report.style import COLOURS, INK
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.tables import percent
from analogyqa.report.views.show import Panel, ViewContent, text_block
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
COUNT, MEAN, LENGTH = "count", "mean norm", "mean number of words"
SHARE = "share above the mean norm of their correct answers"
DIFFERENCE = "norm minus the mean norm of its correct answers"
FOR_EACH_WORD = "norm for each word minus that of its correct answers"
GROUPS = {"a": ("question", "answer"), "b": ("word",)}  # the kinds of a histogram, by its letter
TITLES = {"question": "questions", "answer": "correct answers", "word": "words"}
KIND_COLOURS = {"answer": COLOURS[0], "question": COLOURS[1], "word": COLOURS[2]}

WORDS = {
    **dict.fromkeys(["panel", "level"], "str"),
    **dict.fromkeys(["low", "high"], "float64"),
    "n_words": "Int64",
    **dict.fromkeys(["words", "published"], "str"),
}
WORD_LABELS = {"level": "Level", "norm": "Norm"}
WORD_COLUMNS = {"n_words": "How many", "words": "Most frequent in the test split"}
WORD_COLUMNS |= {"published": "Published"}
LEVELS = 6  # where none are printed
MOST_OF_LEVEL = 10  # words of a level
TOP = 0.99  # a few outliers above would leave most levels empty

WORD_LEVELS = dict.fromkeys(
    ["panel", "question_id", "candidate_id", "sentence", "level", "words", "published"], "str"
)
QUESTION, ANSWER = "Q", "A"
MOST_OF_SENTENCE = 8  # words of a level
NO_WORDS = "-"  # as the paper prints a level without words


def show_projection(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Draw the vectors of each panel by t-SNE, with lines to the answers: columns POINTS."""
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
            axes.plot(*zip(start, end, strict=True), color=INK, linewidth=0.35, alpha=0.6)
    for kind, look in LOOK.items():
        axes.scatter(*coordinates.loc[kind].to_numpy().T, **look, depthshade=False, linewidths=0)
    axes.set_box_aspect((1, 1, 1), zoom=1.1)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_ticklabels([])  # t-SNE coordinates have no unit
        axis.pane.set_alpha(0)


def _distances(frame: pd.DataFrame) -> str:
    """Say whether questions lie around the answers of a panel, or beside them."""
    questions, answers = (frame.loc[frame["kind"] == kind, AXES].to_numpy() for kind in LOOK)
    centre = answers.mean(axis=0)
    question_distance, answer_distance = (
        np.linalg.norm(points - centre, axis=1).mean() for points in (questions, answers)
    )
    between_centres = np.linalg.norm(questions.mean(axis=0) - centre)
    return (
        f"{frame['panel'].iloc[0]}: from the centre of the answers, questions lie "
        f"{question_distance:.1f} away, answers {answer_distance:.1f}, the centre of the questions "
        f"{between_centres:.1f} (0 if all around)."
    )


def show_norms(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Draw histograms of the norms of sentences and words of each panel: columns NORMS."""
    available = [panel for panel in panels if not panel.reason]
    frame = to_frame([row for panel in available for row in _norm_rows(panel, config)], NORMS)
    figure = Figure((9.6, 1.4 + 3 * len(panels)), layout="constrained")
    drawn = figure.subplots(nrows=len(panels), ncols=2, squeeze=False)
    for line, panel in zip(drawn, panels, strict=True):
        counts = frame[(frame["panel"] == panel.name) & (frame["what"] == COUNT)]
        prefix = f"{panel.name}: " if len(panels) > 1 else ""
        for axes, (letter, kinds) in zip(line, GROUPS.items(), strict=True):
            title = f"{prefix}({letter}) {' and '.join(TITLES[kind] for kind in kinds)}"
            axes.set_title(title, fontsize="medium")
            if panel.reason:
                axes.text(0.5, 0.5, panel.reason, transform=axes.transAxes, ha="center", wrap=True)
                continue
            for kind in kinds:
                bins, colour = counts[counts["kind"] == kind], KIND_COLOURS[kind]
                edges, total = [*bins["low"], bins["high"].iloc[-1]], bins["value"].sum()
                shares, label = 100 * bins["value"] / total, f"{TITLES[kind]} ({total:.0f})"
                axes.stairs(shares, edges, fill=True, color=colour, alpha=0.35)
                axes.stairs(shares, edges, color=colour, linewidth=1.5, label=label)
            axes.set_xlabel("norm")
            axes.set_ylabel("% of the vectors")
    notes = [note for panel in available for note in _norm_notes(panel.name, frame, config)]
    return ViewContent(frame, notes, figure)


def _norm_rows(panel: Panel, config: Config) -> Iterator[dict]:
    """Yield the counts of a panel, its means, and the differences with their verdicts."""
    parts = {"question": panel.rows("question"), "answer": panel.answers}
    parts["word"] = panel.rows("word")
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
            yield row | {"what": LENGTH, "value": part["words"].map(len).mean()}
    sentences = panel.table[panel.table["kind"] != "word"]
    # An empty sentence has the norm 0.
    norm_for_each_word = sentences["norm"] / sentences["words"].map(len).clip(1)
    row = {"panel": panel.name, "kind": "question"}
    for what, norm in ((DIFFERENCE, sentences["norm"]), (FOR_EACH_WORD, norm_for_each_word)):
        norms = question_norms(sentences.assign(norm=norm))
        differences = (norms["question"] - norms["answer"]).to_numpy()
        low, high, verdict = mean_verdict(
            differences, config.bootstrap.samples, config.bootstrap.confidence
        )
        judged = {"value": differences.mean(), "low": low, "high": high, "verdict": verdict}
        yield row | {"what": what} | judged
        if what == DIFFERENCE:
            share = (differences > 0).mean()
    yield row | {"what": SHARE, "value": share}


def mean_verdict(
    differences: np.ndarray, samples: int, confidence: float
) -> tuple[float, float, str]:
    """Return the bootstrap interval of the mean of differences [n], and whether it is above 0."""
    summary = summarise(differences[None], samples, confidence, smallest=-np.inf)
    low, high = summary["ci_low"], summary["ci_high"]
    return low, high, HOLDS if low > 0 else FAILS if high < 0 else UNDECIDED


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
        f"question has {values['question', LENGTH]:.1f} words, an answer "
        f"{values['answer', LENGTH]:.1f}. Divided by the number of words: "
        f"{verdicts[FOR_EACH_WORD]}.",
    ]


def show_words(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """List words by level of norm: columns WORDS, a row for each level."""
    printed = view.levels or {str(level + 1): "" for level in range(LEVELS)}
    rows = [row for panel in panels if panel.word_norms for row in _levels(panel, printed)]
    frame = to_frame(rows, WORDS)
    norms = [
        f"{low:.3g} to {high:.3g}" for low, high in zip(frame["low"], frame["high"], strict=True)
    ]
    texts = frame.assign(norm=norms, n_words=frame["n_words"].astype(str))
    blocks = [
        text_block(str(panel) if len(panels) > 1 else "", part, WORD_LABELS, WORD_COLUMNS)
        for panel, part in texts.groupby("panel", sort=False)
    ]
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
    levels = np.searchsorted(edges[1:-1], norms, side="right")
    edges[-1] = norms.max()
    for number, (level, words) in enumerate(printed.items()):
        level_words = sorted(norms.index[levels == number], key=lambda word: (-counts[word], word))
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
    levels = {
        word: number
        for number, words in enumerate(printed.values())
        for word in words.split(", ")
        if word in norms
    }
    if len(set(levels.values())) > 1:
        rank = spearmanr(list(levels.values()), [norms[word] for word in levels]).statistic
        yield (
            f"{panel.name}: {len(levels)} of the published words are in the test split. Between "
            f"their published levels and our norms Spearman's rank correlation is {rank:.2f}."
        )


def show_pairs(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Show the words of questions and answers by level of norm: columns WORD_LEVELS."""
    rows: list[dict] = []
    lines: list[tuple[list[str], list[Value]]] = []
    missing, levels = [], [f"H{number}" for number, _ in enumerate(view.examples[0].question, 1)]
    for panel in panels:
        examples = [example for example in view.examples if example.panel == panel.name]
        questions = panel.rows("question").to_dict("records")
        matching = [_find(questions, example.find) for example in examples]
        used = [question["question_id"] for question in matching if question]
        others = iter([question for question in questions if question["question_id"] not in used])
        for example, question in zip(examples, matching, strict=True):
            printed = [example.question, example.answer]
            if question is None:
                missing += [] if panel.reason else [example]
                question, printed = next(others, None), [[""] * len(levels)] * 2
            if question is None:
                continue
            for sentence in _sentences(panel, question, printed, levels):
                name, rows = sentence[0]["sentence"], rows + sentence
                values = [
                    Value(
                        row["words"], published=f"({row['published']})" if row["published"] else ""
                    )
                    for row in sentence
                ]
                lines.append(([question["text"] if name == QUESTION else "", name], values))
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


def _find(questions: Sequence[dict], text: str) -> dict | None:
    """Return the first question that has all words of a text, or None."""
    words = set(text.lower().split())
    matching = (row for row in questions if words <= {word.lower() for word in row["words"]})
    return next(matching, None)


def _sentences(
    panel: Panel, question: dict, printed: Sequence[list[str]], levels: list[str]
) -> Iterator[list[dict]]:
    """Yield the rows of a question and those of its answer, a row for each level.

    `printed` are the words of both at each level, as published. The answer is the first correct one
    that shares the most words with the published answer.
    """
    norms = pd.Series(panel.word_norms)
    edges = np.quantile(norms, np.arange(1, len(levels)) / len(levels))
    words = set(" ".join(printed[1]).replace(",", " ").lower().split())
    answers = panel.answers[panel.answers["question_id"] == question["question_id"]]
    shared = [len(words & {word.lower() for word in answer}) for answer in answers["words"]]
    answer = answers.iloc[int(np.argmax(shared))]
    for sentence, row, published in zip(
        (QUESTION, ANSWER), (question, answer), printed, strict=True
    ):
        known = np.array([word for word in dict.fromkeys(row["words"]) if word in norms], object)
        at = np.searchsorted(edges, norms[known], "right")
        yield [
            {
                "panel": panel.name,
                "question_id": question["question_id"],
                "candidate_id": answer["id"],
                "sentence": sentence,
                "level": level,
                "words": ", ".join(known[at == number][:MOST_OF_SENTENCE]) or NO_WORDS,
                "published": published[number],
            }
            for number, level in enumerate(levels)
        ]
