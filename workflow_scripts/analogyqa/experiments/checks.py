"""Checks before the first job of a run."""

from collections.abc import Iterable
from itertools import chain
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
    """Raise AnalogyQAError when a target on the command line is not a file that a run makes."""
    results = Path(experiment.config.output_dir).absolute()
    for argument in arguments:
        if Path(argument).absolute().is_relative_to(results):
            require_target(argument, experiment.config, experiment.papers)


def check_jobs(jobs: Iterable[Any], experiment: Experiment) -> None:
    """Raise AnalogyQAError when an encoder cannot be used or a data set lacks a question type.

    Args:
        jobs: The jobs of Snakemake that are left to do.
        experiment: The experiment that is run.
    """
    jobs = list(jobs)
    wildcards = [dict(job.wildcards.items()) for job in jobs]
    for system in sorted({names["system"] for names in wildcards if "system" in names}):
        if encoder := experiment.config.systems[system].encoder:
            check_encoder(encoder)
    corpora = {job.wildcards.corpus for job in jobs if job.rule.name == "build_corpus"}
    for dataset in sorted({split_corpus(corpus)[0] for corpus in corpora}):
        check_types(dataset, experiment)


def check_types(dataset: str, experiment: Experiment) -> None:
    """Raise AnalogyQAError when a data set lacks a question type that a cell needs.

    Nothing is checked before the files of its splits are on this machine.
    """
    config, section = experiment.config, experiment.config.datasets[dataset]
    cells = experiment.cells_with_sensitivity
    subsets = {cell.subset for cell in cells if cell.dataset == dataset} - {ALL}
    types = {name for subset in subsets for name in config.types_of(subset) or ()}
    files = experiment.available.splits[dataset]
    if types and all(Path(file).is_file() for file in chain.from_iterable(files.values())):
        question_types = experiment.question_types[dataset]
        try:
            parts = {str(split): names for split, names in section.parts.items()}
            corpus = build_corpus(dataset, section.reader, files, question_types, {}, (), parts)
        except AnalogyQAError:
            return  # the job will report what is wrong with a file, and other jobs can run
        require_types(dataset, count_questions(corpus), sorted(types))
