"""Tables and figures for the user's own data sets, which are in no paper."""

from collections.abc import Mapping, Sequence

from analogyqa.measures import ACCURACY, MEASURES
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import OWN, Artefact, Paper


def paper_of_own_data(
    titles: dict[str, str],
    subsets: Sequence[str],
    systems: dict[str, str],
    measure: str,
    relations: Mapping[str, Sequence[str]],
) -> Paper | None:
    """Return a pseudo-paper with a table and a figure for each of the user's own data sets.

    Return None if there are no such data sets.

    Args:
        titles: The titles of the data sets, by name.
        subsets: The subsets that are shown besides `all`.
        systems: The titles of the systems, by name.
        measure: The measure that is shown for ranked candidates.
        relations: The relations of the data sets on which analogies are solved, by data set. For
            these, the accuracy on each relation is shown.
    """
    shared = [title for title in systems.values() if list(systems.values()).count(title) > 1]
    rows = {
        f"{title} ({name})" if title in shared else title: Coordinates(system=name)
        for name, title in systems.items()
    }
    artefacts = {}
    for number, (dataset, title) in enumerate(titles.items(), 1):
        own_measure = ACCURACY if dataset in relations else measure
        own_subsets = [*relations.get(dataset, subsets), ALL]
        columns = {name.capitalize(): Coordinates(subset=name) for name in own_subsets}
        cells = Coordinates(dataset=dataset, measure=own_measure)
        shown = {"title": f"{title}: {MEASURES[own_measure].title.lower()}", "cells": cells}
        artefacts[f"table{number}"] = Artefact(**shown, columns=columns, rows=rows)
        x = {"subset": own_subsets}
        artefacts[f"figure{number}"] = Artefact(**shown, x=x, lines=rows)
    citation = "Data sets of the configuration that are in no paper: nothing is published."
    return Paper(paper=OWN, citation=citation, artefacts=artefacts) if artefacts else None
