"""An explanation in words and as a picture: shifts of candidates and prototypes in the plane."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analogyqa.errors import AnalogyQAError
from analogyqa.report.style import COLOURS, INK, own_style, svg_text, write_figure
from analogyqa.schemas import Candidate, Explanation, Point, Shifts, WordShares

SHOWN = 5  # candidates that a picture explains, besides the best correct one
WORDS = 4  # of a sentence
JOINED = "A line joins a candidate to the prototype that gives it its score."
SEVERAL = "No single prototype decides: each score depends on several."
EXAMPLES = 10  # the clearest correct answers, and as many incorrect ones
LABELS = {1: "correct", 0: "wrong", None: ""}


def shown_candidates(explanation: Explanation) -> list[tuple[int, Candidate, str]]:
    """Return the first candidates and the best correct one, each with its place, from 1.

    The prototypes that decide them have the letters A, B, ... in this order; "" if none decides.
    """
    ranked = list(enumerate(explanation.candidates, 1))
    selected = ranked[:SHOWN]
    if not any(candidate.label == 1 for _, candidate in selected):
        selected += [pair for pair in ranked[SHOWN:] if pair[1].label == 1][:1]
    deciding = dict.fromkeys(candidate.decided_by for _, candidate in selected)
    letters = dict(zip(filter(lambda at: at is not None, deciding), ascii_uppercase, strict=False))
    return [(place, shown, letters.get(shown.decided_by, "")) for place, shown in selected]


def lettered_prototypes(explanation: Explanation) -> dict[str, int]:
    """Return the letters of the prototypes that decide the shown candidates, with their numbers."""
    shown = shown_candidates(explanation)
    return {letter: best.decided_by for _, best, letter in shown if best.decided_by is not None}


def word_text(words: WordShares) -> str:
    """Return the words that won most, without marks, such as "wrote 34%, Ada 22%"."""
    shares = [pair for pair in words if any(map(str.isalnum, pair[0]))]
    return ", ".join(f"{word} {share:.0%}" for word, share in shares[:WORDS])


def clearest_decisions(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the clearest answers of the first seed, correct and incorrect, from DECISIONS."""
    first = decisions[decisions["seed"] == decisions["seed"].min()].dropna(subset="margin")
    in_order = first.sort_values(["margin", "question_id"], ascending=[False, True])
    correct, incorrect = (in_order[in_order["label"] == label] for label in (1, 0))
    clearest = {"correctly": correct.head(EXAMPLES), "incorrectly": incorrect.tail(EXAMPLES)[::-1]}
    return pd.concat(clearest, names=["answered"]).reset_index("answered")


def margin(explanation: Explanation) -> float:
    """Return the best score of a correct candidate minus that of a wrong one."""
    best = {candidate.label: candidate.score for candidate in reversed(explanation.candidates)}
    return best[1] - best[0]


def is_decided(explanation: Explanation) -> bool:
    """Return whether single prototypes give candidates their scores."""
    return any(candidate.decided_by is not None for candidate in explanation.candidates)


def unread_text(tokens: int) -> str:
    """Return what to say of a question and an answer with too many tokens for the encoder."""
    return f"too long for the encoder: it does not read the last {tokens} tokens"


def terminal_lines(explanation: Explanation) -> Iterator[str]:
    """Yield the lines that `analogyqa explain` and `analogyqa rank --explain` print."""
    yield explanation.question
    if explanation.words:
        yield f"     words: {word_text(explanation.words)}"
    for place, candidate in enumerate(explanation.candidates, 1):
        parts = f"{place:3}", f"{candidate.score:.4f}", LABELS[candidate.label], candidate.candidate
        yield "  ".join(filter(None, parts))
        if candidate.unknown:
            yield f"     ignored, as they have no vector: {candidate.unknown}"
        if candidate.unread:
            yield f"     {unread_text(candidate.unread)}"
        if candidate.words:
            yield f"     words: {word_text(candidate.words)}"
        if candidate.matches:
            matches = (f"{word}: {match} {cosine:.2f}" for word, match, cosine in candidate.matches)
            yield f"     most similar words: {', '.join(matches)}"
        for number, similarity in candidate.nearest:
            like = explanation.prototypes[number]
            yield f"     like {similarity:.4f}  {like.question}  {like.answer}"
    yield ""
    if not explanation.prototypes:
        yield "This system does not compare with prototypes."
    elif not is_decided(explanation):
        yield SEVERAL
    yield from word_notes(explanation)


def picture_notes(explanation: Explanation, shifts: Shifts) -> Iterator[str]:
    """Yield how to read the picture of shifts, and what it cannot show."""
    count, lost = len(shifts.candidates + shifts.prototypes), 1 - sum(shifts.shares)
    yield (
        f"A mark is a question minus an answer. Two dimensions lose {lost:.0%} of the variance of "
        f"these {count} vectors, so marks may look closer than they are."
    )
    yield JOINED if is_decided(explanation) else SEVERAL
    yield from word_notes(explanation)


def word_notes(explanation: Explanation) -> Iterator[str]:
    """Yield what the words of an explanation mean, or why there are none."""
    if explanation.words:
        yield (
            "Words: the share of the dimensions in which a word wins the maximum over its "
            "sentence. What wins also depends on the words around it."
        )
    elif not any(candidate.matches for candidate in explanation.candidates):
        yield "No words decide: this system takes no maximum over words."


WIDTH, HEIGHT = 7.2, 4.4  # of a saved plot in inches; a page is as wide
SIZE = (5.2, 3.9)  # of a plot on a screen, next to its text
LINE = 0.17  # the height of a line of text in inches
LETTERS = 100  # in a line of text
INSIDE = (0.06, 0.08, 0.92, 0.9)  # the axes within it
FORMATS = ("svg", "png")
PROTOTYPES = "prototype; a letter if it decides"
TRIANGLE = {"marker": "^", "facecolors": "white", "edgecolors": INK}
_EDGE = {"edgecolors": "white", "linewidths": 0.6}
# The name and the look of a candidate by its label; a new text has none.
LOOKS: dict[int | None, tuple[str, dict]] = {
    1: ("correct candidate, with its rank", {"marker": "o", "color": COLOURS[0]} | _EDGE),
    0: ("wrong candidate, with its rank", {"marker": "s", "color": COLOURS[1]} | _EDGE),
    None: ("candidate, with its rank", {"marker": "o", "color": COLOURS[2]} | _EDGE),
}
INDENT = 5 * " "
MAIN, DETAIL = "normal", "italic"  # the style of a line
LARGE, SMALL = 150, 26  # marks with a number or letter in them, and others


def picture_svg(explanation: Explanation, shifts: Shifts) -> str:
    """Return the plot as SVG, without the legend and the text, which a page has."""
    # As text, letters are smaller than as curves; a page may have dozens of pictures.
    with own_style(**{"svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}):
        figure = Figure(SIZE)
        _draw(figure.add_axes(INSIDE), explanation, shifts)
        return svg_text(figure)


def picture_format(path: Path) -> str:
    """Return the format of a picture by its suffix; AnalogyQAError if there is no such format."""
    kind = path.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise AnalogyQAError(f"{path}: no such format. End the name in .{' or .'.join(FORMATS)}")
    return kind


def explanation_frame(explanation: Explanation) -> pd.DataFrame:
    """Return an explanation as a table; see `Explanation.to_frame`."""
    letters = {number: letter for letter, number in lettered_prototypes(explanation).items()}
    keys = ["candidate", "label", "score", "unknown"]
    rows = []
    for candidate in explanation.candidates:
        row = candidate.model_dump(include={*keys}) | {"words": word_text(candidate.words)}
        if candidate.decided_by is not None:
            best = explanation.prototypes[candidate.decided_by]
            row |= {"prototype_question": best.question, "prototype_answer": best.answer}
            row["letter"] = letters.get(candidate.decided_by, "")
        rows.append(row)
    columns = [*keys, "words"]
    if explanation.prototypes:
        columns += ["prototype_question", "prototype_answer", "letter"]
    index = pd.RangeIndex(1, len(rows) + 1, name="rank")
    return pd.DataFrame(rows, index, columns)


def plot_explanation(explanation: Explanation, axes: Axes | None) -> Axes:
    """Draw the plot with a legend into axes, or a new figure of pyplot, and return them.

    Raises AnalogyQAError when there is nothing to draw.
    """
    shifts = _drawn_shifts(explanation)
    if axes is None:
        from matplotlib import pyplot  # shows the figure in notebooks

        figure, axes = pyplot.subplots(figsize=(WIDTH, HEIGHT), layout="constrained")
        _add_title(figure, explanation.question)
    with own_style():
        _draw(axes, explanation, shifts)
        _add_legend(axes, ncols=2)  # the font of the user may be a wide one
    return axes


def _drawn_shifts(explanation: Explanation) -> Shifts:
    if explanation.shifts is None:
        raise AnalogyQAError(
            f"{explanation.run} does not compare with prototypes, so there is nothing to draw. "
            "Its scores and words need no picture"
        )
    return explanation.shifts


def save_picture(explanation: Explanation, path: Path) -> None:
    """Save the plot with a legend, and a text below it.

    Raises AnalogyQAError when there is nothing to draw, or no format by the suffix of the path.
    """
    kind, shifts = picture_format(path), _drawn_shifts(explanation)
    lines = _text(explanation, shifts)
    height = LINE * len(lines)
    with own_style():
        figure = Figure((WIDTH, HEIGHT + height), layout="constrained")
        plot, below = figure.subplots(2, height_ratios=[HEIGHT, height])
        _draw(plot, explanation, shifts)
        _add_legend(plot, ncols=3)
        _add_title(figure, f"{explanation.question}\n{explanation.run}, seed {explanation.seed}")
        below.set_axis_off()
        for row, (line, style) in enumerate(lines):
            place = (0, 1 - (row + 0.5) / len(lines))
            look = {"style": style, "fontsize": "small", "va": "center", "parse_math": False}
            below.annotate(line, place, xycoords="axes fraction", **look)
        write_figure(figure, kind, path)


def _add_title(figure: Figure, title: str) -> None:
    figure.suptitle(title, x=0.02, ha="left", fontsize="medium", parse_math=False)


def _add_legend(axes: Axes, ncols: int) -> None:
    """Add a legend above axes."""
    anchor = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": ncols, "borderaxespad": 0.2}
    space = {"frameon": False, "columnspacing": 1.5, "handletextpad": 0.2}
    axes.legend(fontsize="small", **anchor, **space)


def _draw(axes: Axes, explanation: Explanation, shifts: Shifts) -> None:
    """Draw the shifts, and a line from each shown candidate to the prototype that decides it."""
    selected = shown_candidates(explanation)
    axes.scatter(*zip(*shifts.prototypes, strict=True), s=SMALL, label=PROTOTYPES, **TRIANGLE)
    for label, (name, look) in LOOKS.items():
        pairs = zip(explanation.candidates, shifts.candidates, strict=True)
        points = [point for candidate, point in pairs if candidate.label == label]
        if points:
            axes.scatter(*zip(*points, strict=True), s=SMALL, label=name, **look)
    for place, candidate, _ in selected:
        if candidate.decided_by is not None:
            ends = shifts.candidates[place - 1], shifts.prototypes[candidate.decided_by]
            width = 1.8 if place == 1 else 0.9
            axes.plot(*zip(*ends, strict=True), color=INK, linewidth=width, zorder=1)
    for letter, number in lettered_prototypes(explanation).items():
        _mark(axes, shifts.prototypes[number], 1.6 * LARGE, TRIANGLE, letter, "0.1", down=1.5)
    for place, candidate, _ in reversed(selected):  # the best is drawn last, on top of the others
        _, look = LOOKS[candidate.label]
        _mark(axes, shifts.candidates[place - 1], LARGE, look, str(place), "white")
    names = ("first", "second")
    for axis, name, share in zip((axes.xaxis, axes.yaxis), names, shifts.shares, strict=True):
        title = f"{name} principal component ({share:.0%} of the variance)"
        axis.set_label_text(title, fontsize="small")
        axis.set_ticks([])  # the units of a sentence vector mean nothing
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)


def _mark(
    axes: Axes, point: Point, size: float, look: dict, text: str, colour: str, down: float = 0
) -> None:
    """Draw a mark with a number or letter in it, some points below its centre."""
    axes.scatter(*point, s=size, zorder=3, **look)
    font = {"color": colour, "fontsize": "small", "fontweight": "bold"}
    centred = {"textcoords": "offset points", "ha": "center", "va": "center_baseline"}
    axes.annotate(text, point, (0, -down), **font, **centred, zorder=3)


def _text(explanation: Explanation, shifts: Shifts) -> list[tuple[str, str]]:
    """Return the text of a picture as lines with their styles."""
    paragraphs = [(f"Words of the question: {word_text(explanation.words)}", DETAIL)]
    for place, candidate, letter in shown_candidates(explanation):
        like = f", like {letter}" if letter else ""
        paragraphs.append((f"{place}  {candidate.score:.3f}{like}: {candidate.candidate}", MAIN))
        paragraphs.append((f"{INDENT}words: {word_text(candidate.words)}", DETAIL))
    for letter, number in lettered_prototypes(explanation).items():
        prototype = explanation.prototypes[number]
        words = word_text(prototype.question_words), word_text(prototype.answer_words)
        paragraphs.append((f"{letter}  {prototype.question} → {prototype.answer}", MAIN))
        paragraphs.append((f"{INDENT}words: {words[0]}; {words[1]}", DETAIL))
    if not explanation.words:
        paragraphs = [paragraph for paragraph in paragraphs if paragraph[1] == MAIN]
    paragraphs += [(note, DETAIL) for note in picture_notes(explanation, shifts)]
    return [
        (line, style)
        for text, style in paragraphs
        for line in textwrap.wrap(text, LETTERS, subsequent_indent=INDENT)
    ]
