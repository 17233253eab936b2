"""Every run in a row: its measures with their spread, and what it is made of."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_text
from analogyqa.measures import ALL_CORRECT, MEASURES, TIED, values_by_seed
from analogyqa.plan import Cell
from analogyqa.plan.holding import Parts
from analogyqa.report.spread import summarise
from analogyqa.schemas import METRICS, read_table
from analogyqa.settings.overrides import from_text, to_text
from analogyqa.settings.run import Config

# Values are rounded once, before any verdict, so that a verdict always agrees with the file.
DECIMALS = 6
HYPERPARAMETERS_USED = ", hyperparameters "  # begins the end of a provenance
_text, _number, _count = "str", "float64", "Int64"


MEASURED = {
    "mean": _number,
    "sd": _number,
    "run_low": _number,
    "run_high": _number,
    "ci_low": _number,
    "ci_high": _number,
    "n_seeds": _count,
    "n_items": _count,
}


SUMMARY = {
    "system": _text,
    "dataset": _text,
    "subset": _text,
    "overrides": _text,
    "measure": _text,
    **MEASURED,
    "tied_candidates": _count,
    "all_correct": _count,
    "mean_of_others": _number,
    "hyperparameters": _text,
    "provenance": _text,
    "substitute": _text,
}


LEDGER = {
    "paper": _text,
    "artefact": _text,
    "row": _text,
    "column": _text,
    "measure": _text,
    "scale": _number,
    "kind": _text,
    "hyperparameters": _text,
    "published": _number,
    **MEASURED,
    "verdict": _text,
    "repeats": _text,
    "provenance": _text,
    "substitute": _text,
    "reason": _text,
}


# The rows of a summary, by cell and measure.
Found = dict[tuple[Cell, str], dict]

# The test split of a cell by a measure, [seeds, items]; None when there is no such run.
Values = Callable[[Cell, str], pd.DataFrame | None]


def read_runs(
    records: Iterable[str | Path],
    metrics: Iterable[str | Path],
    parts: Mapping[Cell, Parts] = MappingProxyType({}),
) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield the record and the metrics table of each run, one at a time.

    A run that has `parts`, as one of all categories has, is yielded as each of these.

    Raises AnalogyQAError when a file is missing or damaged.
    """
    for path, table in zip(records, metrics, strict=True):
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
            whole = Cell.from_record(record["cell"])
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise AnalogyQAError(
                f"{path}: cannot be read: {error}. "
                "Delete it, then run the same command again to rebuild it."
            ) from error
        own = read_table(table, METRICS)
        for cell, groups in parts.get(whole, {whole: None}).items():
            part = own if groups is None else own[own["group"].isin(groups)]
            yield record | {"cell": cell.record()}, part


def values_of(runs: Iterable[tuple[dict, pd.DataFrame]]) -> Values:
    """Return how to look up the values of a run's test split; columns are sorted by item."""
    found = {}
    for record, metrics in runs:
        by_measure = values_by_seed(metrics, "test")
        for measure in MEASURES:
            found[Cell.from_record(record["cell"]), measure] = by_measure.get(measure)
    return lambda cell, measure: found.get((cell, measure))


def joined(cells: Iterable[Cell], measure: str, values: Values) -> pd.DataFrame | None:
    """Return the values [seeds, items] of cells of different items, None where a run is missing."""
    own = [values(cell, measure) for cell in cells]
    return None if any(each is None for each in own) else pd.concat(own, axis=1)


def summarise_runs(runs: Iterable[tuple[dict, pd.DataFrame]], config: Config) -> pd.DataFrame:
    """Summarise the test split of every run: columns `SUMMARY`, a row per run and measure.

    `tied_candidates` is the total over items and seeds; `all_correct` counts the items whose
    candidates are all correct, and `mean_of_others` is the mean without them. `setting` is the name
    that the run was trained with (what a chosen one turned out to be), empty for a system that is
    not trained. `substitute` says which of the configuration's `substitutes` it was made with.
    """
    bootstrap, rows = config.bootstrap, []
    for record, metrics in runs:
        cell, values = Cell.from_record(record["cell"]), values_by_seed(metrics, "test")
        tied = int(values.pop(TIED).to_numpy().sum())
        sure = values.pop(ALL_CORRECT).iloc[0].eq(1)
        for measure, by_seed in values.items():
            summary = summarise(
                by_seed.to_numpy(),
                bootstrap.samples,
                bootstrap.confidence,
                MEASURES[measure].largest,
            )
            rows.append(
                {
                    **cell._asdict(),
                    "overrides": to_text(cell.overrides),
                    "measure": measure,
                    **{name: round(value, DECIMALS) for name, value in summary._asdict().items()},
                    "n_seeds": by_seed.shape[0],
                    "n_items": by_seed.shape[1],
                    "tied_candidates": tied,
                    "all_correct": int(sure.sum()),
                    "mean_of_others": _mean(by_seed.drop(columns=sure[sure].index)),
                    "hyperparameters": record["settings"]["hyperparameters"]
                    if _is_trained(record)
                    else "",
                    "provenance": _provenance(record),
                    "substitute": _substitute(record, config.substitutes),
                }
            )
    return typed(rows, SUMMARY)


def by_cell(summary: pd.DataFrame) -> Found:
    """Return the rows of a summary by cell and measure."""
    overrides = {text: from_text(text) for text in summary["overrides"].unique()}
    # Lists, since pandas walks its own strings slowly, and a summary has 20,000 rows.
    columns = {name: summary[name].tolist() for name in summary}
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return {
        (
            Cell(row["system"], row["dataset"], row["subset"], overrides[row["overrides"]]),
            row["measure"],
        ): row
        for row in rows
    }


def typed(rows: list[dict], columns: dict[str, str]) -> pd.DataFrame:
    """Return `rows` with exactly `columns`; what a row lacks is an empty text or missing."""
    values_of = {
        name: [row.get(name, "" if kind == _text else None) for row in rows]
        for name, kind in columns.items()
    }
    return pd.DataFrame(
        {name: pd.Series(values, dtype=columns[name]) for name, values in values_of.items()}
    )


def write_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a table for people and programs: CSV, UTF-8, numbers without trailing zeros."""
    write_text(path, frame.to_csv(index=False, float_format="%.10g", lineterminator="\n"))


def read_csv(path: str | Path, columns: dict[str, str]) -> pd.DataFrame:
    """Read what `write_csv` wrote; an empty text stays a text, an empty number is missing.

    Raises AnalogyQAError when the file is missing or has other columns.
    """
    empty = {name: [""] for name, kind in columns.items() if kind != _text}
    try:
        frame = pd.read_csv(path, dtype=columns, keep_default_na=False, na_values=empty)
    except (OSError, ValueError) as error:
        raise AnalogyQAError(
            f"{path}: {error}. Delete it, then run the same command again to rebuild it."
        ) from error
    if list(frame.columns) != list(columns):
        raise AnalogyQAError(f"{path}: columns {list(frame.columns)} instead of {list(columns)}")
    return frame


def _is_trained(record: dict) -> bool:
    return record["settings"]["training"] is not None


def _provenance(record: dict) -> str:
    settings, vectors = record["settings"], record["settings"]["vectors"]
    if _is_trained(record):
        sources = settings["sources"]
        origin = f"on {sources['train']}, vectors {vectors['origin']}" if vectors else ""
        rewritten = f", entities by {sources['entities']}" if "entities" in sources else ""
        used = f"{HYPERPARAMETERS_USED}{settings['hyperparameters']}"
        return f"trained here: {origin}{rewritten}{used}"
    if settings["sentence_vectors"]:
        return settings["sentence_vectors"]["origin"]
    system = settings["system"]
    ranker = system["ranker"]
    if ranker.get("parts"):
        return f"fused ({ranker['fusion'].replace('_', ' ')}): {', '.join(ranker['parts'])}"
    if vectors:
        return f"{system['encoder']} of {vectors['origin']}"
    return system["encoder"] or ranker["name"]


def _mean(values: pd.DataFrame) -> float | None:
    return round(float(values.to_numpy().mean()), DECIMALS) if values.size else None


def _substitute(record: dict, substitutes: Mapping[str, str]) -> str:
    """Return what stands in for what in a run: the names that its record has."""
    texts = []
    for settings in (record["settings"], *record["settings"].get("parts", {}).values()):
        stores = [settings[key] for key in ("vectors", "sentence_vectors") if settings[key]]
        texts += [text for store in stores for text in store.values()]
        texts += settings["sources"].values()
    names = {name for text in texts for name in re.split(r"[ ,]+", text)}
    return ", ".join(f"{name} for {what}" for name, what in substitutes.items() if name in names)
