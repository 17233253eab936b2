"""Reviewed texts in the folders `golden`, and a page or a figure as such a text."""

import re
from collections.abc import Callable, Iterator
from difflib import unified_diff
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle, StepPatch
from matplotlib.text import Annotation, Text

# What differs between two runs of a test.
_MASKS = {
    r"(?s)(<style>|<script>|<pre tabindex=\"0\">).*?(</style>|</script>|</pre>)": r"\1...\2",
    r'"data:image/svg\+xml,[^"]*"': '"data:image/svg+xml,..."',
    r'(<script type="application/gzip"[^>]*>)[^<]*': r"\1...",
    r"\b[0-9a-f]{64}\b": "SHA256",
    r"\n\s*\n": "\n",
}


class Golden:
    """Compares texts with the files of a folder `golden`, or writes these files."""

    def __init__(self, folder: Path, accept: bool) -> None:
        self.folder, self.accept = folder, accept

    def __call__(self, text: str, name: str) -> None:
        """Compare a text with the file of this name."""
        path, text = self.folder / name, text.rstrip("\n") + "\n"
        if self.accept:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        known = path.read_text(encoding="utf-8") if path.exists() else ""
        if text != known:
            remedy = "If this is right, run the test with --accept and review the change."
            diff = unified_diff(known.splitlines(), text.splitlines(), n=1, lineterm="")
            pytest.fail("\n".join([f"{path} differs:", *diff, remedy]), pytrace=False)


def page_text(html: str, folder: Path) -> str:
    """Return a page without its style, script, settings, pictures and hashes.

    RESULTS replaces the path of its folder of results.
    """
    html = html.replace(folder.as_posix(), "RESULTS")
    for pattern, replacement in _MASKS.items():
        html = re.sub(pattern, replacement, html)
    return html


def figure_text(draw: Callable[[dict[str, Path]], None], folder: Path) -> str:
    """Return what a function draws to a folder as text: each label, mark, line and area."""
    figures: list[Figure] = []

    def keep(figure: Figure, *_: object, **__: object) -> None:
        figures.append(figure)

    with patch.object(Figure, "savefig", keep):
        draw({"svg": folder / "figure.svg"})
    return "\n".join(_figure_lines(*figures))


def _figure_lines(figure: Figure) -> Iterator[str]:
    yield f"figure {_numbers(figure.get_size_inches())}"
    for line in figure.get_suptitle().splitlines():
        yield f"  {line}"
    for legend in figure.legends:
        yield f"legend: {', '.join(text.get_text() for text in legend.get_texts())}"
    for axes in figure.axes:
        yield f"panel {axes.get_title()!r}, {_axis(axes, 'x')}, {_axis(axes, 'y')}"
        own = {*axes.spines.values(), axes.patch, axes.title, axes._left_title, axes._right_title}
        for artist in axes.get_children():
            if artist not in own and artist.get_visible():
                yield from (f"  {line}" for line in _artist_lines(artist))


def _axis(axes: Axes, name: str) -> str:
    axis = getattr(axes, f"{name}axis")
    labels = [label.get_text() for label in axis.get_ticklabels()]
    is_fixed = type(axis.get_major_formatter()).__name__ in ("FixedFormatter", "FuncFormatter")
    ticks = f" {labels}" if is_fixed else ""
    return f"{name} {axis.label.get_text()!r} {_numbers(axis.get_view_interval())}{ticks}"


def _artist_lines(artist: Artist) -> Iterator[str]:
    label = "" if str(artist.get_label())[:1] in ("_", "") else f" {artist.get_label()!r}"
    if isinstance(artist, Text):
        if artist.get_text():
            at = artist.xy if isinstance(artist, Annotation) else artist.get_position()
            look = f"{to_hex(artist.get_color())} {artist.get_fontweight()}"
            yield f"text {artist.get_text()!r} {_numbers(at)} {look}"
    elif isinstance(artist, Line2D):
        if artist.get_marker() in ("|", "_"):  # the end of an error bar
            return
        look = f"{to_hex(artist.get_color())} {artist.get_linestyle()!r} {artist.get_marker()!r}"
        face = to_hex(artist.get_markerfacecolor()) if artist.get_marker() != "None" else ""
        data = getattr(artist, "_verts3d", None) or artist.get_data()
        yield f"line{label} {look} {face} {artist.get_linewidth():g} {_points(data)}"
    elif isinstance(artist, Collection):
        unique = (
            np.unique(part, axis=0) for part in (artist.get_facecolor(), artist.get_edgecolor())
        )
        colours = [to_hex(colour) for part in unique for colour in part]
        if hasattr(artist, "get_segments"):
            points = "; ".join(_points(segment.T) for segment in artist.get_segments())
        else:
            points = _points(getattr(artist, "_offsets3d", None) or artist.get_offsets().T)
        yield f"marks{label} {' '.join(colours)} {points}"
    elif isinstance(artist, Rectangle):
        yield f"area{label} {to_hex(artist.get_facecolor())} {_numbers(artist.get_bbox().bounds)}"
    elif isinstance(artist, Polygon):
        yield f"area{label} {to_hex(artist.get_facecolor())} {_points(artist.get_xy().T)}"
    elif isinstance(artist, StepPatch):
        values, edges, _ = artist.get_data()
        colour = artist.get_facecolor() if artist.get_fill() else artist.get_edgecolor()
        yield f"steps{label} {to_hex(colour)} {_points((values, edges))}"
    elif isinstance(artist, AxesImage):
        yield from (f"image {_numbers(row)}" for row in artist.get_array())


def _points(columns: object) -> str:
    return " ".join(f"({', '.join(map(_number, point))})" for point in zip(*columns, strict=False))


def _numbers(values: object) -> str:
    return " ".join(map(_number, values))


def _number(value: float) -> str:
    return f"{round(float(value), 3) + 0:g}"
