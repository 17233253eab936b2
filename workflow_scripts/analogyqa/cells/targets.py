"""Check the targets that a user types before Snakemake looks for rules that make them."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from analogyqa.cells import (
    TUNED,
    Cell,
    cross_validation_cells,
    sensitivity_cells,
    split_corpus,
    why_left_out,
    without_fold,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.folders import folder_name
from analogyqa.settings import overrides as ov
from analogyqa.settings.base import require_known
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.vectors import SEED, VECTORS_OVERRIDES

# Stages with a file or folder for each corpus.
WITH_CORPUS = {
    *("corpora", "entities", "lemmas", "rewritten"),
    *("prototypes", "quadruples", "sentence_vectors"),
}


def require_target(
    target: str, config: Config, papers: Mapping[str, Paper], missing: Mapping[str, str] = {}
) -> None:
    """Raise AnalogyQAError when a target in the output folder is not a file that a run makes.

    Without this check a run could record an override that has no effect, or write to a path where
    nothing looks for it. `missing` is that of `Availability`.
    """
    try:
        plain = folder_name(target)
        if plain != target:
            raise ValueError(f"ask for {plain}")
        _require(Path(target).relative_to(config.output_dir), config, papers, missing)
    except ValueError as error:
        text = str(error).partition("\n")[0]
        raise AnalogyQAError(f"{target}: {text}") from None


def _require(
    path: Path, config: Config, papers: Mapping[str, Paper], missing: Mapping[str, str]
) -> None:
    stage, *names = path.parts or ("",)
    if stage == "runs" and len(names) == 5:
        cell = _require_cell(config, *names[:4])
        system = config.system_at(cell.system, cell.overrides)
        _require_here("vectors", [system.vectors] if system.vectors else [], missing)
        _require_here("sentence_vectors", system.sentence_vectors or [], missing)
    elif stage in ("tables", "figures") and len(names) == 2:
        require_known("paper", names[0], papers)
        require_known(names[0], Path(names[1]).stem, _artefact_names(config, papers[names[0]]))
    elif stage in WITH_CORPUS and names and names[0] != "trained":
        corpus = without_ending(names[0])
        dataset, overrides = split_corpus(corpus)
        _require_configured("data set", dataset, config.datasets, config)
        changed = dict(overrides)
        require_known("override of a data set", changed, ov.DATASET_OVERRIDES, "not known")
        ov.require_overrides(changed)
        if stage == "sentence_vectors" and len(names) == 2:
            _require_here(stage, [without_ending(names[1])], missing)
        if stage == "entities" and (unsplit := without_fold(corpus)) != corpus:
            file = f"{config.output_dir}/{stage}/{unsplit}{names[0].removeprefix(corpus)}"
            raise ValueError(f"a fold has the entities of its data set; ask for {file}")
    elif stage == "vectors" and len(names) == 2:
        name = without_ending(names[1])
        vectors, _, text = name.partition(ov.AT)
        require_known("vectors", vectors, config.vectors)
        changed = dict(ov.from_text(text)) if text else {}
        require_known("override of vectors", changed, (*VECTORS_OVERRIDES, SEED), "not known")
        config.vectors_at(name)
        _require_here(stage, [vectors], missing)


def _artefact_names(config: Config, paper: Paper) -> list[str]:
    """Return the names of all tables and figures that a run makes for a paper."""
    names = list(paper.tables_and_figures)
    study = config.paper_studies(paper.paper).cross_validation
    if study and cross_validation_cells(config, paper.paper):
        names += ["cross_validation", *(["pairs"] if study.pairs else [])]
        names += ["forest"] if paper.primary_pairs(config) else []
    if sensitivity_cells(config, paper.paper):
        names.append("sensitivity")
    return [*names, "verdicts"] if config.comparable else names


def without_ending(name: str) -> str:
    """Return the name of a result without the ending of its file, if it has one."""
    for ending in (".parquet", ".json", ".npy", ".words.txt", ".bin"):
        name = name.removesuffix(ending)
    return name


def _require_here(section: str, names: Sequence[str], missing: Mapping[str, str]) -> None:
    """Raise ValueError, with the reason, when all of some alternatives are missing."""
    reasons = [missing[key] for name in names if (key := f"{section}.{name}") in missing]
    if reasons and len(reasons) == len(names):
        raise ValueError("; ".join(reasons))


def _require_configured(kind: str, name: str, known: Collection[str], config: Config) -> None:
    if name in config.left_out:
        raise ValueError(f"the {kind} {name} is left out: {config.left_out[name]}")
    require_known(kind, name, known)


def _require_cell(config: Config, system: str, dataset: str, subset: str, text: str) -> Cell:
    _require_configured("system", system, config.systems, config)
    _require_configured("data set", dataset, config.datasets, config)
    require_known("subset", subset, (*config.subsets, *config.relations, ALL))
    if reason := why_left_out(system, dataset, config):
        raise ValueError(f"{system} is left out on {dataset}: {reason}")
    overrides = ov.from_text(text)
    others = dict(overrides)
    hyperparameters = others.pop(ov.HYPERPARAMETERS, None)
    is_tuned = config.systems[system].trained and config.is_tuned_on(system, dataset)
    if hyperparameters is not None and (overrides != TUNED or not is_tuned):
        raise ValueError(
            f"{ov.HYPERPARAMETERS}={hyperparameters}: only {ov.HYPERPARAMETERS}={ov.TUNED} is "
            "allowed, without other overrides, and for a system and data set of a selection"
        )
    ov.require_overrides(others)
    cell = Cell(system, dataset, subset, config.canonical_overrides(system, overrides, dataset))
    if reason := why_left_out(system, dataset, config, cell.overrides):
        raise ValueError(f"{system} is left out with {text}: {reason}")
    if ov.to_text(cell.overrides) != text:
        ineffective = [name for name, _ in overrides if name not in dict(cell.overrides)]
        reason = f"{', '.join(ineffective)} has no effect there; " if ineffective else ""
        raise ValueError(f"{reason}ask for {config.output_dir}/runs/{cell.path}")
    return cell
