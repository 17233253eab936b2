"""What is asked before the first job of a run; no rule."""

from analogyqa.corpora.table import build_corpus, count_questions, require_types
from analogyqa.encoders.check import check_encoder
from analogyqa.plan.targets import require_target

# The targets that a user typed: what an input function raises, Snakemake shows as a traceback.
if workflow.is_main_process:
    for argument in sys.argv[1:]:
        if Path(argument).absolute().is_relative_to(Path(RESULTS).absolute()):
            checked(require_target, argument, CONFIG, PAPERS)


def check_before_jobs():
    """What is asked before the first job: the encoders that train, the types that data have."""
    wildcards = [job.wildcards for job in jobs_to_do()]
    wildcards += [each["wildcards"] for job in jobs_to_do() for each in job.params.get("jobs", [])]
    for system in {each["system"] for each in wildcards if "system" in each.keys()}:
        if encoder := CONFIG.systems[system].encoder:
            checked(check_encoder, encoder)
    corpora = {job.wildcards.corpus for job in jobs_to_do() if job.rule.name == "build_corpus"}
    for dataset in {split_corpus(corpus)[0] for corpus in corpora}:
        checked(check_types, dataset)


def jobs_to_do():
    return list(workflow.dag.needrun_jobs())


def check_types(dataset):
    """Read the splits of a data set, as far as they are here, and look for the types that cells ask for."""
    cells = [cell for cell in ALL_CELLS if cell.dataset == dataset and cell.subset != ALL]
    types = {kind for cell in cells for kind in CONFIG.types_of(cell.subset)}
    files = AVAILABLE.splits[dataset]
    if types and all(map(os.path.isfile, files.values())):
        reader, parts = CONFIG.datasets[dataset].reader, CONFIG.datasets[dataset].parts
        try:
            corpus = build_corpus(dataset, reader, files, QUESTION_TYPES[dataset], {}, (), parts)
        except AnalogyQAError:
            return  # the job says what is wrong with a file, and others go on
        require_types(dataset, count_questions(corpus), sorted(types))
