"""What rules share: the cell of a job, the files that it reads, and its parameters.

The rules say where files are. `Cell.requires` says which of them a cell needs, and `Cell.settings`
on which part of the configuration its results depend.
"""

from functools import cache

from analogyqa.analogies.specs import SOLVERS
from analogyqa.cells import Cell, split_corpus
from analogyqa.cells.cell import corpus_settings
from analogyqa.cells.same_settings import require_same
from analogyqa.cells.targets import require_target
from analogyqa.errors import exit_on_error
from analogyqa.folders import list_files
from analogyqa.runs.depends_on import content_hash, package_hash, script_hash
from analogyqa.runs.train import selecting_measures, plugin_code
from analogyqa.settings.data import ALL
from snakemake.io import IOFile
from snakemake.settings.types import RerunTrigger

RUN = f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{overrides}}"
CELL = "{system}/{dataset}-{subset}-{overrides}"  # in the names of logs and benchmarks
AVAILABLE, PATTERNS = PLAN.available, PLAN.patterns
# The GPUs of a job that trains. Only clusters use this number; set `device: cpu` for one without.
GPUS = 0 if CONFIG.device == "cpu" else 1


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
    stop_if_kept(record, settings_of(cell))
    return cell


@cache
def settings_of(cell):
    return cell.settings(CONFIG)


@cache
def requirements(cell):
    return cell.requires(CONFIG)


def cell_settings(wildcards):
    return settings_of(job_cell(wildcards))


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
    corpus, system = job_cell(wildcards).corpus, job_system(wildcards)
    if system.vectors and CONFIG.vectors[system.vectors].lemmas:
        return f"{RESULTS}/lemmas/{corpus}/content.parquet"
    if system.rewriting:
        return f"{RESULTS}/rewritten/{corpus}/{system.rewriting}.parquet"
    return f"{RESULTS}/corpora/{corpus}.parquet"


def cell_sentence_vectors(wildcards):
    """Return the first sentence vectors of a cell that are available; [] if it reads none."""
    names = job_system(wildcards).sentence_vectors
    if not names:
        return []
    stored = AVAILABLE.first_available_store(names)
    return [f"{RESULTS}/sentence_vectors/{job_cell(wildcards).corpus}/{stored}.npy"]


def cell_frequencies(wildcards):
    """Return the file with the frequencies of words; [] for a system that does not weight them."""
    system = job_system(wildcards)
    file = AVAILABLE.frequencies.get(system.vectors) if system.weighting != "uniform" else None
    return [file] if file else []


def cell_sources(wildcards):
    return AVAILABLE.origin_of_cell(job_cell(wildcards))


def runs(cells, file):
    """Return one file of each run that holds some of the cells."""
    paths = dict.fromkeys(cell.with_run(CONFIG).path for cell in cells)
    return [f"{RESULTS}/runs/{path}/{file}" for path in paths]


# Corpora


def question_types(corpus):
    """Return the question types that something asks for on a corpus, with their words."""
    return PLAN.question_types[split_corpus(corpus)[0]]


def settings_of_corpus(wildcards):
    types = {"question_types": question_types(wildcards.corpus)}
    return corpus_settings(CONFIG, wildcards.corpus) | types


def dataset_at(wildcards):
    return CONFIG.dataset_at(*split_corpus(wildcards.corpus))


def by_seed(file):
    """Return the paths of a file for all seeds; {seed} stands for the seed."""
    return [f"{RESULTS}/{file.replace('{seed}', str(seed))}" for seed in CONFIG.all_seeds]


# Sources and models


def sources(files):
    """Return the records of those files that are sources; making a record verifies its file."""
    known = {f"{RESOURCES}/{file}" for file in AVAILABLE.source_of_file}
    return [f"{file}.source.json" for file in files if file in known]


def model_files(model):
    """Return the files of a spaCy model.

    Return none for an installed package, and none on a mirror, which may change or vanish.
    """
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


# The hash of the code of a job


def code_of(script, *modules):
    """Return the hash of the library code that a script runs; `modules` are loaded by name."""
    return script_hash(script, *modules)


def cell_code(script):
    """Return a function for the hash of the code that a script runs for a cell."""

    def code(wildcards):
        system = job_system(wildcards)
        measures = selecting_measures(system) if system.trained else []
        return content_hash([script_hash(script, *plugin_code(system)), measures])

    return code
