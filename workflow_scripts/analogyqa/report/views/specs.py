"""The views."""

from dataclasses import dataclass
from typing import Literal

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class ViewSpec(Plugin):
    """A view: `show(panels, view, config)` returns `views.show.ViewContent`, a figure or a table.

    Args:
        reads: The table that it reads for each panel: what the encoder of a cell makes of the test
            split (`inside`), the prototypes that decide in a cell (`decisions`), or a `corpus`.
        is_figure: It is drawn.
        is_explained: The report explains the decisions that it shows, with a picture of each.
        shows_sentences: It shows sentences of the data, which must not be published.
        options: The keys of a section of paper.yaml that this view reads and others do not.
    """

    reads: Literal["inside", "decisions", "corpus"] = "inside"
    is_figure: bool = False
    is_explained: bool = False
    shows_sentences: bool = False
    options: tuple[str, ...] = ()


VIEWS = {
    "projection": ViewSpec("analogyqa.report.views.projection:show", is_figure=True),
    "norms": ViewSpec("analogyqa.report.views.norms:show", is_figure=True),
    "words_by_norm": ViewSpec("analogyqa.report.views.words_by_norm:show", options=("levels",)),
    "pairs_by_norm": ViewSpec(
        "analogyqa.report.views.pairs_by_norm:show", options=("examples",), shows_sentences=True
    ),
    "deciding": ViewSpec("analogyqa.report.views.deciding:show", reads="decisions"),
    "decided": ViewSpec(
        "analogyqa.report.views.decided:show",
        reads="decisions",
        is_explained=True,
        shows_sentences=True,
    ),
    "quotes": ViewSpec("analogyqa.report.views.quotes:show", reads="corpus", options=("quotes",)),
}
