"""Our results: every run and measure with its spread and origin, and which runs have learned."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from analogyqa.cells import Cell, cells_by_run, reported_cells
from analogyqa.cells.cell import Part, Parts
from analogyqa.cells.made import made_files
from analogyqa.corpora.table import Counts, count_corpora
from analogyqa.errors import explain_damage
from analogyqa.evaluation.spread import bootstrap_means, summarise
from analogyqa.files import write_text
from analogyqa.measures import ALL_CORRECT, MEASURES, TIED, item_strata, reweight, values_by_seed
from analogyqa.runs.cost import Costs, read_costs
from analogyqa.runs.record import read_metrics, run_system
from analogyqa.schemas import HISTORY, read_table
from analogyqa.settings.overrides import HYPERPARAMETERS, from_text, to_text
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

# Values are rounded before any verdict, so that verdicts agree with the files.
DECIMALS = 6
HYPERPARAMETERS_USED = ", hyperparameters "  # precedes the last part of a provenance
# The rules that make runs.
RUN_RULES = ("train_encoder", "score_candidates", "fuse_scores", "solve_analogies")
# The keys that every record of a run must have, besides its cell.
RECORDED = {
    *("settings", "hyperparameters", "sources", "stores", "seeds", "inputs", "scores"),
    *("content_hash", "git_commit", "device", "machines"),
}
_SHARED, _FOLDS = "shared", "folds"
_text, _number, _count = "str", "float64", "Int64"

# The columns that identify a row of the summary.
KEY = ["system", "dataset", "subset", "overrides", "measure"]
MEASURED = {
    **dict.fromkeys(["mean", "sd", "run_low", "run_high", "ci_low", "ci_high"], _number),
    **dict.fromkeys(["n_seeds", "n_items", "n_learned", "n_trained"], _count),
}
SUMMARY = {
    **dict.fromkeys(KEY, _text),
    **MEASURED,
    **dict.fromkeys(["tied_candidates", "all_correct"], _count),
    "mean_of_others": _number,
    **dict.fromkeys(["hyperparameters", "provenance", "substitute"], _text),
}
# The columns of a figure's csv, a row for each point.
FIGURE = {
    **dict.fromkeys(["panel", "line", "x", "y", "system", "dataset", "subset", "measure"], _text),
    **MEASURED,
    "published": _number,
    **dict.fromkeys(["provenance", "reason"], _text),
}


class LearnedCount(NamedTuple):
    """How many of the training runs behind a value have learned; (0, 0) if nothing is trained."""

    n_learned: int = 0
    n_trained: int = 0


UNTRAINED = LearnedCount()
Summaries = dict[tuple[Cell, str], dict]  # the rows of a summary by cell and measure
# The record of a run, and what `scores_on_test` returns of it.
Run = tuple[dict, dict[str, pd.DataFrame]]
# Returns the scores [seeds, items] of a cell on the test split, or None without a run.
Values = Callable[[Cell, str], pd.DataFrame | None]


def read_runs(
    records: Iterable[str | Path],
    metrics: Iterable[str | Path],
    parts: Mapping[Cell, Parts] = MappingProxyType({}),
) -> Iterator[Run]:
    """Yield each run, one at a time, from the paths of records and of metrics in one order.

    For a run that holds several cells, `parts` has these with their parts, and each is yielded as a
    run. Raises AnalogyQAError when a file is missing or damaged.
    """
    for path, table in zip(records, metrics, strict=True):
        record = read_record(path)
        run_metrics = read_metrics(table)
        run = Cell.from_record(record["cell"])
        for cell, part in parts.get(run, {run: Part(None, {})}).items():
            values = run_metrics
            if part.categories is not None:
                values = values[values["group"].isin(part.categories)]
            part_record = record | {"cell": cell.record()}
            with explain_damage(path):
                scores = scores_on_test(part_record, reweight(values, part.analogies))
            yield part_record, scores


def find_records(results: str | Path) -> dict[str, Path]:
    """Return the record of every run by the path of the run below runs/, sorted."""
    folder = Path(results, "runs")
    records = made_files(results, "runs/*/*/*/*/run.json")
    return {path.parent.relative_to(folder).as_posix(): path for path in records}


def find_systems(results: str | Path) -> Iterator[tuple[Cell, str, Path]]:
    """Yield each run without overrides, or tuned on dev: its cell, a name for it, its record.

    The name is that of the system, with `-tuned` for hyperparameters that dev chose.
    """
    for path in find_records(results).values():
        cell = Cell.from_path(path.parent)
        if {name for name, _ in cell.overrides} <= {HYPERPARAMETERS}:
            yield cell, "-".join([cell.system, *(value for _, value in cell.overrides)]), path


def read_record(path: str | Path) -> dict:
    """Read the record of a run; AnalogyQAError if it is missing or damaged."""
    with explain_damage(path):
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        Cell.from_record(record["cell"])
        if missing := RECORDED - record.keys():
            raise ValueError(f"it has no {' and no '.join(sorted(missing))}")
    return record


def scores_on_test(record: dict, metrics: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return each measure of a run on test as a frame [seeds, items], see `values_by_seed`.

    The frames remember, in their `attrs`, how many of a cell's ensembles share each model. The
    trained parts count as equally variable. In a cross-validation, ensembles share no models.
    """
    values = values_by_seed(metrics, "test")
    parts = run_system(record)["ranker"].get("parts") or {}
    if "corpora" in record["settings"]:
        parts = {}
    systems = {
        name: next(iter(part["systems"].values()))
        for name, part in record["settings"]["parts"].items()
    }
    counts = [len(parts[name]) for name in parts if "training" in systems[name]] or [1]
    for by_seed in values.values():
        by_seed.attrs[_SHARED] = sum(count**2 for count in counts) / sum(counts)
    return values


def shared_seeds(values: pd.DataFrame) -> float:
    """Return how many rows of a frame of `scores_on_test` share each model; 1 for single models."""
    return values.attrs.get(_SHARED, 1)


def index_values(runs: Iterable[Run]) -> Values:
    """Return a function that looks up the test scores of runs; columns are sorted by item."""
    values = {
        (Cell.from_record(record["cell"]), measure): by_seed
        for record, scores in runs
        for measure, by_seed in scores.items()
    }
    return lambda cell, measure: values.get((cell, measure))


def join_folds(cells: Sequence[Cell], measure: str, values: Values) -> pd.DataFrame | None:
    """Return the scores [seeds, sorted items] of the folds of a system; None if a run is missing.

    Each seed tests an item in one fold, and perhaps each in another one; see `item_folds`.
    """
    parts = [part for cell in cells for part in [values(cell, measure)] if part is not None]
    if len(parts) < len(cells):
        return None
    joined = pd.concat(parts).groupby(level=0).first().sort_index(axis="columns")
    joined.attrs = parts[0].attrs
    if len(parts) > 1:
        at = {"index": joined.index, "columns": joined.columns, "fill_value": False}
        folds = np.argmax([part.notna().reindex(**at) for part in parts], axis=0)
        # By item, since columns are selected later; as bytes, since pandas often copies `attrs`.
        by_item = zip(joined.columns, folds.T.astype(np.uint8), strict=True)
        joined.attrs = {**joined.attrs, _FOLDS: {item: bytes(tested) for item, tested in by_item}}
    return joined


def item_folds(values: pd.DataFrame) -> np.ndarray | None:
    """Return the fold, from 0, in which each seed tested each item: int [seeds, items].

    `values` are columns of a frame of `join_folds`; None for any other frame.
    """
    folds = values.attrs.get(_FOLDS)
    return None if folds is None else np.array([[*folds[item]] for item in values.columns]).T


def draw_means(runs: Iterable[pd.DataFrame], samples: int) -> np.ndarray:
    """Return the bootstrap means of several runs, [runs, samples], from scores [seeds, items].

    A draw takes the same items in all runs.
    """
    draws = [
        bootstrap_means(
            scores.to_numpy(), samples, number, item_strata(scores), shared_seeds(scores)
        )
        for number, scores in enumerate(runs)
    ]
    return np.stack(draws)


def summarise_runs(
    runs: Iterable[Run],
    config: Config,
    learned: Mapping[Cell, LearnedCount] = MappingProxyType({}),
) -> pd.DataFrame:
    """Summarise the test split of every run: columns SUMMARY, a row for each run and measure.

    `tied_candidates` is the total over items and seeds. `all_correct` is the number of items whose
    candidates are all correct, and `mean_of_others` is the mean without them. `hyperparameters` is
    the name of the hyperparameters that the run was trained with, "" for an untrained system.
    `substitute` names those of the configured `substitutes` that the run was made with. `learned`
    counts the training runs of each trained cell, see `read_learned`.
    """
    rows: list[dict] = []
    for record, scores in runs:
        cell, values = Cell.from_record(record["cell"]), dict(scores)
        is_all_correct = values.pop(ALL_CORRECT).max().eq(1)
        names = named_files(record)
        about = {
            **cell_columns(cell),
            "tied_candidates": int(np.nansum(values.pop(TIED))),
            "all_correct": int(is_all_correct.sum()),
            "hyperparameters": record["hyperparameters"] or "",
            "provenance": _provenance(record),
            "substitute": ", ".join(
                f"{name} for {file}" for name, file in config.substitutes.items() if name in names
            ),
        }
        counts = sum_learned([cell], learned, config) if learned else UNTRAINED
        for measure, by_seed in values.items():
            # Official measures have more questions: those without a correct candidate.
            is_other = ~is_all_correct.reindex(by_seed.columns, fill_value=False)
            others = by_seed.loc[:, is_other].to_numpy()
            mean = round(float(np.nanmean(others)), DECIMALS) if others.size else None
            row = {"measure": measure, **measure_columns(by_seed, measure, config, counts)}
            rows.append(about | row | {"mean_of_others": mean})
    return to_frame(rows, SUMMARY)


def measure_columns(
    by_seed: pd.DataFrame, measure: str, config: Config, learned: LearnedCount = UNTRAINED
) -> dict[str, float]:
    """Return the columns MEASURED of scores [seeds, items].

    In one fold of a cross-validation, each seed tests other items. Then there is no interval for
    other items, and `n_items` are those of the seed that tests the most. If some of the training
    runs did not learn, there is no prediction interval.
    """
    is_tested = by_seed.notna().to_numpy()
    n_items, is_fold = int(is_tested.sum(axis=1).max()), not is_tested.all()
    if is_fold:
        by_seed = by_seed.mean(axis="columns").to_frame()
    bootstrap, limits = config.bootstrap, (MEASURES[measure].largest, MEASURES[measure].smallest)
    facts = (*limits, item_strata(by_seed), shared_seeds(by_seed))
    summary = summarise(by_seed.to_numpy(), bootstrap.samples, bootstrap.confidence, *facts)
    summary |= {"ci_low": np.nan, "ci_high": np.nan} if is_fold else {}
    summary |= {"run_low": np.nan, "run_high": np.nan} if learned_text(*learned) else {}
    rounded = {name: round(value, DECIMALS) for name, value in summary.items()}
    return rounded | {"n_seeds": by_seed.shape[0], "n_items": n_items} | learned._asdict()


def cell_columns(cell: Cell) -> dict[str, str]:
    """Return the columns of a summary that name a cell."""
    return cell._asdict() | {"overrides": to_text(cell.overrides)}


def by_cell(summary: pd.DataFrame) -> Summaries:
    """Return the rows of a summary by cell and measure."""
    parse = cache(from_text)
    return {
        (Cell(system, dataset, subset, parse(overrides)), measure): row
        for row in summary.to_dict("records")
        for system, dataset, subset, overrides, measure in [[row[name] for name in KEY]]
    }


def to_frame(rows: list[dict], columns: dict[str, str]) -> pd.DataFrame:
    """Return rows as a table of given columns; values that a row lacks are "" or missing."""
    values = {
        name: pd.Series(
            [row.get(name, "" if dtype == _text else None) for row in rows], dtype=dtype
        )
        for name, dtype in columns.items()
    }
    return pd.DataFrame(values)


def write_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a table as CSV, in UTF-8."""
    write_text(path, csv_text(frame))


def csv_text(frame: pd.DataFrame) -> str:
    """Return a table as CSV, numbers without trailing zeros."""
    return frame.to_csv(index=False, float_format="%.10g", lineterminator="\n")


def read_csv(path: str | Path, columns: dict[str, str]) -> pd.DataFrame:
    """Read a table that `write_csv` wrote; an empty text stays a text, an empty number is missing.

    Raises AnalogyQAError when the file is missing or has other columns.
    """
    empty = {name: [""] for name, dtype in columns.items() if dtype != _text}
    with explain_damage(path):
        frame = pd.read_csv(path, dtype=columns, keep_default_na=False, na_values=empty)
        if list(frame.columns) != list(columns):
            raise ValueError(f"columns {list(frame.columns)} instead of {list(columns)}")
    return frame


def _provenance(record: dict) -> str:
    stores, system = record["stores"], run_system(record)
    vectors = stores.get("vectors")
    if hyperparameters := record["hyperparameters"]:
        sources = record["sources"]
        # A data set without a train split is only cross-validated.
        data = sources.get("train") or ", ".join(sources[name] for name in ("dev", "test"))
        origin = f"on {data}"
        if vectors:
            origin += f", vectors {vectors['origin']}"
        rewritten = f", entities by {sources['entities']}" if "entities" in sources else ""
        return f"trained here: {origin}{rewritten}{HYPERPARAMETERS_USED}{hyperparameters}"
    if "sentence_vectors" in stores:
        return stores["sentence_vectors"]["origin"]
    ranker = system["ranker"]
    if ranker.get("parts"):
        return f"fused ({ranker['fusion'].replace('_', ' ')}): {', '.join(ranker['parts'])}"
    if vectors:
        return f"{system['encoder']} of {vectors['origin']}"
    return system["encoder"] or ranker["name"]


def named_files(record: dict) -> set[str]:
    """Return the words of a record that may name its data or vectors."""
    parts = (record["sources"], *record["stores"].values())
    texts = [str(text) for part in parts for text in part.values()]
    return set(re.split(r"[ ,]+", " ".join(texts)))


@dataclass(frozen=True)
class Results:
    """The results of some cells, with the counts of corpora and the costs of training."""

    summary: pd.DataFrame = field(default_factory=lambda: to_frame([], SUMMARY))
    values: Values = lambda cell, measure: None
    # By data set, by what is counted, split and question type.
    counts: dict[str, dict[str, Counts]] = field(default_factory=dict)
    costs: Costs = field(default_factory=dict)  # by data set, subset and system

    @cached_property
    def by_cell(self) -> Summaries:
        """The rows of the summary by cell and measure."""
        return by_cell(self.summary)


def read_results(
    config: Config,
    cells: Iterable[Cell],
    records: Iterable[str | Path],
    metrics: Iterable[str | Path],
    histories: Iterable[str | Path],
    corpora: Iterable[str | Path] = (),
    costs: Iterable[str | Path] = (),
) -> Results:
    """Read and summarise the results of some cells, which may share runs.

    The others are paths of files; `records` and `metrics` have the same order. `histories` are
    those of the trained cells, and of the cells that they fuse.
    """
    runs = list(read_runs(records, metrics, cells_by_run(config, cells)))
    summary = summarise_runs(runs, config, read_learned(histories))
    return Results(summary, index_values(runs), count_corpora(corpora), read_costs(list(costs)))


def is_finished(results: str | Path, config: Config, cell: Cell) -> bool:
    """Return whether the run that holds a cell is finished in an output folder."""
    folder = Path(results, "runs", cell.with_run(config).path)
    return all((folder / file).exists() for file in ("run.json", "metrics.parquet"))


def read_finished(results: str | Path, config: Config, papers: Mapping[str, Paper]) -> Results:
    """Read the results of those cells of papers whose runs are finished in an output folder."""
    folder = Path(results)
    cells = [c for c in reported_cells(config, papers) if is_finished(folder, config, c)]
    paths = dict.fromkeys(folder / "runs" / cell.with_run(config).path for cell in cells)
    corpora = (folder / "corpora" / f"{name}.parquet" for name in config.datasets)
    return read_results(
        config,
        cells,
        [path / "run.json" for path in paths],
        [path / "metrics.parquet" for path in paths],
        existing_histories(folder, cells, config),
        [path for path in corpora if path.exists()],
        made_files(folder, "costs/*/*.json"),
    )


def existing_histories(results: str | Path, cells: Iterable[Cell], config: Config) -> list[Path]:
    """Return the histories, in an output folder, of the training runs that some cells rest on."""
    behind = dict.fromkeys(part for cell in cells for part in cell.behind(config))
    paths = (Path(results, "runs", cell.path, "history.parquet") for cell in behind)
    return [path for path in paths if path.exists()]


# A loss above this share of that of a constant energy may differ from it by chance.
NEAR = 0.99


def kept_epochs(history: pd.DataFrame, training: Mapping) -> pd.Series:
    """Return the epoch whose weights score test, by seed: the first with the best dev value.

    `history` has the schema HISTORY; `training` is the section of the system in its record. Where
    it keeps the last epoch, that is returned.
    """
    measure = f"dev_{training['select_by']}"
    dev = history[history["measure"] == measure].sort_values("epoch", kind="stable")
    if training.get("keeps") == "last":  # older records lack it
        return dev.groupby("seed")["epoch"].last()
    return dev.loc[dev.groupby("seed")["value"].idxmax()].set_index("seed")["epoch"]


def count_learned(history: pd.DataFrame, training: Mapping) -> LearnedCount:
    """Return for how many seeds the loss is below that of one constant energy.

    The loss is that of the kept epoch, because only its weights score test. The constant is the
    same for all quadruples. The arguments are those of `kept_epochs`.
    """
    values = history.set_index(["measure", "seed", "epoch"])["value"]
    losses = values["loss"][list(kept_epochs(history, training).items())].droplevel("epoch")
    constants = values["constant_loss"].droplevel("epoch")
    return LearnedCount(int((losses < NEAR * constants[losses.index]).sum()), len(losses))


def read_learned(histories: Iterable[str | Path]) -> dict[Cell, LearnedCount]:
    """Return how many training runs of each trained cell have learned.

    `histories` are the paths of history.parquet, each of which lies beside the record of its run.
    """
    learned = {}
    for path in map(Path, histories):
        record = read_record(path.with_name("run.json"))
        training = run_system(record)["training"]
        learned[Cell.from_path(path.parent)] = count_learned(read_table(path, HISTORY), training)
    return learned


def sum_learned(
    cells: Iterable[Cell], learned: Mapping[Cell, LearnedCount], config: Config
) -> LearnedCount:
    """Return the counts of some cells together, with those of the cells that they depend on.

    These are the parts of a fused system, and the cell that trains an encoder for analogies.
    """
    behind = {part for cell in cells for part in cell.behind(config)}
    counts = [learned[part] for part in behind if part in learned]
    return LearnedCount(*map(sum, zip(*counts, strict=True)))


def learned_text(n_learned: int, n_trained: int) -> str:
    """Return `learned 6 of 10`, or "" if all training runs have learned; a count may be missing."""
    has_failed = pd.notna(n_trained) and n_learned < n_trained
    return f"learned {n_learned} of {n_trained}" if has_failed else ""


def few_learned(n_learned: int, n_trained: int) -> bool:
    """Return whether most training runs did not learn, so that no claim can rest on them.

    A claim is about systems as they are run, so training runs that did not learn count; but a mean
    is not that of a trained system if most did not. A count may be missing.
    """
    return bool(pd.notna(n_trained) and 2 * n_learned < n_trained)
