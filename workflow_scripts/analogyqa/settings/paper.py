"""A paper.yaml: the tables, figures, numbers and claims of a paper."""

import re
from functools import cached_property
from itertools import chain, islice, product
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.measures import ACCURACY, MEASURES, RANKED
from analogyqa.settings.artefacts import (
    CITED,
    Artefact,
    Published,
    ShownName,
    View,
    with_means,
)
from analogyqa.settings.base import Count, Name, Section, explain_error
from analogyqa.settings.coordinates import COST, KINDS, SCORE, Coordinates, require_given
from analogyqa.settings.data import ALL, DATASET_OVERRIDES
from analogyqa.settings.overrides import CONDITIONS
from analogyqa.settings.run import Config
from analogyqa.settings.systems import Training

OURS = "ours"


class Comparison(Section):
    """Two numbers, one of which a claim says is better.

    Higher scores and norms are better; lower costs are better. Numbers on the same subset are
    compared question by question; scores on two subsets are not, since the questions differ.
    """

    better: Coordinates
    """The coordinates of the better number."""
    worse: Coordinates
    """The coordinates of the worse number."""
    cells: Coordinates = Coordinates()
    """The coordinates that both share."""


class Claim(Section):
    """A statement of a paper about its numbers, made of comparisons."""

    claim: str
    """The statement in one sentence."""
    where: str
    """The section or page; `ours`, alone or explained (`ours: a reading of section 3`), if the
    paper does not say it. Our claims are listed and corrected apart."""
    primary: Literal["paper", "cross-validated"] | None = None
    """The protocol of the one judgement that decides a primary claim, fixed before the run: on the
    paper's split, or cross-validated where that split is too small for the published effect. Other
    judgements are its sensitivity. A primary claim is one comparison; null for a secondary one."""
    cells: Coordinates = Coordinates()
    """Coordinates that both sides of every comparison share."""
    needs: Count | None = None
    """How many comparisons must be true; null for all of them."""
    tolerance: float = Field(default=0, ge=0, lt=1)
    """How far the better side of a comparison of scores may lie below the other one."""
    times: float = Field(default=1, ge=1)
    """By which factor the worse side of a comparison of costs must exceed the better one."""
    margin: float | None = Field(default=None, gt=0, lt=1)
    """The equivalence margin; by default half of the printed difference."""
    not_measured: str = ""
    """Why nothing here can measure the claim, instead of comparisons."""
    comparisons: list[Comparison] = []
    """The pairs of numbers."""

    @model_validator(mode="after")
    def _check_comparisons(self) -> "Claim":
        if bool(self.not_measured) == bool(self.comparisons):
            raise ValueError("give comparisons, or say in not_measured why there are none")
        if self.primary and (len(self.comparisons) != 1 or self.kind != SCORE):
            raise ValueError("primary: a primary claim is a single comparison of scores")
        if self.not_measured:
            return self
        for better, worse in self.sides():
            for side in (better, worse):
                require_given(side.system or "comparisons", side.given, KINDS[side.kind].keys)
            if better == worse:
                raise ValueError(f"{better.system} is compared with itself")
            both_need = f"{better.system}, {worse.system}: both sides need the same"
            if better.dataset != worse.dataset:
                raise ValueError(f"{both_need} dataset")
            if better.subset != worse.subset and (self.kind != SCORE or self.primary):
                raise ValueError(
                    f"{both_need} subset, because they are compared question by question; only the "
                    "scores of a secondary claim may be on different subsets"
                )
        kinds = {side.kind for pair in self.sides() for side in pair}
        if len(kinds) > 1:
            raise ValueError(f"all numbers of a claim must be of one kind, not {sorted(kinds)}")
        if self.needed > (most := len(self.comparisons)):
            raise ValueError(f"needs: give at most {most}, the number of comparisons")
        if self.tolerance and self.kind != SCORE:
            raise ValueError("tolerance: this claim compares no scores")
        if self.times > 1 and self.kind != COST:
            raise ValueError("times: this claim compares no costs")
        if any(side.cost == "parameters" for pair in self.sides() for side in pair):
            raise ValueError("cost: parameters are counted, so there is nothing to test")
        return self

    @property
    def kind(self) -> str:
        return self.sides()[0][0].kind if self.comparisons else SCORE

    @property
    def ours(self) -> bool:
        return self.where.partition(":")[0] == OURS

    @property
    def needed(self) -> int:
        return self.needs or len(self.comparisons)

    def sides(self) -> list[tuple[Coordinates, Coordinates]]:
        """Return the full coordinates of the better and the worse side of each comparison.

        Raises ValueError when a key is given twice.
        """
        return [
            (self.cells | at.cells | at.better, self.cells | at.cells | at.worse)
            for at in self.comparisons
        ]


OWN = "own"  # the pseudo-paper with the user's own data sets


class Paper(Section):
    """A paper.yaml in papers/.

    In the file, views are listed among the artefacts; they are those with a key `view`.
    """

    paper: Name
    """The name of the paper, that of its folder."""
    citation: str
    """Authors, year, title and place."""
    question: str = ""
    """What a reader wants to know: the title of the report. By default, whether its results can be
    reproduced."""
    prints_hyperparameters: bool = True
    """Whether the paper prints the hyperparameters of its systems; if not, they are ours."""
    artefacts: Annotated[dict[ShownName, Artefact], AfterValidator(with_means)]
    """The tables and figures."""
    views: dict[ShownName, View] = {}
    claims: dict[Name, Claim] = Field(default={})
    """What the text says about their numbers."""
    main: list[ShownName] = []
    """The tables and figures that its page shows above the folds; by default the first table with
    published scores, and a picture of the run."""
    references: list[Name] = []
    """Strong simple systems, our choice, whose scores stand beside every claim about ranking."""

    @model_validator(mode="before")
    @classmethod
    def _separate_views(cls, values: object) -> object:
        if not isinstance(values, dict) or not isinstance(values.get("artefacts"), dict):
            return values
        views: dict = {}
        others: dict = {}
        for name, section in values["artefacts"].items():
            is_view = isinstance(section, View) or (isinstance(section, dict) and "view" in section)
            (views if is_view else others)[name] = section
        return values | {"artefacts": others} | ({"views": views} if views else {})

    @model_validator(mode="after")
    def _names_match_kinds(self) -> "Paper":
        for name, artefact in self.artefacts.items():
            if name.startswith("figure") != artefact.is_figure:
                raise ValueError(f"artefacts.{name}: a figure has an axis x, and a table has none")
        for name, view in self.views.items():
            if name.startswith("figure") != view.spec.is_figure:
                kind = "figure" if view.spec.is_figure else "table"
                raise ValueError(f"artefacts.{name}: the view {view.view} is a {kind}")
        figures = {name for name in self.views if name.startswith("figure")}
        if unknown := {*self.main} - {*self.artefacts} - figures:
            raise ValueError(f"main: no figure, and no table of numbers: {sorted(unknown)}")
        return self

    @property
    def short_citation(self) -> str:
        """Authors and year, such as "Tay, Tuan and Hui (2018)"."""
        return re.split(r"(?<=\))\.", self.citation)[0]

    @property
    def title(self) -> str:
        """The question."""
        return self.question or f"Can the results of {self.short_citation} be reproduced?"

    @property
    def hyperparameters(self) -> str:
        """What the hyperparameters are that its systems have here, if dev chose none."""
        return ("the paper's" if self.prints_hyperparameters else "our") + " hyperparameters"

    @property
    def tables_and_figures(self) -> list[str]:
        """The names of all tables and figures."""
        return [*self.artefacts, *self.views]

    @property
    def main_tables(self) -> list[str]:
        """The names of the tables that its page shows above the folds."""
        scored = (
            name
            for name, artefact in self.artefacts.items()
            if any(at.kind == SCORE and at.published is not None for at in artefact.numbers())
        )
        return [name for name in self.main if name.startswith("table")] or [*islice(scored, 1)]

    def published_at(self, coordinates: Coordinates) -> float | None:
        """Return the score printed for some coordinates in the first table that has it."""
        return self._printed.get(coordinates.key)

    def competitors(self, coordinates: Coordinates) -> list[float]:
        """Return other values that tables with some coordinates print for other systems.

        They have the same data, measure and conditions. Uncited values that equal the system's do
        not count, because they are often the same system under another name.
        """
        values: list[float | None] = []
        for scores in self._scores:
            printed = {n.published for n in scores if n.coordinates.key == coordinates.key}
            if printed:
                values += [
                    number.published
                    for number in scores
                    if number.coordinates.system != coordinates.system
                    and number.coordinates.agrees_with(coordinates, CONDITIONS)
                    and (number.kind == CITED or number.published not in printed)
                ]
        return [value for value in dict.fromkeys(values) if value is not None]

    def beside(self, claim: Claim) -> list[Coordinates]:
        """Return the coordinates of the references on the data of a claim about ranking.

        Systems that the claim compares are not repeated.
        """
        sides = [side for pair in claim.sides() for side in pair if side.measure in RANKED]
        shared = {"dataset", "subset", "measure", *DATASET_OVERRIDES}
        data = [side.model_dump(include=shared, exclude_unset=True) for side in sides]
        compared = {side.system for side in sides}
        systems = [system for system in self.references if system not in compared]
        references = [Coordinates(system=system, **at) for at in data for system in systems]
        return list({reference.key: reference for reference in references}.values())

    def primary_pairs(self, config: Config) -> dict[str, dict[str, float | None]]:
        """Return the cross-validated pairs that primary claims are about, on several data sets.

        Each pair, by its name, has the margin that the claim on each data set states. The data sets
        are those of the cross-validation and those that the run leaves out.
        """
        study = config.paper_studies(self.paper).cross_validation
        if study is None:
            return {}
        margins: dict[str, dict[str, float | None]] = {name: {} for name in study.pairs}
        decided = [claim for claim in self.claims.values() if claim.primary == "cross-validated"]
        for claim, (name, pair) in product(decided, study.pairs.items()):
            better, worse = claim.sides()[0]
            at = Coordinates(subset=study.subset, measure=study.measures[0])
            at |= Coordinates(dataset=better.dataset)
            is_shown = better.dataset in study.datasets or better.dataset in config.left_out
            if is_shown and [better, worse] == [at | Coordinates(system=side) for side in pair]:
                margins[name][better.dataset] = claim.margin
        return {name: by_dataset for name, by_dataset in margins.items() if len(by_dataset) > 1}

    @cached_property
    def _scores(self) -> list[list[Published]]:
        """The scores of each artefact, with the cited ones."""
        return [
            [number for number in artefact.numbers() if number.kind in (SCORE, CITED)]
            for artefact in self.artefacts.values()
        ]

    @cached_property
    def _printed(self) -> dict[tuple, float]:
        printed: dict[tuple, float] = {}
        for number in chain.from_iterable(self._scores):
            if number.kind == SCORE and number.published is not None:
                printed.setdefault(number.coordinates.key, number.published)
        return printed


def load_paper(path: str | Path) -> Paper:
    """Read the paper.yaml of a paper.

    Raises AnalogyQAError with one line for each wrong or unknown key.
    """
    try:
        return Paper.model_validate(read_yaml(path))
    except ValidationError as error:
        lines = [explain_error(Paper, item) for item in error.errors()]
        # In the file, views are listed among the artefacts.
        lines = [line.replace("views.", "artefacts.", 1) for line in lines]
        raise AnalogyQAError("\n".join(f"{path}: {line}" for line in lines)) from None


FEW_QUESTIONS = 20  # of the test split, below which a mean and its interval say little


def build_own_paper(config: Config) -> Paper | None:
    """Return a pseudo-paper with a table and a figure for each of the user's own data sets, if any.

    They show the accuracy on each relation, or the default measure on each subset.
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
        shown = zip(heads, all_subsets, strict=True)
        columns = {head: Coordinates(subset=subset) for head, subset in shown}
        title = f"{dataset.title}: {MEASURES[measure].title.lower()}"
        scores = {"title": title, "cells": Coordinates(dataset=name, measure=measure)}
        artefacts[f"table{number}"] = Artefact(**scores, columns=columns, rows=rows)
        x = {"subset": all_subsets}
        artefacts[f"figure{number}"] = Artefact(**scores, x=x, lines=rows)
    citation = "Your own data (in no paper). Nothing is published about them."
    question = "Which system does best on your data?"
    if not artefacts:
        return None
    return Paper(paper=OWN, citation=citation, question=question, artefacts=artefacts)
