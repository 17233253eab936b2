"""Checks before the first job of a run."""

import logging
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from analogyqa.analogies.prototypes import choose_prototypes, take_prototypes
from analogyqa.cells import Cell, split_corpus
from analogyqa.cells.plan import Plan
from analogyqa.cells.targets import require_target
from analogyqa.corpora.table import build_corpus, count_questions, require_types
from analogyqa.encoders.check import check_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, read_table
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import FEW_QUESTIONS
from analogyqa.settings.run import NOT_SELECTED, Config
from analogyqa.tasks import category_key
from analogyqa.training.data import load_pairs
from analogyqa.training.scoring import EVALUATED

log = logging.getLogger(__name__)


def require_targets(arguments: Iterable[str], plan: Plan) -> None:
    """Raise AnalogyQAError when a target on the command line is not a file that a run makes."""
    results = Path(plan.config.output_dir).absolute()
    for argument in arguments:
        if Path(argument).absolute().is_relative_to(results):
            require_target(argument, plan.config, plan.papers, plan.available.missing)


def left_out_here(config: Config) -> dict[str, str]:
    """Return why something is left out of a run, unless by `only` or `papers: []`, by its name."""
    hidden = {*map(category_key, config.categories)}
    hidden |= {name for study in config.studies.values() for name in study.datasets}
    return {
        name: reason
        for name, reason in config.left_out.items()
        if reason != NOT_SELECTED and (config.papers or name not in hidden)
    }


def check_jobs(jobs: Iterable[Any], plan: Plan) -> None:
    """Raise AnalogyQAError with everything that would stop Snakemake's `jobs` and is known now.

    That is an encoder that cannot be used, a file that cannot be read, a data set without questions
    of a type, and a cell with more prototypes than there are.
    """
    jobs = list(jobs)
    names = pd.DataFrame([dict(job.wildcards.items()) for job in jobs])
    names = names.reindex(columns=["system", "dataset", "subset", "overrides", "corpus"])
    for system in sorted(names["system"].dropna().unique()):
        if encoder := plan.config.systems[system].encoder:
            check_encoder(encoder)
    cells = [Cell.from_path(Path(*row)) for _, *row in names.iloc[:, :4].dropna().itertuples()]
    datasets = {
        *names["dataset"].dropna(),
        *(split_corpus(at)[0] for at in names["corpus"].dropna()),
    }
    built = {job.wildcards.corpus for job in jobs if job.rule.name == "build_corpus"}
    problems: list[str] = []
    for dataset in sorted(datasets):
        if not plan.config.datasets[dataset].gives_relations:
            on_corpus = [cell for cell in cells if cell.corpus == dataset]
            problems += _problems(dataset, on_corpus, plan, dataset in built)
    if problems:
        raise AnalogyQAError("\n".join(dict.fromkeys(problems)))


def _problems(dataset: str, cells: Iterable[Cell], plan: Plan, is_built: bool) -> Iterator[str]:
    """Yield what is wrong with a data set and cells on its whole corpus, if its files are here.

    `is_built` says whether a job will build the corpus; if not, it is in the results.
    """
    if not all(Path(file).is_file() for file in chain(*plan.available.splits[dataset].values())):
        return
    try:
        corpus = _corpus(dataset, plan, is_built)
        counts = count_questions(corpus)
        subsets = {cell.subset for cell in plan.cells_with_sensitivity if cell.dataset == dataset}
        types = {name for subset in subsets for name in plan.config.subset_types(subset) or ()}
        require_types(dataset, counts, sorted(types))
    except AnalogyQAError as error:
        yield str(error)
        return
    if (count := counts["test"][ALL]) < FEW_QUESTIONS:
        log.warning(
            "%s: only %d test questions have a correct candidate, so its values and their "
            "intervals say little.",
            *(dataset, count),
        )
    for cell in cells:
        try:
            _require_cell(cell, corpus, plan)
        except AnalogyQAError as error:
            yield str(error)


def _corpus(dataset: str, plan: Plan, is_built: bool) -> pd.DataFrame:
    path = Path(plan.config.output_dir, "corpora", f"{dataset}.parquet")
    section = plan.config.datasets[dataset]
    if not is_built and path.exists():
        return read_table(path, CORPUS).astype({"split": str, "question_type": object})
    return build_corpus(
        dataset,
        section.reader,
        plan.available.splits[dataset],
        plan.question_types[dataset],
        {},  # the job compares the counts, with the file still there to look at
        section.drop_all_correct,
        {str(split): names for split, names in section.parts.items()},
        section.reader_options,
        section.fold,
        section.train_share,
    )


def _require_cell(cell: Cell, corpus: pd.DataFrame, plan: Plan) -> None:
    """Raise AnalogyQAError when a cell has no questions, or fewer prototypes than it needs."""
    types = plan.config.subset_types(cell.subset)
    load_pairs(corpus, types, EVALUATED, cell.dataset)
    system = plan.config.system_at(cell.system, cell.overrides)
    if system.needs_prototypes:
        # Their number does not depend on the seed.
        prototypes = choose_prototypes(corpus, types, 0, dataset=cell.dataset)
        take_prototypes(prototypes, types, system.p, cell.dataset)
