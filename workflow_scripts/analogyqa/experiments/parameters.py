"""The parameters of each job: the hash of its code, and values of the configuration.

Each method is named after its rule. Snakemake reruns the jobs whose parameters have changed.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from analogyqa.analogies.specs import DISTRACTORS, RELATIONS, SOLVERS
from analogyqa.cells import selection_cells, split_corpus
from analogyqa.cells.configured import configured_cell
from analogyqa.experiments.inputs import Inputs
from analogyqa.experiments.vector_inputs import Wildcards
from analogyqa.experiments.vector_parameters import Values, VectorParameters, script_hash
from analogyqa.runs.depends_on import LIBRARY, content_hash, sha256
from analogyqa.runs.train import plugin_code, selecting_measures
from analogyqa.settings.data import ALL
from analogyqa.settings.systems import System
from analogyqa.settings.tracking import resolve_tracking_uri

# Packages and modules whose decisions reach other jobs as parameters, and which `code_hash`
# therefore leaves out, at least in part. Reports call them.
_REPORTS_DECIDE_BY = ("measures", "cells", "settings", "tasks")


class Parameters(VectorParameters):
    """The parameter functions of the rules.

    Args:
        inputs: The input functions of the same experiment.
        command: The command that makes the results, for the report.
    """

    def __init__(self, inputs: Inputs, command: str = "") -> None:
        super().__init__(inputs)
        self.command = command

    # Prototypes and quadruples

    def choose_prototypes(self, wildcards: Wildcards) -> Values:
        choice = self.config.dataset_at(*split_corpus(wildcards.corpus)).prototype_choice
        return self._of_subset("choose_prototypes", wildcards) | {"choice": choice}

    def build_training_quadruples(self, wildcards: Wildcards) -> Values:
        return self._of_subset("build_quadruples", wildcards) | {"splits": ["train"]}

    def build_evaluation_quadruples(self, wildcards: Wildcards) -> Values:
        return self._of_subset("build_quadruples", wildcards) | {"splits": ["dev", "test"]}

    def _of_subset(self, script: str, wildcards: Wildcards) -> Values:
        types = self.config.types_of(wildcards.subset)
        return {"code": script_hash(script), "seeds": self.config.all_seeds, "types": types}

    # Cells

    def train_encoder(self, wildcards: Wildcards) -> Values:
        return {
            **self._of_trained("train_encoder", wildcards),
            "sources": self._sources_of_cell(wildcards),
            "configured": self._configured(wildcards),
        }

    def keep_weights(self, wildcards: Wildcards) -> Values:
        return self._of_trained("keep_weights", wildcards)

    def look_inside(self, wildcards: Wildcards) -> Values:
        values = self._of_trained("look_inside", wildcards)
        return values | {"seeds": values["seeds"][:1]}

    def find_decisions(self, wildcards: Wildcards) -> Values:
        return self._of_cell("find_decisions", wildcards)

    def explain_examples(self, wildcards: Wildcards) -> Values:
        values = self._of_trained("explain_examples", wildcards)
        return values | {"seeds": values["seeds"][:1]}

    def _of_trained(self, script: str, wildcards: Wildcards) -> Values:
        systems = self.inputs.job_systems(wildcards)
        return {
            **self._of_cell(script, wildcards),
            "systems": _without_titles(systems),
            "selected_by": [selecting_measures(system) for system in systems.values()],
            "lowercase": self._lowercase_of(self.inputs.job_system(wildcards)),
        }

    def score_candidates(self, wildcards: Wildcards) -> Values:
        system = self.inputs.job_system(wildcards)
        return {
            **self._of_cell("score_candidates", wildcards),
            "system": system.model_dump(exclude={"title", "training"}),
            "sources": self._sources_of_cell(wildcards),
            "lowercase": self._lowercase_of(system),
            "configured": self._configured(wildcards),
        }

    def fuse_scores(self, wildcards: Wildcards) -> Values:
        system = self.inputs.job_system(wildcards)
        return {
            **self._of_cell("fuse_scores", wildcards),
            "system": system.model_dump(exclude={"title", "training"}),
            "parts": list(self.inputs.job_parts(wildcards)),
            "configured": self._configured(wildcards),
        }

    def _of_cell(self, script: str, wildcards: Wildcards) -> Values:
        cell = self.inputs.job_cell(wildcards)
        return {
            "code": script_hash(script, *plugin_code(self.inputs.job_system(wildcards))),
            "types": self.config.types_of(cell.subset),
            "seeds": self.config.seeds_at(cell.subset, cell.overrides),
        }

    def _configured(self, wildcards: Wildcards) -> Values:
        return configured_cell(self.config, self.inputs.job_cell(wildcards))

    def _sources_of_cell(self, wildcards: Wildcards) -> dict[str, str]:
        files = self.available.splits[wildcards.dataset]
        sources = {split: self.inputs.origin_of_files(paths) for split, paths in files.items()}
        if self.inputs.job_system(wildcards).rewriting:
            sources["entities"] = Path(self.available.entities).name
        return sources

    def _lowercase_of(self, system: System) -> bool:
        """Return whether the words of a system are lower-cased, as those of its vectors are."""
        name = system.vectors
        return self.lowercase_of_vectors(name) if name else self.config.lowercase

    def choose_hyperparameters(self, wildcards: Wildcards) -> Values:
        cells = selection_cells(self.config, wildcards.system, wildcards.dataset)
        return {
            "code": script_hash("choose_hyperparameters"),
            "names": list(cells),
            "subset": next(iter(cells.values())).subset,
            "measure": self.config.systems[wildcards.system].training.select_by,
        }

    def measure_costs(self, wildcards: Wildcards) -> Values:
        systems = self.inputs.costed_systems(wildcards)
        modules = [module for system in systems.values() for module in plugin_code(system)]
        return {
            "code": script_hash("measure_costs", *modules),
            "types": self.config.types_of(wildcards.subset),
            "systems": _without_titles(systems),
            "lowercase": {name: self._lowercase_of(system) for name, system in systems.items()},
        }

    # Analogies of sentences

    def induce_category(self, wildcards: Wildcards) -> Values:
        category = self.config.categories[wildcards.category]
        modules = [RELATIONS[rule].definition for rule in category.rule]
        modules += [entry.definition for entry in DISTRACTORS.values()]
        return {
            "code": script_hash("induce_category", *modules),
            "category": category.model_dump(exclude={"title"}),
            "model": self.model_names(self.config.parser) if category.parses else [],
            "seed": self.config.seeds[0],
        }

    def join_relations(self, wildcards: Wildcards) -> Values:
        known = self.config.categories
        names = self.inputs.relations(wildcards.corpus)
        titles = {name: known[name].title if name in known else name for name in names}
        return {"code": script_hash("join_relations"), "titles": titles}

    def solve_analogies(self, wildcards: Wildcards) -> Values:
        system, training = self.inputs.solving_job(wildcards)
        modules = [*plugin_code(system), *(entry.definition for entry in SOLVERS.values())]
        at = (training.subset, training.overrides) if training else (ALL, ())
        excluded = {"title"} if system.trained else {"title", "training"}
        cells = self.inputs.solving_cells(wildcards)
        configured = {name: configured_cell(self.config, cell) for name, cell in cells.items()}
        return {
            "code": script_hash("solve_analogies", *modules),
            "system": system.model_dump(exclude=excluded),
            "seeds": self.config.seeds_at(*at),
            "evaluation": next(iter(configured.values()))["evaluation"],  # that of all solvers
            "sources": self._sources_of_solving(wildcards),
            "lowercase": self._lowercase_of(system),
            "configured": configured,
        }

    def _sources_of_solving(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the origins of the relations and of the data that the encoder was trained on."""
        _, training = self.inputs.solving_job(wildcards)
        files = self.available.splits[training.dataset] if training else {}
        trained_on = {
            split: self.inputs.origin_of_files(files[split])
            for split in ("train", "dev")
            if split in files
        }
        dataset = self.config.datasets[wildcards.dataset]
        if dataset.folder:
            return trained_on | {"test": dataset.folder}
        files = dict.fromkeys(
            file
            for name in self.inputs.relations(wildcards.dataset)
            for alternatives in self.available.categories[name].values()
            for file in alternatives
        )
        return trained_on | {"test": f"induced-here, {self.inputs.origin_of_files(files)}"}

    # Reports

    def report(self, script: str) -> Values:
        """Return the parameters of a script that reports on results."""
        return {
            "code": script_hash(script),
            "decisions": _package_hash(*_REPORTS_DECIDE_BY),
            "config": self.experiment.reported,
            "left_out": self.config.left_out,
        }

    def render_table(self, wildcards: Wildcards) -> Values:
        return self._artefact("render_table", wildcards.paper, f"table{wildcards.number}")

    def draw_figure(self, wildcards: Wildcards) -> Values:
        return self._artefact("draw_figure", wildcards.paper, f"figure{wildcards.number}")

    def _artefact(self, script: str, paper: str, name: str) -> Values:
        views = self.experiment.papers[paper].views
        modules = [views[name].spec.definition] if name in views else []
        return self.report(script) | {"code": script_hash(script, *modules)}

    def write_report(self) -> Values:
        return self.report("write_report") | {"command": self.command}

    def import_to_mlflow(self) -> Values:
        return self.report("import_to_mlflow") | {"tracking_uri": resolve_tracking_uri(self.config)}


def _without_titles(systems: Mapping[str, System]) -> Values:
    return {name: system.model_dump(exclude={"title"}) for name, system in systems.items()}


@cache
def _package_hash(*names: str) -> str:
    """Return the hash of some modules of the library, and of all modules of some packages."""
    # No lock or copy of an editor.
    paths = [path for path in LIBRARY.rglob("*.py") if path.stem.isidentifier()]
    hashes = {path.relative_to(LIBRARY): sha256(path) for path in paths}
    return content_hash(
        {str(path): own for path, own in hashes.items() if path.with_suffix("").parts[0] in names}
    )
