"""The views."""

from dataclasses import dataclass
from typing import Literal

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class ViewSpec(Plugin):
    """A view: a function of (panels, view, config) that returns `views.show.ViewContent`.

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
    "projection": ViewSpec("analogyqa.report.views.inside:show_projection", is_figure=True),
    "norms": ViewSpec("analogyqa.report.views.inside:show_norms", is_figure=True),
    "words_by_norm": ViewSpec("analogyqa.report.views.inside:show_words", options=("levels",)),
    "pairs_by_norm": ViewSpec(
        "analogyqa.report.views.inside:show_pairs", options=("examples",), shows_sentences=True
    ),
    "deciding": ViewSpec("analogyqa.report.views.texts:show_deciding", reads="decisions"),
    "decided": ViewSpec(
        "analogyqa.report.views.texts:show_decided",
        reads="decisions",
        is_explained=True,
        shows_sentences=True,
    ),
    "quotes": ViewSpec(
        "analogyqa.report.views.texts:show_quotes", reads="corpus", options=("quotes",)
    ),
}
