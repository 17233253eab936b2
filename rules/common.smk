"""The checked configuration and the functions that the rules share; no rule."""

import os
import re

from snakemake.exceptions import WorkflowError

from analogyqa.checkpoints import require_writable
from analogyqa.config import (
    CHOSEN,
    PAPER,
    SETTING_SEPARATOR,
    leave_out,
    load_config,
    selection_cells,
    tracking_uri_of,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import SPLITS
from analogyqa.sources import UnavailableError, first_available, load_registry, mirrors_from


def checked(function, *arguments):
    """The function's value; what a user can mend stops the workflow before any job."""
    try:
        return function(*arguments)
    except AnalogyQAError as error:
        raise WorkflowError(str(error)) from None


def file_of(alternatives):
    """The file of the first available alternative: a path as it is, a source in resources/."""
    paths = [name for name in alternatives if "/" in name]
    sources = [name for name in alternatives if name not in paths]
    for path in paths:
        if not os.path.exists(path):
            raise AnalogyQAError(f"{path}: no such file. Correct the path in the configuration.")
    if alternatives[0] in paths:
        return alternatives[0]
    try:
        source = first_available(sources, REGISTRY, RESOURCES, MIRRORS)
    except UnavailableError:
        if paths:
            return paths[0]
        raise
    return f"{RESOURCES}/{REGISTRY[source].file}"


def files_of_splits(dataset):
    return {split: file_of(getattr(dataset, split)) for split in SPLITS}


def files_of_vectors(vectors):
    """The file of vectors, or the texts to train them on, of which all are needed."""
    if vectors.source:
        return [file_of(vectors.source)]
    return [file_of([text]) for text in vectors.train_on]


def available_vectors():
    """Vectors to their files, and those that cannot be had to the reason."""
    files, reasons = {}, {}
    for name, vectors in CONFIG.vectors.items():
        try:
            files[name] = files_of_vectors(vectors)
        except UnavailableError:
            wanted = [REGISTRY[source].file for source in vectors.source or vectors.train_on]
            reasons[name] = (
                f"the vectors {name} are neither here nor on the web; "
                f"drop in {' or '.join(wanted)}"
            )
    return files, reasons


CONFIG = checked(load_config, config)
REGISTRY = checked(load_registry, Path(workflow.basedir, "sources.yaml"))
RESULTS = CONFIG.output_dir
checked(require_writable, RESULTS)
RESOURCES = CONFIG.resources_dir
MIRRORS = mirrors_from(CONFIG.mirrors, os.environ)
SOURCE_OF_FILE = {source.file: name for name, source in REGISTRY.items()}
SPLIT_FILES = {name: checked(files_of_splits, dataset) for name, dataset in CONFIG.datasets.items()}
VECTORS_FILES, UNAVAILABLE_VECTORS = checked(available_vectors)
CONFIG = checked(leave_out, CONFIG, UNAVAILABLE_VECTORS)
CORPORA = expand("{results}/corpora/{dataset}.parquet", results=RESULTS, dataset=CONFIG.datasets)
PAPERS = ["diallo2019"]


def one_of(names):
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


wildcard_constraints:
    dataset=one_of(CONFIG.datasets),
    subset=one_of(CONFIG.subsets),
    vectors=one_of(CONFIG.vectors),
    p=r"\d+",
    paper=one_of(PAPERS),


def records_of_sources(files):
    """The records beside the files that come from sources.yaml; asking for them verifies them."""
    return [f"{file}.source.json" for file in files if file.startswith(f"{RESOURCES}/")]


def vectors_file(name):
    """The file that the corpora's words are looked up in."""
    trained = CONFIG.vectors[name].train_on
    return f"{RESULTS}/vectors/trained/{name}.bin" if trained else VECTORS_FILES[name][0]


def named(file):
    """A file as tables and records call it: the source that it is of, or its path."""
    return SOURCE_OF_FILE.get(file.removeprefix(f"{RESOURCES}/"), file)


def sources_of(dataset):
    return {split: named(file) for split, file in SPLIT_FILES[dataset].items()}


def vectors_origin(name):
    """Where vectors come from, as tables and records say it."""
    origin = ", ".join(map(named, VECTORS_FILES[name]))
    return f"fastText trained here on {origin}" if CONFIG.vectors[name].train_on else origin


def is_trained(model_id):
    return CONFIG.models[name_of(model_id)].trained


def name_of(model_id):
    return model_id.partition(SETTING_SEPARATOR)[0]


def setting_of(model_id):
    return model_id.partition(SETTING_SEPARATOR)[2] or PAPER


def all_model_ids():
    return {cell.model for cell in CONFIG.cells()}


def scientific(model_id):
    return CONFIG.models[name_of(model_id)].scientific()


def trainings_of(model_id):
    """Setting name to training section: one, or all those that `+chosen` may turn out to be."""
    setting = setting_of(model_id)
    names = CONFIG.settings if setting == CHOSEN else [setting]
    return {name: CONFIG.training_of(name).model_dump() for name in names}


def prototype_files(dataset, subset):
    folder = f"{RESULTS}/prototypes/{dataset}/{subset}"
    return [f"{folder}/seed{seed}.parquet" for seed in CONFIG.seeds]


def cell_inputs(wildcards):
    """The tables that a cell is made of; a list has one file for each seed."""
    model = CONFIG.models[name_of(wildcards.model)]
    dataset, subset = wildcards.dataset, wildcards.subset
    inputs = {"corpus": f"{RESULTS}/corpora/{dataset}.parquet"}
    if model.vectors:
        inputs["vectors"] = f"{RESULTS}/vectors/{model.vectors}.npy"
    folder = f"{RESULTS}/quadruples/{dataset}/{subset}/p{wildcards.p}"
    if model.needs_prototypes:
        inputs["prototypes"] = prototype_files(dataset, subset)
    if model.trained:
        for training in map(CONFIG.training_of, trainings_of(wildcards.model)):
            name = training.negatives.file_stem
            inputs[name] = [f"{folder}/seed{seed}/{name}.parquet" for seed in CONFIG.seeds]
    if model.ranker == "analogy":
        for split in ("dev", "test"):
            inputs[split] = [f"{folder}/seed{seed}/{split}.parquet" for seed in CONFIG.seeds]
    if setting_of(wildcards.model) == CHOSEN:
        inputs["selection"] = f"{RESULTS}/selection/{name_of(wildcards.model)}/{dataset}.json"
    return inputs


def histories_of_settings(wildcards):
    cells = selection_cells(CONFIG, wildcards.model, wildcards.dataset)
    return {
        setting: f"{RESULTS}/runs/{cell.path}/history.parquet" for setting, cell in cells.items()
    }


def metrics_of(cells):
    return [f"{RESULTS}/metrics/{cell.path}.parquet" for cell in cells]


def records_of(cells):
    return [f"{RESULTS}/runs/{cell.path}/run.json" for cell in cells]


def tables_and_figures():
    tables = expand(
        "{results}/tables/{paper}/table{number}.{format}",
        results=RESULTS,
        paper=PAPERS,
        number=[2, 3, 4, 5],
        format=["csv", "md", "tex"],
    )
    figures = expand(
        "{results}/figures/{paper}/figure{number}.{format}",
        results=RESULTS,
        paper=PAPERS,
        number=[6, 7],
        format=["png", "svg", "csv"],
    )
    return tables + figures
