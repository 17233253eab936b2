"""The checked configuration and the functions that the rules share; no rule."""

import os
import re

from snakemake.exceptions import WorkflowError

from analogyqa.availability import Availability
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.folders import require_writable
from analogyqa.plan.solved import of_category
from analogyqa.plan import (
    Cell,
    cells_of,
    cells_of_artefact,
    cells_inside_claims,
    cells_of_claims,
    costed,
    costs_of_claims,
    crossfit_cells,
    load_papers,
    question_types_of,
    run_of,
    selection_cells,
    sensitivity_cells,
    split_corpus,
    systems_that_cost,
    unfolded,
)
from analogyqa.registry import DISTRACTORS, PRETRAINED, READERS, RELATIONS, SOLVERS, VIEWS
from analogyqa.runs.depends_on import code_hash, content_hash
from analogyqa.runs.train import modules_of
from analogyqa.settings.axes import CHOSEN, SETTING, from_text
from analogyqa.settings.data import ALL, relation_files
from analogyqa.settings.load import load_config
from analogyqa.settings.left_out import leave_out
from analogyqa.settings.run import tracking_uri_of
from analogyqa.sources.registry import load_registry, mirrors_from


def checked(function, *arguments):
    """The function's value; what a user can mend stops the workflow before any job."""
    try:
        return function(*arguments)
    except AnalogyQAError as error:
        raise WorkflowError(str(error)) from None


# Snakemake would refuse a broken file without its name.
checked(read_yaml, Path(workflow.basedir, "config.yaml"))


configfile: Path(workflow.basedir, "config.yaml")


# The command line has the last word, then the files that are given, the later before the earlier, then our own.
*FILES, OWN = map(Path, workflow.configfiles)
GIVEN = [dict(workflow.config_settings.config), *reversed(FILES), OWN]
CONFIG = checked(load_config, config, "config", GIVEN)
REGISTRY = checked(load_registry, Path(workflow.basedir, "sources.yaml"))
RESULTS = CONFIG.output_dir
checked(require_writable, RESULTS)
RESOURCES = CONFIG.resources_dir
MIRRORS = mirrors_from(CONFIG.mirrors, os.environ)
SOURCE_OF_FILE = {source.file: name for name, source in REGISTRY.items()}
ASKING = checked(load_papers, CONFIG).values()
AVAILABLE = checked(Availability, CONFIG, REGISTRY, RESOURCES, MIRRORS, ASKING)
CONFIG = checked(leave_out, CONFIG, AVAILABLE.reasons)
PAPERS = checked(load_papers, CONFIG)
CELLS = checked(cells_of, CONFIG, PAPERS)
SENSITIVITY_CELLS = {
    name: list(dict.fromkeys(sensitivity_cells(CONFIG, name).values()))
    for name, study in CONFIG.studies.items()
    if study.sensitivity and study.sensitivity.systems
}
CROSSFIT_CELLS = {
    name: [cell for cells in crossfit_cells(CONFIG, name).values() for cell in cells]
    for name, study in CONFIG.studies.items()
    if study.crossfit and study.crossfit.systems
}
ALL_CELLS = list(
    dict.fromkeys([*CELLS, *(cell for cells in SENSITIVITY_CELLS.values() for cell in cells)])
)
QUESTION_TYPES = {
    name: question_types_of(CONFIG, PAPERS, ALL_CELLS, name) for name in CONFIG.datasets
}
# (Data set, subset) to the systems whose costs the tables show.
COSTS = costed(CONFIG, PAPERS)
# What the numbers and captions depend on. Where files lie and what machine there is do not count. A hash, since
# Snakemake prints params that have changed.
REPORTED = content_hash(
    [
        CONFIG.model_dump(
            mode="json",
            exclude={"resources_dir", "mirrors", "tracking_uri", "device", "papers", "studies"},
        ),
        {name: study.model_dump(mode="json") for name, study in CONFIG.studies.items()},
        {name: paper.model_dump(mode="json") for name, paper in PAPERS.items()},
    ]
)

# Of a job that trains. Only a cluster looks at it; `device: cpu` is for one without GPUs.
GPUS = 0 if CONFIG.device == "cpu" else 1


def growing(first):
    """A need (MB, minutes) that doubles with each attempt at a job that a cluster cut off."""
    return lambda wildcards, attempt: first * 2 ** (attempt - 1)


def one_of(names):
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


# The data sets whose candidates are ranked, and those whose analogies are solved.
RANKED = one_of(name for name in CONFIG.datasets if not CONFIG.datasets[name].solved)
SOLVED = one_of(name for name in CONFIG.datasets if CONFIG.datasets[name].solved)


def vectors_pattern(names):
    """The pattern of names of vectors, with what systems change of them behind a comma."""
    return f"({one_of(names)})(,[^/]+)?"


wildcard_constraints:
    dataset=one_of(CONFIG.datasets),
    corpus=f"({one_of(CONFIG.datasets)})(,[^/]+)?",
    category=one_of(CONFIG.categories),
    subset=one_of([*CONFIG.subsets, *CONFIG.relations, ALL]),
    axes="[^/]+",
    vectors=vectors_pattern(CONFIG.vectors),
    sentence_vectors=one_of(CONFIG.sentence_vectors),
    p=r"\d+",
    paper=one_of(PAPERS),


def records_of_sources(files):
    """The records beside the files that come from sources.yaml; asking for them verifies them."""
    return [f"{file}.source.json" for file in files if file.startswith(f"{RESOURCES}/")]


def vectors_file(name):
    """The file that the corpora's words are looked up in."""
    vectors = CONFIG.vectors_at(name)
    return AVAILABLE.vectors[name][0] if vectors.source else f"{RESULTS}/vectors/trained/{name}.bin"


def corpora_of_vectors(name):
    """The tables whose texts vectors are trained on."""
    vectors = CONFIG.vectors_at(name)
    table = "lemmas/{}/words.parquet" if vectors.lemmas else "corpora/{}.parquet"
    return [f"{RESULTS}/{table.format(dataset)}" for dataset in vectors.corpora]


def corpus_read_by(system, corpus):
    """The table of a corpus as a system reads it."""
    if system.vectors and CONFIG.vectors[system.vectors].lemmas:
        return f"{RESULTS}/lemmas/{corpus}/content.parquet"
    if system.rewriting:
        return f"{RESULTS}/rewritten/{corpus}/{system.rewriting}.parquet"
    return f"{RESULTS}/corpora/{corpus}.parquet"


def corpus_of_vectors(wildcards):
    """The table whose words vectors are selected for."""
    lemmas = CONFIG.vectors_at(wildcards.vectors).lemmas
    table = "lemmas/{}/content.parquet" if lemmas else "corpora/{}.parquet"
    return f"{RESULTS}/{table.format(wildcards.dataset)}"


def named(file):
    """A file as tables and records call it: the source that it is of, or its path."""
    return SOURCE_OF_FILE.get(file.removeprefix(f"{RESOURCES}/"), file)


def split_files(corpus):
    return AVAILABLE.splits[split_corpus(corpus)[0]]


def dataset_of(corpus):
    return CONFIG.dataset_at(*split_corpus(corpus))


def vectors_origin(name):
    """Where vectors come from, as tables and records say it."""
    vectors = CONFIG.vectors_at(name)
    origin = ", ".join(map(named, AVAILABLE.vectors[name.partition(",")[0]]))
    if vectors.corpora:
        lemmas = f", lemmas by {Path(AVAILABLE.lemmas).name}" if vectors.lemmas else ""
        return f"word2vec trained here on {origin}{lemmas}"
    return f"fastText trained here on {origin}" if vectors.train_on else origin


def sentence_vectors_origin(name):
    """Where sentence vectors come from, as tables and records say it."""
    stored, files = CONFIG.sentence_vectors[name], AVAILABLE.sentence_vectors[name]
    weights = ", ".join(map(named, files.get("weights", files.get("name", []))))
    parts = [f"{stored.encoder} {weights}".strip()]
    if stored.train_on:
        trained_on = ", ".join(map(named, files["train_on"]))
        parts.append(f"trained here on {trained_on} ({stored.lstm_dim} per direction)")
    if stored.vectors:
        parts.append(f"vectors {vectors_origin(stored.vectors)}")
    return ", ".join(parts)


def vectors_of(name):
    return CONFIG.sentence_vectors[name].vectors


def lowercase_of_sentences(name):
    return CONFIG.lowercase_of(CONFIG.sentence_vectors[name])


def inference_files(name):
    files = AVAILABLE.sentence_vectors[name]
    return [*files["train_on"], *files["dev_on"]]


def name_of_weights(name):
    """The name of a model that is installed, where there is no file of weights."""
    return AVAILABLE.sentence_vectors[name].get("name", [None])[0]


def encoder_inputs(name):
    """The weights and word vectors of a pre-trained encoder, where it reads such."""
    files, inputs = AVAILABLE.sentence_vectors[name], {}
    if CONFIG.sentence_vectors[name].train_on:
        inputs["weights"] = f"{RESULTS}/sentence_vectors/trained/{name}.pt"
    elif "weights" in files:
        inputs["weights"] = files["weights"][0]
    if vectors_of(name):
        inputs["vectors"] = vectors_file(vectors_of(name))
    sources = [*inputs.values(), *files.get("files", [])]
    return inputs | {"files": files.get("files", []), "sources": records_of_sources(sources)}


def entity_patterns():
    """The model of named entities where it is a file: a package or a folder is no input."""
    model = AVAILABLE.entities
    return [model] if model and os.path.isfile(model) else []


def code_of(script, *modules):
    """The hash of the library's code that a script runs, with the modules that it loads by name."""
    return code_hash(Path(workflow.basedir, "workflow_scripts", f"{script}.py"), *modules)


def view_modules(paper, name):
    """The module that a view is made by; none of another table or figure."""
    views = PAPERS[paper].views
    return [VIEWS[views[name].view].module] if name in views else []


def pretrained_module(name):
    return PRETRAINED[CONFIG.sentence_vectors[name].encoder].module


def reader_module(corpus):
    return READERS[dataset_of(corpus).reader].module


def lowercase_of_vectors(name):
    return CONFIG.lowercase_of(CONFIG.vectors_at(name))


def types_of(wildcards):
    return CONFIG.types_of(wildcards.subset)


def typed_only(dataset):
    """Whether no cell of a data set ranks questions without a type."""
    return all(cell.subset != ALL for cell in ALL_CELLS if cell.dataset == dataset)


def types_of_corpus(wildcards):
    return QUESTION_TYPES[split_corpus(wildcards.corpus)[0]]


def cell_of(wildcards):
    axes = from_text(wildcards.axes)
    return Cell(wildcards.system, wildcards.dataset, wildcards.subset, axes)


def system_of(wildcards):
    return CONFIG.system_at(wildcards.system, cell_of(wildcards).axes)


def lowercase_of(wildcards):
    return lowercase_of_system(system_of(wildcards))


def lowercase_of_system(system):
    """Whether the words of a system are lower-cased: as its vectors are."""
    return lowercase_of_vectors(system.vectors) if system.vectors else CONFIG.lowercase


def relation_files_of(dataset):
    """Category to its file, of those that a data set has and that can be made here."""
    own = CONFIG.datasets[dataset]
    if own.test:
        return {path.stem: str(path) for path in relation_files(Path(own.test[0]))}
    had = [name for name in own.categories if of_category(name) not in CONFIG.left_out]
    return {name: f"{RESULTS}/analogies/{name}.parquet" for name in had}


def sources_of_relations(dataset):
    """What relations were made of, for the records of runs."""
    if CONFIG.datasets[dataset].test:
        return {"test": str(CONFIG.datasets[dataset].test[0])}
    kinds = [AVAILABLE.categories[name] for name in relation_files_of(dataset)]
    files = dict.fromkeys(file for own in kinds for each in own.values() for file in each)
    return {"test": f"induced-here, {', '.join(map(named, files))}"}


def solving_axes(wildcards):
    """The axes of a job that solves, which has every solver."""
    return from_text(f"{wildcards.before}solver={next(iter(SOLVERS))}{wildcards.after}")


def solving_system(wildcards):
    return CONFIG.system_at(wildcards.system, solving_axes(wildcards))


def solving_inputs(wildcards):
    """The sentences of a data set, and the vectors that a system has of their words or of them."""
    system, dataset = solving_system(wildcards), wildcards.dataset
    inputs = {"corpus": f"{RESULTS}/corpora/{dataset}.parquet"}
    if system.vectors:
        inputs["vectors"] = f"{RESULTS}/vectors/{dataset}/{system.vectors}.npy"
    if system.sentence_vectors:
        stored = AVAILABLE.first_of(system.sentence_vectors)
        inputs["sentence_vectors"] = f"{RESULTS}/sentence_vectors/{dataset}/{stored}.npy"
    return inputs


def sources_of(wildcards):
    """What a run was made of, for its record."""
    sources = {split: named(file) for split, file in split_files(wildcards.dataset).items()}
    if system_of(wildcards).rewriting:
        sources["entities"] = Path(AVAILABLE.entities).name
    return sources


def trainings_of(wildcards):
    """Setting to the section of the system: one, or all those that the chosen may turn out to be."""
    choices = CONFIG.choices_of(wildcards.system, cell_of(wildcards).axes)
    return {name: CONFIG.system_at(wildcards.system, axes) for name, axes in choices.items()}


def settings_of(wildcards):
    return {
        name: system.model_dump(exclude={"title"})
        for name, system in trainings_of(wildcards).items()
    }


def prototype_files(corpus, subset, seeds=CONFIG.all_seeds):
    folder = f"{RESULTS}/prototypes/{corpus}/{subset}"
    return [f"{folder}/seed{seed}.parquet" for seed in seeds]


def seeds_of(wildcards):
    cell = cell_of(wildcards)
    return CONFIG.seeds_at(cell.subset, cell.axes)


def cell_inputs(wildcards):
    """The tables that a cell is made of; a list has one file for each seed."""
    cell, system, seeds = cell_of(wildcards), system_of(wildcards), seeds_of(wildcards)
    inputs = {"corpus": corpus_read_by(system, cell.corpus)}
    if system.vectors:
        inputs["vectors"] = f"{RESULTS}/vectors/{cell.dataset}/{system.word_vectors}.npy"
    if system.sentence_vectors:
        stored = AVAILABLE.first_of(system.sentence_vectors)
        inputs["sentence_vectors"] = f"{RESULTS}/sentence_vectors/{cell.corpus}/{stored}.npy"
    folder = f"{RESULTS}/quadruples/{cell.corpus}/{cell.subset}/p{system.p}"
    if system.needs_prototypes:
        inputs["prototypes"] = prototype_files(cell.corpus, cell.subset, seeds)
    if system.trained:
        for each in filter(
            lambda each: each.learns_from_quadruples, trainings_of(wildcards).values()
        ):
            stem = each.training.negatives.file_stem
            inputs[stem] = [f"{folder}/seed{seed}/{stem}.parquet" for seed in seeds]
    if system.compares:
        for split in ("dev", "test"):
            inputs[split] = [f"{folder}/seed{seed}/{split}.parquet" for seed in seeds]
    if (SETTING, CHOSEN) in cell.axes:
        inputs["selection"] = f"{RESULTS}/selection/{cell.system}/{cell.dataset}.json"
    return inputs


def systems_of_cost(wildcards):
    return {name: CONFIG.systems[name] for name in COSTS[wildcards.dataset, wildcards.subset]}


def cost_inputs(wildcards):
    """The corpus, and the vectors of the systems whose costs are measured on it."""
    vectors = {system.vectors for system in systems_of_cost(wildcards).values()}
    folder = f"{RESULTS}/vectors/{wildcards.dataset}"
    corpus = {"corpus": f"{RESULTS}/corpora/{wildcards.dataset}.parquet"}
    return corpus | {name: f"{folder}/{name}.npy" for name in sorted(vectors)}


def histories_of_settings(wildcards):
    cells = selection_cells(CONFIG, wildcards.system, wildcards.dataset)
    return {name: f"{RESULTS}/runs/{cell.path}/history.parquet" for name, cell in cells.items()}


def runs_of(cells):
    """The folders of the runs that hold cells, once each."""
    return list(dict.fromkeys(f"{RESULTS}/runs/{run_of(CONFIG, cell).path}" for cell in cells))


def metrics_of(cells):
    return [f"{run}/metrics.parquet" for run in runs_of(cells)]


def histories_of(cells):
    """The histories of those cells that are trained."""
    trained = [cell for cell in cells if CONFIG.systems[cell.system].trained]
    trained = [cell for cell in trained if not CONFIG.datasets[cell.dataset].solved]
    return [f"{RESULTS}/runs/{cell.path}/history.parquet" for cell in trained]


def records_of(cells):
    return [f"{run}/run.json" for run in runs_of(cells)]


def insides_of(cells):
    return [f"{RESULTS}/runs/{cell.path}/inside.parquet" for cell in cells]
