"""What rules share: the cell of a job, the files that it reads, and its parameters.

The rules say where files are. `Cell.requires` says which of them a cell needs, and `Cell.settings`
on which part of the configuration its results depend.
"""

import re
from functools import cache
from itertools import chain

from snakemake.io import IOFile
from snakemake.settings.types import RerunTrigger

from analogyqa.analogies.specs import DISTRACTOR_STYLES, RELATIONS, SOLVERS
from analogyqa import cells
from analogyqa.arithmetic import PORTABLE
from analogyqa.cells import Cell, split_corpus
from analogyqa.cells.cell import (
    corpus_settings,
    reads_lowercase,
    require_same,
    require_same_code,
    sentence_settings,
    system_settings,
    vectors_settings,
)
from analogyqa.cells.targets import require_target
from analogyqa.corpora.specs import READERS
from analogyqa.errors import exit_on_error
from analogyqa.evaluation.summary import RUN_RULES
from analogyqa.folders import list_files
from analogyqa.pretrained.specs import PRETRAINED
from analogyqa.runs.depends_on import content_hash, package_hash, script_hash
from analogyqa.runs.train import plugin_code, selecting_measures
from analogyqa.settings.base import AT
from analogyqa.settings.data import ALL, relation_files

AVAILABLE, PATTERNS = PLAN.available, PLAN.patterns


def run_folder(systems):
    """Return the folder of a run that ranks answers, for the systems of a pattern."""
    names = f"{{system,{PATTERNS[systems]}}}/{{dataset,{PATTERNS['ranked data set']}}}"
    return f"{RESULTS}/runs/{names}/{{subset}}/{{overrides}}"


RUN = f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{overrides}}"
QUADRUPLES = "quadruples/{corpus}/{subset}/p{p}/seed{seed}"
# The GPUs of a job that trains. Only clusters use this number; set `device: cpu` for one without.
GPUS = 0 if CONFIG.device == "cpu" or CONFIG.arithmetic == PORTABLE else 1
known_settings = cache(lambda cell: cell.settings(CONFIG))
requirements = cache(lambda cell: cell.requires(CONFIG))


def growing(**first):
    """Return resources (MB, minutes) that double each time a cluster kills the job."""
    return {
        name: lambda wildcards, attempt, amount=amount: amount * 2 ** (attempt - 1)
        for name, amount in first.items()
    }


def add_defaults(job_rule):
    """Give a rule a log, the environment for CPUs, and a benchmark unless its jobs take a moment.

    The names of the files are its own name, and its wildcards in the order of its output. A rule
    with settings also gets the parameter `code`: the hash of the code that its script runs.
    """
    params = dict(job_rule.params.items())
    if "settings" in params and "code" not in params:
        settings, script = params["settings"], Path(job_rule.script).stem
        is_report, is_cell = settings is REPORTED, settings is cell_settings
        hash_code = report_code if is_report else cell_code if is_cell else script_hash
        if script in RUN_RULES:
            hash_code = run_code
        job_rule.set_params(code=hash_code(script))
    names = dict.fromkeys(re.findall(r"{(\w+)", job_rule.output[0]))
    stem = "-".join(f"{{{name}}}" for name in names)
    # These are the names of a cell, and of the cells of all solvers.
    stem = stem.replace("{system}-", "{system}/").replace("{before}-{after}", "{before}{after}")
    path = f"{job_rule.name}/{stem}".rstrip("/")
    job_rule.log_modifier = job_rule.benchmark_modifier = job_rule.output_modifier
    job_rule.set_log(f"{RESULTS}/logs/{path}.log")
    job_rule.conda_env = job_rule.conda_env or "../envs/cpu.yaml"
    if job_rule.name not in workflow._localrules:
        job_rule.benchmark = f"{RESULTS}/benchmarks/{path}.jsonl"


# Results of other settings


def makes_again(file, settings):
    """Return whether Snakemake itself makes a file again that was made with other settings.

    Its metadata may claim that the file was made with these: --touch writes them, without making
    any file.
    """
    if not workflow.is_main_process:
        return True
    if workflow.touch:
        return False
    forced = any(
        item == file or workflow.is_rule(item) and workflow.get_rule(item).is_producer(file)
        for item in workflow.dag_settings.forcerun
    )
    if forced or workflow.dag_settings.forceall:
        return True
    params = workflow.persistence.params(IOFile(file))
    compares_params = RerunTrigger.PARAMS in workflow.dag_settings.rerun_triggers
    return compares_params and params is not None and repr(settings) not in "".join(params)


def stop_if_kept(record, settings):
    """Stop if a result was made with other settings and Snakemake would keep it."""
    file = f"{RESULTS}/{record}"
    if Path(file).exists() and not makes_again(file, settings):
        with exit_on_error():
            require_same(file, settings)


def stop_if_of_other_code(record, code):
    """Stop if other code made a result of which Snakemake knows nothing, such as a restored one."""
    file = f"{RESULTS}/{record}"
    if (
        workflow.is_main_process
        and Path(file).exists()
        and workflow.persistence.params(IOFile(file)) is None
        and not workflow.dag_settings.forceall
    ):
        with exit_on_error():
            require_same_code(file, code)


# Cells


def job_cells(wildcards):
    """Return the cell of a job, or that of each solver for a job that solves with all of them."""
    folder = f"{wildcards.system}/{wildcards.dataset}"
    if "subset" in wildcards.keys():
        return [checked_cell(f"{folder}/{wildcards.subset}/{wildcards.overrides}")]
    before, after = wildcards.before, wildcards.after
    return [checked_cell(f"{folder}/{ALL}/{before}solver={solver}{after}") for solver in SOLVERS]


def job_cell(wildcards):
    """Return the cell of a job, or that of the first solver."""
    return job_cells(wildcards)[0]


@cache
def checked_cell(path):
    """Return the cell of a path, which a run makes, and which was not made with other settings."""
    record = f"runs/{path}/run.json"
    with exit_on_error():
        require_target(f"{RESULTS}/{record}", CONFIG, PLAN.papers)
    cell = Cell.from_path(Path(path))
    stop_if_kept(record, known_settings(cell))
    return cell


def cell_settings(wildcards):
    return known_settings(job_cell(wildcards))


def job_system(wildcards):
    cell = job_cell(wildcards)
    return CONFIG.system_at(cell.system, cell.overrides)


def required(role, file):
    """Return an input function: what the cell of a job requires in a role, at these paths."""

    def files(wildcards):
        names = requirements(job_cell(wildcards))[role]
        return [f"{RESULTS}/{file.format(**values)}" for values in names]

    return files


def cell_corpus(wildcards):
    """Return the texts that a cell reads: as they are, as lemmas, or with rewritten questions."""
    system, file = job_system(wildcards), "corpora/{corpus}.parquet"
    if system.vectors and CONFIG.vectors[system.vectors].lemmas:
        file = "lemmas/{corpus}/content.parquet"
    elif system.rewriting:
        file = f"rewritten/{{corpus}}/{system.rewriting}.parquet"
    return required("corpus", file)(wildcards)


def cell_sentence_vectors(wildcards):
    """Return the first sentence vectors of a cell that are available; [] if it reads none."""
    names = job_system(wildcards).sentence_vectors
    if not names:
        return []
    stored, cell = AVAILABLE.first_available_store(names), job_cell(wildcards)
    corpora = [values["corpus"] for values in requirements(cell)["corpus"]]
    # The store of a data set has the sentences of the folds of the plan. Other folds have their own.
    if cell in folds_that_share(stored):
        corpora = map(cells.without_fold, corpora)
    paths = (f"{RESULTS}/sentence_vectors/{corpus}/{stored}.npy" for corpus in corpora)
    return list(dict.fromkeys(paths))


def cell_frequencies(wildcards):
    """Return the file with the frequencies of words; [] for a system that does not weight them."""
    system = job_system(wildcards)
    file = AVAILABLE.frequencies.get(system.vectors) if system.weighting != "uniform" else None
    return [file] if file else []


def cell_sources(wildcards):
    return AVAILABLE.cell_origins(job_cell(wildcards))


def runs(shown, file):
    """Return one file of each run that holds some of the cells that are shown."""
    paths = dict.fromkeys(cell.with_run(CONFIG).path for cell in shown)
    return [f"{RESULTS}/runs/{path}/{file}" for path in paths]


# Corpora


def question_types(corpus):
    """Return the question types that something asks for on a corpus, with their words."""
    return PLAN.question_types[split_corpus(corpus)[0]]


def typed_corpus_settings(wildcards):
    settings = corpus_settings(CONFIG, wildcards.corpus)
    return settings | {"question_types": question_types(wildcards.corpus)}


def dataset_at(wildcards):
    return CONFIG.dataset_at(*split_corpus(wildcards.corpus))


def corpora_by_seed(wildcards):
    """Return the table of a corpus, or, in a cross-validation, the table of each seed."""
    seeds = CONFIG.all_seeds
    names = cells.corpora_by_seed(wildcards.corpus, seeds, seeds).values()
    return [f"{RESULTS}/corpora/{name}.parquet" for name in dict.fromkeys(names)]


def by_seed(file):
    """Return the paths of a file for all seeds; {seed} stands for the seed."""
    return [f"{RESULTS}/{file.replace('{seed}', str(seed))}" for seed in CONFIG.all_seeds]


def split_records(wildcards):
    """Return the records of the sources of all splits, unless the corpus is kept by mistake."""
    stop_if_kept(f"corpora/{wildcards.corpus}.json", typed_corpus_settings(wildcards))
    return sources(chain(*available_files(wildcards).values()))


def subset_settings(wildcards):
    return {"seeds": CONFIG.all_seeds, "question_types": CONFIG.subset_types(wildcards.subset)}


# Sources and models


def available_files(wildcards):
    """Return the files of a category, of sentence vectors or of a data set, by purpose."""
    if "category" in wildcards.keys():
        return AVAILABLE.categories[wildcards.category]
    if "sentence_vectors" in wildcards.keys():
        return AVAILABLE.sentence_vectors[wildcards.sentence_vectors]
    return AVAILABLE.splits[split_corpus(wildcards.corpus)[0]]


def available(purpose):
    """Return an input function for the files that are available for a purpose; [] for none."""
    return lambda wildcards: available_files(wildcards).get(purpose, [])


def sources(files):
    """Return the records of those files that are sources; making a record verifies its file."""
    known = {f"{RESOURCES}/{file}" for file in AVAILABLE.source_names}
    return [f"{file}.source.json" for file in files if file in known]


def source_records(*inputs):
    """Return an input function for the records of the sources among other inputs of a job."""
    return lambda wildcards: sources(chain(*(files(wildcards) for files in inputs)))


def model_files(model):
    """Return the files of a spaCy model; [] for a package, and for a mirror, which may vanish."""
    if records := sources([model]):
        return [model, *records]
    if not model or any(Path(model).is_relative_to(mirror) for mirror in PLAN.mirrors):
        return []
    return list_files(model)


def model_names(section):
    """Return the names of a spaCy model and of its files, for `job.find_spacy_model`.

    They have no path, so moving the model to another mirror does not rerun the job.
    """
    names = section.model if section else []
    return [*names, *(PLAN.registry[name].file for name in names if name in PLAN.registry)]


# Vectors


def training_texts(wildcards):
    """Return the texts on which vectors are trained; [] for those trained on corpora."""
    if CONFIG.vectors_at(wildcards.vectors).corpora:
        return []
    return AVAILABLE.vectors[wildcards.vectors.partition(AT)[0]]


def training_corpora(wildcards):
    """Return the corpora on which vectors are trained, or their lemmas."""
    vectors = CONFIG.vectors_at(wildcards.vectors)
    table = "lemmas/{}/words.parquet" if vectors.lemmas else "corpora/{}.parquet"
    return [f"{RESULTS}/{table.format(name)}" for name in vectors.corpora or ()]


def vectors_file(name):
    """Return the file in which words are looked up."""
    trained = f"{RESULTS}/vectors/trained/{name}.bin"
    return AVAILABLE.vectors[name][0] if CONFIG.vectors_at(name).source else trained


def looked_up_corpus(wildcards):
    """Return the corpus whose words are looked up, or its lemmas."""
    record = f"vectors/{wildcards.dataset}/{wildcards.vectors}.json"
    stop_if_kept(record, vectors_settings(CONFIG, wildcards.vectors))
    if CONFIG.vectors_at(wildcards.vectors).lemmas:
        return f"{RESULTS}/lemmas/{wildcards.dataset}/content.parquet"
    return f"{RESULTS}/corpora/{wildcards.dataset}.parquet"


def pretrained_encoder(wildcards):
    return CONFIG.sentence_vectors[wildcards.sentence_vectors]


def encoder_vectors(wildcards):
    """Return the file of the word vectors that a pre-trained encoder reads, if any."""
    vectors = pretrained_encoder(wildcards).vectors
    return [vectors_file(vectors)] if vectors else []


def encoder_weights(wildcards):
    """Return the weights of a pre-trained encoder, which may be trained here."""
    if pretrained_encoder(wildcards).train_on:
        return [f"{RESULTS}/sentence_vectors/trained/{wildcards.sentence_vectors}.pt"]
    return available("weights")(wildcards)[:1]


def excluded_corpus(wildcards):
    """Return the corpus whose sentences an encoder is trained without, if any."""
    dataset = pretrained_encoder(wildcards).disjoint_from
    return [f"{RESULTS}/corpora/{dataset}.parquet"] if dataset else []


def encoded_corpus(wildcards):
    """Return the corpus whose sentences are encoded."""
    record = f"sentence_vectors/{wildcards.corpus}/{wildcards.sentence_vectors}.json"
    stop_if_kept(record, sentence_settings(CONFIG, wildcards.sentence_vectors))
    return f"{RESULTS}/corpora/{wildcards.corpus}.parquet"


@cache
def cells_with(sentence_vectors):
    """Return the cells of the plan that may read some sentence vectors."""
    return {
        cell
        for cell in PLAN.cells_with_sensitivity
        if sentence_vectors
        in (CONFIG.system_at(cell.system, cell.overrides).sentence_vectors or ())
    }


@cache
def folds_that_share(sentence_vectors):
    """Return the cells of folds that read sentence vectors of their data set, not of the fold.

    There are none if the vectors depend on the training sentences. A share of a data set lacks
    questions that its folds test.
    """
    if PRETRAINED[CONFIG.sentence_vectors[sentence_vectors].encoder].fitted:
        return set()
    return {
        cell
        for cell in cells_with(sentence_vectors)
        if cells.without_fold(cell.corpus) != cell.corpus
        and CONFIG.dataset_at(cell.dataset, cell.overrides).train_share == 1
    }


def ranks_typed_questions_only(wildcards):
    """Return whether all cells with these sentence vectors rank only questions with a type."""
    dataset, _ = split_corpus(wildcards.corpus)
    return not any(
        cell.dataset == dataset and CONFIG.subset_types(cell.subset) is None
        for cell in cells_with(wildcards.sentence_vectors)
    )


def reads_wrong_training_answers(wildcards):
    """Return whether the wrong candidates of training questions have sentence vectors, too.

    Folds rank them, and fitted systems learn from them.
    """
    folds = folds_that_share(wildcards.sentence_vectors)
    dataset, _ = split_corpus(wildcards.corpus)
    return any(cells.without_fold(cell.corpus) == wildcards.corpus for cell in folds) or any(
        cell.dataset == dataset and CONFIG.system_at(cell.system, cell.overrides).fitted
        for cell in cells_with(wildcards.sentence_vectors)
    )


# Hyperparameters and costs


def candidates(wildcards):
    """Return the cells among which dev chooses hyperparameters, by the name of these."""
    return cells.selection_cells(CONFIG, wildcards.system, wildcards.dataset)


def costed_systems(wildcards):
    """Return the systems whose costs are measured on a subset of a data set, by name."""
    names = PLAN.costs[wildcards.dataset, wildcards.subset]
    return {name: CONFIG.systems[name] for name in names}


def costed_vectors(wildcards):
    return sorted({one.vectors for one in costed_systems(wildcards).values() if one.vectors})


# Sentence analogies


def category_settings(wildcards):
    category = CONFIG.categories[wildcards.category]
    return {
        "category": category.model_dump(exclude={"title"}),
        "model": model_names(CONFIG.parser) if category.parses else [],
        "seed": CONFIG.seeds[0],
    }


def category_code(wildcards):
    category = CONFIG.categories[wildcards.category]
    makers = DISTRACTOR_STYLES[category.distractors] if category.distractors else {}
    plugins = [*(RELATIONS[rule] for rule in category.rule), *makers.values()]
    return script_hash("induce_category", *(spec.definition for spec in plugins))


def relation_tables(wildcards):
    """Return the files of a data set's categories: those of its folder, or those made here."""
    if folder := CONFIG.datasets[wildcards.corpus].folder:
        return list(map(str, relation_files(Path(folder))))
    names = AVAILABLE.relations(wildcards.corpus)
    return [f"{RESULTS}/analogies/{name}.parquet" for name in names]


def relation_titles(wildcards):
    known = CONFIG.categories
    names = AVAILABLE.relations(wildcards.corpus)
    return {"titles": {name: known[name].title if name in known else name for name in names}}


# Reports


def report_code(script, *modules):
    """Return the hash of the code of a report, and of what decides which cells it shows."""
    decides = package_hash("measures", "cells", "settings", "tasks")
    return content_hash([script_hash(script, *modules), decides])


def distinct(groups):
    return list(dict.fromkeys(chain.from_iterable(groups)))


def histories(shown):
    """Return the histories of those trained cells that some cells are, fuse or solve with."""
    trained = [
        cell
        for cell in distinct(cell.behind(CONFIG) for cell in shown)
        if CONFIG.systems[cell.system].trained and not cell.training_cell(CONFIG)
    ]
    return runs(trained, "history.parquet")


def cost_files(data):
    return [f"{RESULTS}/costs/{dataset}/{subset}.json" for dataset, subset in data]


def counted_corpora(artefacts):
    """Return the corpora of which tables or figures show counts."""
    numbers = (number for artefact in artefacts for number in artefact.numbers())
    counted = {number.coordinates.dataset for number in numbers if number.coordinates.count}
    return [f"{RESULTS}/corpora/{name}.parquet" for name in CONFIG.datasets if name in counted]


def shown_files(wildcards):
    """Return the runs, corpora and costs that a table or figure shows, or the tables of a view."""
    paper, name = PLAN.papers[wildcards.paper], wildcards.artefact
    if name in paper.views:
        tables = cells.view_tables(CONFIG, paper.views[name]).values()
        paths = dict.fromkeys(table.path for table in tables if table.path)
        return {"tables": [f"{RESULTS}/{path}" for path in paths]}
    shown = cells.artefact_cells(CONFIG, paper, name)
    costs = cells.systems_with_costs(cells.artefact_coordinates(CONFIG, paper, name), CONFIG)
    return {
        "metrics": runs(shown, "metrics.parquet"),
        "records": runs(shown, "run.json"),
        "histories": histories(shown),
        "corpora": counted_corpora([paper.artefacts[name]]),
        "costs": cost_files(costs),
    }


def artefact_code(wildcards, script):
    """Return the hash of the code that shows a table or figure."""
    views = PLAN.papers[wildcards.paper].views
    modules = [views[wildcards.artefact].spec.definition] if wildcards.artefact in views else []
    return report_code(script, *modules)


def cross_validated_datasets(wildcards):
    return dict.fromkeys(cell.dataset for cell in PLAN.cross_validation[wildcards.paper])


# The hash of the code of a job


def cell_code(script):
    """Return a function for the hash of the code that a script runs for a cell."""

    def code(wildcards):
        system = job_system(wildcards)
        measures = selecting_measures(system) if system.trained else []
        return content_hash([script_hash(script, *plugin_code(system)), measures])

    return code


def run_code(script):
    """Return a function for the hash of the code that makes a run; stop if other code made it."""

    def code(wildcards):
        value = cell_code(script)(wildcards)
        if script == "solve_analogies":
            solvers = (spec.definition for spec in SOLVERS.values())
            value = content_hash([value, script_hash(script, *solvers)])
        for cell in job_cells(wildcards):
            stop_if_of_other_code(f"runs/{cell.path}/run.json", value)
        return value

    return code
