"""The look of all figures, and their files.

Each colour can be seen on white and on black, and differs from the others for any colour vision.
Markers differ in black and white.
"""

import io
import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from analogyqa.files import atomic_path, write_text
from analogyqa.settings.run import Config

# The palette of Okabe and Ito.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
LINE_STYLES = len(COLOURS) * len(MARKERS)
# No grey has a contrast of 4.5 to white and to GitHub's dark background. This one has 4.6 and 4.1.
INK = "#757575"
_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
STYLE = {
    "svg.hashsalt": "analogyqa",
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(_INKED, INK),
    "grid.color": f"{INK}4d",  # the same transparency in three dimensions
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
}
# Browsers that pass the colour scheme of a page on to its pictures. The others show what is legible
# on both, and so are these colours on a page that is light all the same.
_BRIGHTER = "@media (prefers-color-scheme: dark) {svg {filter: brightness(1.2)}}"
BAND = {"color": INK, "alpha": 0.15, "linewidth": 0}  # behind rows and intervals
PUBLISHED = ", published"
LETTERS_PER_INCH = 12  # of text of medium size
Files = dict[str, str | Path]  # the paths by format (png, svg)
Look = dict[str, str]  # a colour and a marker


def own_style(**changes: object) -> AbstractContextManager[None]:
    """Draw with Matplotlib's defaults and our style, whatever a matplotlibrc or backend says."""
    return style.context(STYLE | changes, after_reset=True)


def line_style(index: int) -> Look:
    """Return the colour and the marker of a line; no two of the first LINE_STYLES share both."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[(index + index // len(COLOURS)) % len(MARKERS)],
    }


def system_style(name: str, paper: str, config: Config) -> Look:
    """Return the style of a system, which is the same in all figures of a paper."""
    return line_style(_place(name, paper, config))


def line_styles(systems: Sequence[str], paper: str, config: Config) -> list[Look]:
    """Return the style of each line of a figure by its system; lines of one system are numbered.

    Of two systems with the same colour, the one that the paper configures last gets another.
    """
    places = [_place(name, paper, config) for name in systems]
    if len({*places}) == 1:
        places = list(range(len(places)))
    styles: dict[int, Look] = {}
    for line in sorted(range(len(places)), key=places.__getitem__):
        looks = [line_style(places[line] + step) for step in range(LINE_STYLES)]
        unused = [look for look in looks if look not in styles.values()]
        colours = {look["color"] for look in styles.values()}
        new = [look for look in unused if look["color"] not in colours]
        styles[line] = (new or unused or looks)[0]
    return [styles[line] for line in range(len(places))]


def _place(system: str, paper: str, config: Config) -> int:
    """Return the place of a system among those of a paper, which does not depend on the run."""
    known = list(dict.fromkeys([*config.paper_studies(paper).systems, *config.systems]))
    return known.index(system) if system in known else len(known)


def save_figure(figure: Figure, title: str, files: Files) -> None:
    """Add the title and the legend of all panels to a figure, and save it.

    Long lines of the title are wrapped. Labels that end in `PUBLISHED` are in the second column of
    the legend. Equal figures give equal bytes.
    """
    entries: dict[str, Artist] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    if entries:
        labels = sorted(entries, key=lambda label: label.endswith(PUBLISHED))
        handles = [entries[label] for label in labels]
        for columns in (2, 1):  # one if two are wider than the figure
            legend = figure.legend(
                handles, labels, loc="outside lower center", ncols=columns, frameon=False
            )
            if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
                break
            legend.remove()
    width = int(figure.get_figwidth() * LETTERS_PER_INCH)
    lines = [part for line in title.split("\n") for part in textwrap.wrap(line, width)]
    figure.suptitle("\n".join(lines), x=0.02, horizontalalignment="left", fontsize="medium")
    for kind, path in files.items():
        write_figure(figure, kind, path)


def write_figure(figure: Figure, kind: str, path: str | Path) -> None:
    """Write a figure as `kind`, svg or png, without the date and the version of Matplotlib."""
    if kind == "svg":
        write_text(path, svg_text(figure))
    else:
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind, dpi=200, metadata={"Software": None})


def svg_text(figure: Figure) -> str:
    """Return a figure as SVG, transparent, and brighter on a dark page."""
    file = io.StringIO()
    metadata = {"Date": None, "Creator": None}
    figure.savefig(file, format="svg", transparent=True, metadata=metadata)
    return file.getvalue().replace("</style>", f"{_BRIGHTER}</style>", 1)
