"""The checked configuration and the functions that the rules share; no rule."""

import os
import re
import sys
from functools import cache
from types import SimpleNamespace

from snakemake.io import IOFile
from snakemake.settings.types import RerunTrigger

from analogyqa.availability import Availability
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.folders import files_of, require_writable
from analogyqa.plan.configured import (
    configured_cell,
    configured_corpus,
    configured_sentences,
    configured_vectors,
    require_same,
)
from analogyqa.plan.targets import require_target
from analogyqa.plan.solved import of_category
from analogyqa.plan import (
    Cell,
    cells_inside_claims,
    cells_of,
    cells_of_artefact,
    cells_of_claims,
    costed,
    costs_of_claims,
    crossfit_cells,
    load_papers,
    parts_of_fused,
    question_types_of,
    run_of,
    selection_cells,
    sensitivity_cells,
    split_corpus,
    waits_for,
    systems_that_cost,
    training_of,
    unfolded,
)
from analogyqa.registry import DISTRACTORS, PRETRAINED, READERS, RELATIONS, SOLVERS, VIEWS
from analogyqa.runs.depends_on import code_hash, content_hash
from analogyqa.runs.train import modules_of
from analogyqa.settings.axes import AT, CHOSEN, SETTING, from_text
from analogyqa.settings.data import ALL, relation_files
from analogyqa.settings.load import from_here, load_config
from analogyqa.settings.left_out import leave_out
from analogyqa.settings.tracking import tracking_uri_of
from analogyqa.sources.registry import load_registry, mirrors_from
from analogyqa.sources.verify import placed_by_hand


def checked(function, *arguments):
    """The function's value; what a user can put right stops the workflow before any job."""
    try:
        return function(*arguments)
    except AnalogyQAError as error:
        # Snakemake would show an exception with the lines of the Snakefile.
        sys.exit(f"\nError: {error}\n")


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
checked(require_writable, Path(".snakemake").absolute(), "Snakemake's own files")
RESOURCES = CONFIG.resources_dir
MIRRORS = mirrors_from(CONFIG.mirrors, os.environ)
SOURCE_OF_FILE = {source.file: name for name, source in REGISTRY.items()}
PLACED_BY_HAND = {source.file for source in REGISTRY.values() if placed_by_hand(source, RESOURCES)}
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
            exclude={
                "resources_dir",
                "mirrors",
                "tracking_uri",
                "device",
                "cells_per_job",
                "papers",
                "studies",
            },
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
RANKED_DATASETS = one_of(name for name in CONFIG.datasets if not CONFIG.datasets[name].solved)
SOLVED_DATASETS = one_of(name for name in CONFIG.datasets if CONFIG.datasets[name].solved)


def vectors_pattern(names):
    """The pattern of names of vectors, with what systems change of them."""
    return f"({one_of(names)})({AT}[^/]+)?"


wildcard_constraints:
    dataset=one_of(CONFIG.datasets),
    corpus=f"({one_of(CONFIG.datasets)})({AT}[^/]+)?",
    category=one_of(CONFIG.categories),
    subset=one_of([*CONFIG.subsets, *CONFIG.relations, ALL]),
    axes="[^/]+",
    vectors=vectors_pattern(CONFIG.vectors),
    sentence_vectors=one_of(CONFIG.sentence_vectors),
    p=r"\d+",
    paper=one_of(PAPERS),


def records_of_sources(files):
    """The records beside the files that come from sources.yaml; asking for them verifies them."""
    sources = {f"{RESOURCES}/{file}" for file in SOURCE_OF_FILE}
    return [f"{file}.source.json" for file in files if file in sources]


def require_current(file, configured):
    """Stop when a result was made with other settings, and Snakemake has no metadata that shows it."""
    forced = workflow.dag_settings.forceall or workflow.dag_settings.forcerun
    is_seen = (
        RerunTrigger.PARAMS in workflow.dag_settings.rerun_triggers
        and workflow.persistence.metadata(IOFile(file)) is not None
    )
    if workflow.is_main_process and not (forced or is_seen) and os.path.exists(file):
        checked(require_same, file, configured)


def vectors_file(name):
    """The file that the corpora's words are looked up in."""
    vectors = CONFIG.vectors_at(name)
    return AVAILABLE.vectors[name][0] if vectors.source else f"{RESULTS}/vectors/trained/{name}.bin"


def corpora_of_vectors(name):
    """The tables whose texts vectors are trained on."""
    vectors = CONFIG.vectors_at(name)
    table = "lemmas/{}/words.parquet" if vectors.lemmas else "corpora/{}.parquet"
    return [f"{RESULTS}/{table.format(dataset)}" for dataset in vectors.corpora]


def vectors_inputs(wildcards):
    """The table whose words vectors are selected for, and the file that they are looked up in."""
    record = f"{RESULTS}/vectors/{wildcards.dataset}/{wildcards.vectors}.json"
    require_current(record, configured_vectors(CONFIG, wildcards.vectors))
    lemmas = CONFIG.vectors_at(wildcards.vectors).lemmas
    table = "lemmas/{}/content.parquet" if lemmas else "corpora/{}.parquet"
    file = vectors_file(wildcards.vectors)
    return {
        "corpus": f"{RESULTS}/{table.format(wildcards.dataset)}",
        "vectors": file,
        "sources": records_of_sources([file]),
    }


def named(file):
    """A file as tables and records call it: the source that it is of, or its path."""
    return SOURCE_OF_FILE.get(file.removeprefix(f"{RESOURCES}/"), file)


def split_files(corpus):
    return AVAILABLE.splits[split_corpus(corpus)[0]]


def configuration_of_corpus(wildcards):
    types = {"question_types": types_of_corpus(wildcards)}
    return configured_corpus(CONFIG, wildcards.corpus) | types


def corpus_inputs(wildcards):
    """The files of the splits of a corpus, and the records of their sources."""
    require_current(
        f"{RESULTS}/corpora/{wildcards.corpus}.json", configuration_of_corpus(wildcards)
    )
    files = split_files(wildcards.corpus)
    return files | {"sources": records_of_sources(files.values())}


def dataset_of(corpus):
    return CONFIG.dataset_at(*split_corpus(corpus))


def vectors_origin(name):
    """Where vectors come from, as tables and records say it."""
    vectors = CONFIG.vectors_at(name)
    origin = ", ".join(map(named, AVAILABLE.vectors[name.partition(AT)[0]]))
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


def encoder_inputs(wildcards):
    """The weights and word vectors of a pre-trained encoder, where it reads such."""
    name = wildcards.sentence_vectors
    record = f"{RESULTS}/sentence_vectors/{wildcards.corpus}/{name}.json"
    require_current(record, configured_sentences(CONFIG, name))
    files, inputs = AVAILABLE.sentence_vectors[name], {}
    if CONFIG.sentence_vectors[name].train_on:
        inputs["weights"] = f"{RESULTS}/sentence_vectors/trained/{name}.pt"
    elif "weights" in files:
        inputs["weights"] = files["weights"][0]
    if vectors_of(name):
        inputs["vectors"] = vectors_file(vectors_of(name))
    sources = [*inputs.values(), *files.get("files", [])]
    return inputs | {"files": files.get("files", []), "sources": records_of_sources(sources)}


def files_of_model(model):
    """The files of a spaCy model, unless it is a package, or in a mirror, which may change or vanish."""
    in_mirror = model and any(Path(model).is_relative_to(mirror) for mirror in MIRRORS)
    return files_of(model) if model and not in_mirror else []


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
