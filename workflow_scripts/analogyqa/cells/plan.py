"""What a run makes: its checked configuration, its papers, the available files, and its cells."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from analogyqa.cells import (
    Cell,
    cross_validation_cells,
    dataset_question_types,
    load_papers,
    paper_coordinates,
    reported_cells,
    sensitivity_cells,
    systems_with_costs,
)
from analogyqa.cells.availability import Availability
from analogyqa.errors import AnalogyQAError
from analogyqa.folders import require_writable
from analogyqa.settings.base import AT
from analogyqa.settings.data import ALL
from analogyqa.settings.load import REPOSITORY, Origin, load_config
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config, leave_out
from analogyqa.settings.vectors import NamedEntities
from analogyqa.sources.registry import Source, is_placed_by_hand, load_registry, mirrors_from


@dataclass(frozen=True)
class Plan:
    """What a run makes."""

    config: Config  # without what cannot run here
    papers: dict[str, Paper]
    registry: dict[str, Source]
    available: Availability  # the files behind the configuration
    mirrors: list[Path]  # folders that may contain sources
    cells: list[Cell]  # of the papers, without those of sensitivity studies

    @cached_property
    def sensitivity(self) -> dict[str, list[Cell]]:
        """The cells of each paper's sensitivity study, for papers that have any."""
        studies = {name: sensitivity_cells(self.config, name) for name in self.config.studies}
        return {name: [*dict.fromkeys(at.values())] for name, at in studies.items() if at}

    @cached_property
    def cross_validation(self) -> dict[str, list[Cell]]:
        """The cells of each paper's cross-validation, for papers that have any."""
        studies = {name: cross_validation_cells(self.config, name) for name in self.config.studies}
        return {name: [*chain(*folds.values())] for name, folds in studies.items() if folds}

    @cached_property
    def cells_with_sensitivity(self) -> list[Cell]:
        """The cells of the papers and of their sensitivity studies."""
        varied = chain.from_iterable(self.sensitivity.values())
        return list(dict.fromkeys([*self.cells, *varied]))

    @cached_property
    def question_types(self) -> dict[str, dict[str, list[str]]]:
        """The question types of each data set, with their words."""
        cells = self.cells_with_sensitivity
        return {
            name: dataset_question_types(self.config, self.papers, cells, name)
            for name in self.config.datasets
        }

    @cached_property
    def costs(self) -> dict[tuple[str, str], list[str]]:
        """The systems whose costs tables and claims show, by (data set, subset)."""
        papers = self.papers.values()
        needed = chain.from_iterable(paper_coordinates(self.config, paper) for paper in papers)
        return systems_with_costs(needed, self.config)

    @property
    def named_entities(self) -> NamedEntities:
        """The section of the configuration that a rewriting needs."""
        if self.config.named_entities is None:
            raise AnalogyQAError("named_entities: a rewriting needs this section; add it")
        return self.config.named_entities

    @cached_property
    def patterns(self) -> dict[str, str]:
        """Regular expressions for wildcards, by what they match."""
        config = self.config
        systems, vectors = config.systems.items(), config.vectors.items()
        analogies = {name for name, at in config.datasets.items() if at.gives_relations}
        trained = {name for name, system in systems if system.trained}
        compares = {name for name, system in systems if system.compares}
        fused = {name for name, system in systems if system.parts}
        sources, folder = self.registry.values(), config.resources_dir
        by_hand = {source.file for source in sources if is_placed_by_hand(source, folder)}
        return {
            "ranked data set": one_of(config.datasets.keys() - analogies),
            "ranked corpus": with_overrides(config.datasets.keys() - analogies),
            "analogy data set": one_of(analogies),
            "trained": one_of(trained),
            "fused": one_of(fused),
            "scored": one_of(config.systems.keys() - trained - fused),
            "compares": one_of(compares),
            "explained": one_of(trained & compares),
            "tuned": one_of(name for name, _ in systems if config.find_selection(name)),
            "fastText": one_of(name for name, section in vectors if section.train_on),
            "word2vec": with_overrides(name for name, section in vectors if section.is_word2vec),
            "fetched file": one_of(self.available.source_names.keys() - by_hand),
            "file by hand": one_of(by_hand),
            # The overrides of a cell before and after its solver.
            "before solver": f"([^/]+{AT})?",
            "after solver": f"({AT}[^/]+)?",
        }

    @property
    def wildcard_constraints(self) -> dict[str, str]:
        """Regular expressions for the wildcards of all rules."""
        config = self.config
        return {
            "dataset": one_of(config.datasets),
            "corpus": with_overrides(config.datasets),
            "category": one_of(config.categories),
            "subset": one_of([*config.subsets, *config.relations, ALL]),
            "overrides": "[^/]+",
            "vectors": with_overrides(config.vectors),
            "sentence_vectors": one_of(config.sentence_vectors),
            "p": r"\d+",
            "number": r"\d+",
            "paper": one_of(self.papers),
            "artefact": r"(table|figure)\d+",
            "rewriting": "entity|prototype_word",
            "per": "pair|question",
        }


def load_plan(
    values: dict, given: Sequence[Origin] = (), environ: Mapping[str, str] = os.environ
) -> Plan:
    """Check the merged values of a configuration, and find out what of it can run here.

    `given` are the files and values that were merged, for messages; `environ` may name mirrors.

    Raises AnalogyQAError for wrong keys, folders that cannot be written to, and missing data that
    cannot be downloaded.
    """
    config = load_config(values, "config", given)
    require_writable(config.output_dir)
    require_writable(Path(".snakemake").absolute(), "Snakemake's own files")
    registry = load_registry(REPOSITORY / "sources.yaml")
    mirrors = mirrors_from(config.mirrors, environ)
    papers = load_papers(config)
    available = Availability(config, registry, config.resources_dir, mirrors, papers.values())
    config = leave_out(config, available.reasons)
    papers = load_papers(config)
    cells = reported_cells(config, papers)
    return Plan(config, papers, registry, available, mirrors, cells)


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression for one of some names; it matches nothing if there are none."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def with_overrides(names: Iterable[str]) -> str:
    """Return a regular expression for one of some names, optionally followed by overrides."""
    return f"({one_of(names)})({AT}[^/]+)?"
