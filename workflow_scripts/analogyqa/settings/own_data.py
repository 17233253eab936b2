"""Tables and figures for the user's own data sets, which are in no paper."""

from analogyqa.measures import ACCURACY, MEASURES
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import OWN, Artefact, Paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import Training

FEW_QUESTIONS = 20  # of the test split, below which a mean and its interval say little


def paper_of_own_data(config: Config) -> Paper | None:
    """Return a pseudo-paper with a table and a figure for each of the user's own data sets.

    Return None if there are no such data sets. Data sets of relations are shown with the accuracy
    on each relation, and other data sets with the default measure on each subset.
    """
    systems = {name: system.title for name, system in config.systems.items()}
    titles = list(systems.values())
    rows = {
        f"{title} ({name})" if titles.count(title) > 1 else title: Coordinates(system=name)
        for name, title in systems.items()
    }
    subsets = config.own_subsets
    artefacts = {}
    for number, name in enumerate(config.outside_papers("datasets"), 1):
        dataset = config.datasets[name]
        measure = ACCURACY if dataset.gives_relations else Training().select_by
        all_subsets = [*(dataset.relations if dataset.gives_relations else subsets), ALL]
        heads = [subset.capitalize() for subset in all_subsets]
        if len({*heads}) < len(heads):
            heads = all_subsets
        columns = {
            head: Coordinates(subset=subset)
            for head, subset in zip(heads, all_subsets, strict=True)
        }
        scores = {
            "title": f"{dataset.title}: {MEASURES[measure].title.lower()}",
            "cells": Coordinates(dataset=name, measure=measure),
        }
        artefacts[f"table{number}"] = Artefact(**scores, columns=columns, rows=rows)
        x = {"subset": all_subsets}
        artefacts[f"figure{number}"] = Artefact(**scores, x=x, lines=rows)
    citation = "Data sets of the configuration that are in no paper: nothing is published."
    return Paper(paper=OWN, citation=citation, artefacts=artefacts) if artefacts else None
