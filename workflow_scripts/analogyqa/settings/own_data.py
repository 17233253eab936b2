"""Tables and figures of data sets that are in no paper."""

from collections.abc import Sequence

from analogyqa.measures import MEASURES
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import OWN, Artefact, Paper
from analogyqa.settings.where import Where


def paper_of_own_data(titles: dict[str, str], subsets: Sequence[str], systems: dict[str, str],
                      measure: str) -> Paper | None:  # fmt: skip
    """Return a paper that is none: a table and a figure for each data set that no paper has.

    Args:
        titles: data set to its title.
        subsets: that are shown, beside `all`.
        systems: system to its title.
        measure: that is shown.
    """
    places = {name.capitalize(): Where(subset=name) for name in (*subsets, ALL)}
    shared = [title for title in systems.values() if list(systems.values()).count(title) > 1]
    rows = {
        f"{title} ({name})" if title in shared else title: Where(system=name)
        for name, title in systems.items()
    }
    artefacts = {}
    for number, (dataset, title) in enumerate(titles.items(), 1):
        cells = Where(dataset=dataset, measure=measure)
        shown = {"title": f"{title}: {MEASURES[measure].title.lower()}", "cells": cells}
        artefacts[f"table{number}"] = Artefact(**shown, columns=places, rows=rows)
        x = {"subset": [*subsets, ALL]}
        artefacts[f"figure{number}"] = Artefact(**shown, x=x, lines=rows)
    citation = "Data sets of the configuration that are in no paper: nothing is published."
    return Paper(paper=OWN, citation=citation, artefacts=artefacts) if artefacts else None
