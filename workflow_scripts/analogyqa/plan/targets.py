"""The targets that a user types: checked before Snakemake looks for rules that make them."""

from collections.abc import Mapping
from pathlib import Path

from analogyqa.errors import AnalogyQAError
from analogyqa.folders import folder_name
from analogyqa.plan.cell import Cell, split_corpus
from analogyqa.settings import axes as ax
from analogyqa.settings.base import require_known
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.vectors import VECTORS_AXES

_WITH_CORPUS = ("corpora", "rewritten", "prototypes", "quadruples", "sentence_vectors")


def require_target(target: str, config: Config, papers: Mapping[str, Paper]) -> None:
    """Raise AnalogyQAError when a target is no file that a run makes under this name.

    A run would otherwise record a setting that it does not have, or be looked for elsewhere. What
    is not below the output folder is left to Snakemake.
    """
    try:
        plain = folder_name(target)
        if plain != target:
            raise ValueError(f"ask for {plain}")
        if Path(target).is_relative_to(config.output_dir):
            _require(Path(target).relative_to(config.output_dir), config, papers)
    except ValueError as error:
        text = str(error).partition("\n")[0]
        raise AnalogyQAError(f"{target}: {text}") from None


def _require(path: Path, config: Config, papers: Mapping[str, Paper]) -> None:
    stage, *names = path.parts
    if stage == "runs" and len(names) == 5:
        _require_cell(config, *names[:4])
    elif stage in ("tables", "figures") and len(names) == 2:
        _require_artefact(config, papers, names[0], Path(names[1]).stem)
    elif stage in _WITH_CORPUS and names[0] != "trained":
        _require_corpus(config, names[0].removesuffix(".parquet"))
    elif stage == "vectors" and len(names) == 2:
        _require_vectors(config, names[1].removesuffix(".npy"))


def _require_cell(config: Config, system: str, dataset: str, subset: str, text: str) -> None:
    require_known("system", system, config.systems)
    require_known("data set", dataset, config.datasets)
    require_known("subset", subset, (*config.subsets, *config.relations, ALL))
    axes = ax.from_text(text)
    setting = dict(axes).get(ax.SETTING)
    if setting is not None:
        chooses = config.systems[system].trained and config.chooses_on(system, dataset)
        if axes != ((ax.SETTING, ax.CHOSEN),) or not chooses:
            raise ValueError(
                f"{ax.SETTING}={setting}: only {ax.SETTING}={ax.CHOSEN} is known, alone, for a "
                "system and a data set of a selection"
            )
    ax.require_axes({name: value for name, value in axes if name != ax.SETTING})
    cell = Cell(system, dataset, subset, config.canonical(system, axes, dataset))
    if ax.to_text(cell.axes) != text:
        idle = [name for name, _ in axes if name not in dict(cell.axes)]
        why = f"{', '.join(idle)} changes nothing there; " if idle else ""
        raise ValueError(f"{why}ask for {config.output_dir}/runs/{cell.path}")


def _require_corpus(config: Config, corpus: str) -> None:
    dataset, axes = split_corpus(corpus)
    require_known("data set", dataset, config.datasets)
    for name, _ in axes:
        require_known("axis of a data set", name, ax.DATASET_AXES, "not known")
    ax.require_axes(dict(axes))


def _require_vectors(config: Config, name: str) -> None:
    vectors, _, text = name.partition(ax.AT)
    require_known("vectors", vectors, config.vectors)
    for axis, _ in ax.from_text(text) if text else ():
        require_known("axis of vectors", axis, VECTORS_AXES, "not known")
    config.vectors_at(name)


def _require_artefact(config: Config, papers: Mapping[str, Paper], paper: str, name: str) -> None:
    require_known("paper", paper, papers)
    study = config.studies.get(paper)
    crossfit = study and study.crossfit and study.crossfit.systems
    known = {
        **dict.fromkeys(papers[paper].shown, True),
        "crossfit": crossfit,
        "pairs": crossfit and study.crossfit.pairs,
        "sensitivity": study and study.sensitivity and study.sensitivity.systems,
    }
    require_known(paper, name, [each for each, is_there in known.items() if is_there])
