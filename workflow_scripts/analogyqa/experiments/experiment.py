"""A run as a whole: its checked configuration, its papers, what can be had here, and its cells."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from analogyqa.availability import Availability
from analogyqa.experiments.patterns import one_of
from analogyqa.folders import require_writable
from analogyqa.plan import (
    Cell,
    all_cells,
    all_costs,
    cross_validation_cells,
    dataset_question_types,
    load_papers,
    sensitivity_cells,
)
from analogyqa.runs.depends_on import content_hash
from analogyqa.settings.left_out import leave_out
from analogyqa.settings.load import REPOSITORY, Origin, load_config
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.sources.registry import Source, load_registry, mirrors_from
from analogyqa.sources.verify import is_placed_by_hand

# What no number or caption depends on: where files lie, what machine there is.
_NOT_REPORTED = {"resources_dir", "mirrors", "tracking_uri", "device", "papers", "studies"}


@dataclass(frozen=True)
class Experiment:
    """What is run.

    Attributes:
        config: without what cannot be had here.
        papers: by name.
        registry: the sources by name.
        available: the files behind the configuration.
        mirrors: folders that may have sources.
        cells: those of the papers, without sensitivity.
        sensitivity, cross_validation: paper to the cells of its study, for papers that have it.
    """

    config: Config
    papers: dict[str, Paper]
    registry: dict[str, Source]
    available: Availability
    mirrors: list[Path]
    cells: list[Cell]
    sensitivity: dict[str, list[Cell]]
    cross_validation: dict[str, list[Cell]]

    @property
    def results(self) -> str:
        return self.config.output_dir

    @property
    def resources(self) -> str:
        return self.config.resources_dir

    @cached_property
    def source_of_file(self) -> dict[str, str]:
        """The file of a source, below `resources`, to its name."""
        return {source.file: name for name, source in self.registry.items()}

    @cached_property
    def placed_by_hand(self) -> set[str]:
        """The files of sources that the user placed in `resources`."""
        sources = self.registry.values()
        return {source.file for source in sources if is_placed_by_hand(source, self.resources)}

    @cached_property
    def all_cells(self) -> list[Cell]:
        varied = (cell for cells in self.sensitivity.values() for cell in cells)
        return list(dict.fromkeys([*self.cells, *varied]))

    @cached_property
    def question_types(self) -> dict[str, dict[str, list[str]]]:
        """Data set to its question types with their words."""
        return {
            name: dataset_question_types(self.config, self.papers, self.all_cells, name)
            for name in self.config.datasets
        }

    @cached_property
    def costs(self) -> dict[tuple[str, str], list[str]]:
        """(Data set, subset) to the systems whose costs tables and claims show."""
        return all_costs(self.config, self.papers)

    @cached_property
    def reported(self) -> str:
        """The hash of what numbers and captions depend on; Snakemake prints what has changed."""
        return content_hash(
            [
                self.config.model_dump(mode="json", exclude=_NOT_REPORTED),
                {name: own.model_dump(mode="json") for name, own in self.config.studies.items()},
                {name: own.model_dump(mode="json") for name, own in self.papers.items()},
            ]
        )

    @cached_property
    def ranked_datasets(self) -> str:
        """The pattern of the data sets whose candidates are ranked."""
        return one_of(name for name, own in self.config.datasets.items() if not own.gives_relations)

    @cached_property
    def analogy_datasets(self) -> str:
        """The pattern of the data sets whose analogies are solved."""
        return one_of(name for name, own in self.config.datasets.items() if own.gives_relations)


def load_experiment(
    values: dict,
    given: Sequence[Origin] = (),
    environ: Mapping[str, str] = os.environ,
    repository: Path = REPOSITORY,
) -> Experiment:
    """Check a configuration, and find out what of it can be run here.

    Args:
        values: of all configuration files and the command line.
        given: as in `load_config`, for messages.
        environ: names further mirrors.
        repository: the checkout, with sources.yaml and papers/.

    Raises AnalogyQAError for a wrong key, a folder that cannot be written, and data that are not
    here and nowhere to be downloaded.
    """
    papers = repository / "papers"
    config = load_config(values, "config", given, papers)
    require_writable(config.output_dir)
    require_writable(Path(".snakemake").absolute(), "Snakemake's own files")
    registry = load_registry(repository / "sources.yaml")
    mirrors = mirrors_from(config.mirrors, environ)
    asking = load_papers(config, papers).values()
    available = Availability(config, registry, config.resources_dir, mirrors, asking)
    config = leave_out(config, available.reasons)
    by_name = load_papers(config, papers)
    studies = config.studies.items()
    return Experiment(
        config,
        by_name,
        registry,
        available,
        mirrors,
        all_cells(config, by_name),
        {
            name: _once(sensitivity_cells(config, name).values())
            for name, study in studies
            if study.sensitivity and study.sensitivity.systems
        },
        {
            name: _once(
                cell for cells in cross_validation_cells(config, name).values() for cell in cells
            )
            for name, study in studies
            if study.cross_validation and study.cross_validation.systems
        },
    )


def _once(cells: Iterable[Cell]) -> list[Cell]:
    return list(dict.fromkeys(cells))
