"""What is asked before the first job of a run."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from analogyqa.corpora.table import build_corpus, count_questions, require_types
from analogyqa.encoders.check import check_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.experiments.experiment import Experiment
from analogyqa.plan import split_corpus
from analogyqa.plan.targets import require_target
from analogyqa.settings.data import ALL


def require_targets(arguments: Iterable[str], experiment: Experiment) -> None:
    """Raise AnalogyQAError when an argument of the command line is no file that a run makes."""
    results = Path(experiment.results).absolute()
    for argument in arguments:
        if Path(argument).absolute().is_relative_to(results):
            require_target(argument, experiment.config, experiment.papers)


def check_jobs(jobs: Iterable[Any], experiment: Experiment) -> None:
    """Ask whether the encoders can be used and the data have the question types.

    Args:
        jobs: those of Snakemake that are left to do.
        experiment: what is run.

    Raises AnalogyQAError when one cannot or has not.
    """
    jobs = list(jobs)
    wildcards = [dict(job.wildcards.items()) for job in jobs]
    for system in sorted({each["system"] for each in wildcards if "system" in each}):
        if encoder := experiment.config.systems[system].encoder:
            check_encoder(encoder)
    corpora = {job.wildcards.corpus for job in jobs if job.rule.name == "build_corpus"}
    for dataset in sorted({split_corpus(corpus)[0] for corpus in corpora}):
        check_types(dataset, experiment)


def check_types(dataset: str, experiment: Experiment) -> None:
    """Look for the question types that cells ask for in the splits of a data set that are here.

    Raises AnalogyQAError for a type that is not there.
    """
    config, own = experiment.config, experiment.config.datasets[dataset]
    subsets = {cell.subset for cell in experiment.all_cells if cell.dataset == dataset} - {ALL}
    types = {name for subset in subsets for name in config.types_of(subset)}
    files = experiment.available.splits[dataset]
    if types and all(Path(file).is_file() for file in files.values()):
        question_types = experiment.question_types[dataset]
        try:
            corpus = build_corpus(dataset, own.reader, files, question_types, {}, (), own.parts)
        except AnalogyQAError:
            return  # the job says what is wrong with a file, and others go on
        require_types(dataset, count_questions(corpus), sorted(types))
