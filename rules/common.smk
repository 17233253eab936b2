"""The checked configuration and the functions that the rules share; no rule."""

import os
import re

from snakemake.exceptions import WorkflowError

from analogyqa.availability import Availability
from analogyqa.encoders.check import check_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.folders import require_writable
from analogyqa.plan import (
    cells_of,
    cells_of_figure,
    cells_of_table,
    selection_cells,
    sensitivity_cells,
)
from analogyqa.registry import ENCODERS, PRETRAINED, READERS
from analogyqa.runs.depends_on import code_hash, content_hash
from analogyqa.settings.paper import load_paper
from analogyqa.settings.run import leave_out, load_config, tracking_uri_of
from analogyqa.settings.studies import CHOSEN, PAPER, join_id, split_id
from analogyqa.sources.registry import load_registry, mirrors_from
from analogyqa.yaml_files import read_yaml


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
AVAILABLE = checked(Availability, CONFIG, REGISTRY, RESOURCES, MIRRORS)
CONFIG = checked(leave_out, CONFIG, AVAILABLE.reasons)
CORPORA = expand("{results}/corpora/{dataset}.parquet", results=RESULTS, dataset=CONFIG.datasets)


def of_the_checkout(path):
    """A file of the checkout: relative to a run inside of it, so that both may move together."""
    inside = Path.cwd().is_relative_to(workflow.basedir)
    whole = Path(workflow.basedir, path)
    return os.path.relpath(whole) if inside else str(whole)


PAPER_FILES = {
    name: of_the_checkout(f"papers/{name}/paper.yaml") for name in ("diallo2019", "lwda2019")
}
PAPERS = {name: checked(load_paper, path) for name, path in PAPER_FILES.items()}
SENSITIVITY_CELLS = list(dict.fromkeys(sensitivity_cells(CONFIG).values()))


# Of a job that trains. Only a cluster looks at it; `device: cpu` is for one without GPUs.
GPUS = 0 if CONFIG.device == "cpu" else 1


def growing(first):
    """A need (MB, minutes) that doubles with each attempt at a job that a cluster cut off."""
    return lambda wildcards, attempt: first * 2 ** (attempt - 1)


def one_of(names):
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


wildcard_constraints:
    dataset=one_of({*CONFIG.datasets, *(cell.dataset for cell in SENSITIVITY_CELLS)}),
    subset=one_of(CONFIG.subsets),
    vectors=one_of(CONFIG.vectors),
    sentence_vectors=one_of(CONFIG.sentence_vectors),
    p=r"\d+",
    paper=one_of(PAPERS),


def records_of_sources(files):
    """The records beside the files that come from sources.yaml; asking for them verifies them."""
    return [f"{file}.source.json" for file in files if file.startswith(f"{RESOURCES}/")]


def vectors_file(name):
    """The file that the corpora's words are looked up in."""
    trained = CONFIG.vectors[name].train_on
    return f"{RESULTS}/vectors/trained/{name}.bin" if trained else AVAILABLE.vectors[name][0]


def named(file):
    """A file as tables and records call it: the source that it is of, or its path."""
    return SOURCE_OF_FILE.get(file.removeprefix(f"{RESOURCES}/"), file)


def split_files(dataset_id):
    return AVAILABLE.splits[split_id(dataset_id)[0]]


def vectors_origin(name):
    """Where vectors come from, as tables and records say it."""
    origin = ", ".join(map(named, AVAILABLE.vectors[name]))
    return f"fastText trained here on {origin}" if CONFIG.vectors[name].train_on else origin


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
    return inputs | {"sources": records_of_sources(list(inputs.values()))}


def sources_of(model_id, dataset_id):
    """What a run was made of, for its record."""
    sources = {split: named(file) for split, file in split_files(dataset_id).items()}
    if CONFIG.model_of(model_id).rewriting:
        sources["entities"] = Path(AVAILABLE.entities).name
    return sources


def entity_patterns():
    """The model of named entities where it is a file: a package or a folder is no input."""
    model = AVAILABLE.entities
    return [model] if model and os.path.isfile(model) else []


def all_model_ids():
    return {cell.model for cell in [*cells_of(CONFIG), *SENSITIVITY_CELLS]}


def code_of(script, *modules):
    """The hash of the library's code that a script runs, with the modules that it loads by name."""
    return code_hash(Path(workflow.basedir, "workflow_scripts", f"{script}.py"), *modules)


def encoder_module(model_id):
    return ENCODERS[CONFIG.model_of(model_id).encoder or "mean"].module


def encoders_to_run():
    """The encoders of the cells whose jobs are about to start."""
    models = {
        job.wildcards.model
        for job in workflow.dag.needrun_jobs()
        if "model" in job.wildcards.keys()
    }
    return sorted({CONFIG.model_of(model).encoder for model in models} - {None})


def pretrained_module(name):
    return PRETRAINED[CONFIG.sentence_vectors[name].encoder].module


def reader_module(dataset_id):
    return READERS[CONFIG.dataset_of(dataset_id).reader].module


def is_trained(model_id):
    return CONFIG.model_of(model_id).trained


def scientific(model_id):
    return CONFIG.model_of(model_id).scientific()


def lowercase_of_vectors(name):
    return CONFIG.lowercase_of(CONFIG.vectors[name])


def lowercase_of(model_id):
    """Whether the words of a model are lower-cased: as its vectors are."""
    vectors = CONFIG.model_of(model_id).vectors
    return lowercase_of_vectors(vectors) if vectors else CONFIG.lowercase


def trainings_of(model_id):
    """Setting name to training section: one, or all those that `+chosen` may turn out to be."""
    name, setting = split_id(model_id)
    names = CONFIG.settings if setting == CHOSEN else [setting]
    return {each: CONFIG.training_of(name, each).model_dump() for each in names}


def prototype_files(dataset, subset):
    folder = f"{RESULTS}/prototypes/{dataset}/{subset}"
    return [f"{folder}/seed{seed}.parquet" for seed in CONFIG.seeds]


def cell_inputs(wildcards):
    """The tables that a cell is made of; a list has one file for each seed."""
    model = CONFIG.model_of(wildcards.model)
    name, setting = split_id(wildcards.model)
    dataset, subset = wildcards.dataset, wildcards.subset
    inputs = {"corpus": f"{RESULTS}/corpora/{dataset}.parquet"}
    if model.rewriting:
        inputs["corpus"] = f"{RESULTS}/rewritten/{dataset}/{model.rewriting}.parquet"
    if model.vectors:
        inputs["vectors"] = f"{RESULTS}/vectors/{model.vectors}.npy"
    if model.sentence_vectors:
        stored = AVAILABLE.first_of(model.sentence_vectors)
        inputs["sentence_vectors"] = f"{RESULTS}/sentence_vectors/{dataset}/{stored}.npy"
    folder = f"{RESULTS}/quadruples/{dataset}/{subset}/p{wildcards.p}"
    if model.needs_prototypes:
        inputs["prototypes"] = prototype_files(dataset, subset)
    if model.trained:
        for each in trainings_of(wildcards.model):
            stem = CONFIG.training_of(name, each).negatives.file_stem
            inputs[stem] = [f"{folder}/seed{seed}/{stem}.parquet" for seed in CONFIG.seeds]
    if model.ranker == "analogy":
        for split in ("dev", "test"):
            inputs[split] = [f"{folder}/seed{seed}/{split}.parquet" for seed in CONFIG.seeds]
    if setting == CHOSEN:
        inputs["selection"] = f"{RESULTS}/selection/{name}/{dataset}.json"
    return inputs


def histories_of_settings(wildcards):
    cells = selection_cells(CONFIG, wildcards.model, wildcards.dataset)
    return {
        setting: f"{RESULTS}/runs/{cell.path}/history.parquet" for setting, cell in cells.items()
    }


def metrics_of(cells):
    return [f"{RESULTS}/runs/{cell.path}/metrics.parquet" for cell in cells]


def records_of(cells):
    return [f"{RESULTS}/runs/{cell.path}/run.json" for cell in cells]


def table_inputs(wildcards):
    """What a table shows: runs, or counts of questions."""
    artefact = PAPERS[wildcards.paper].artefacts[f"table{wildcards.number}"]
    cells = cells_of_table(CONFIG, artefact)
    corpora = CORPORA if artefact.value == "questions" else []
    return {"metrics": metrics_of(cells), "records": records_of(cells), "corpora": corpora}


def figure_inputs(wildcards):
    artefact = PAPERS[wildcards.paper].artefacts[f"figure{wildcards.number}"]
    cells = cells_of_figure(CONFIG, artefact)
    return {"metrics": metrics_of(cells), "records": records_of(cells)}


def tables_and_figures():
    """Every table and figure of every paper, in each format."""
    formats = {"table": ("csv", "md", "tex"), "figure": ("png", "svg", "csv")}
    return [
        f"{RESULTS}/{kind}s/{name}/{artefact}.{format}"
        for name, paper in PAPERS.items()
        for artefact in paper.artefacts
        for kind in formats
        if artefact.startswith(kind)
        for format in formats[kind]
    ]
