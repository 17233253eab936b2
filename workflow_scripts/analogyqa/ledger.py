"""What the papers publish beside what was measured here, with a verdict on every number."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import pandas as pd
from pydantic import Field, ValidationError, model_validator

from analogyqa.checkpoints import write_text
from analogyqa.config import (
    CHOSEN,
    PAPER,
    Bootstrap,
    Cell,
    Config,
    Count,
    Name,
    Section,
    join_id,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.metrics import MEASURES, summarise
from analogyqa.question_types import SUBSETS, types_of
from analogyqa.schemas import METRICS, SPLITS, read_table
from analogyqa.yaml_files import read_yaml

REPRODUCED, HIGHER, LOWER = "reproduced", "higher", "lower"
NOT_RUN, NOT_COMPARABLE = "not run", "not comparable"
OTHER_DATA = "our data are not the paper's"

# Values are rounded once, before any verdict, so that a verdict always agrees with the file.
DECIMALS = 6

_text, _number, _count = "str", "float64", "Int64"
MEASURED = {
    "mean": _number,
    "sd": _number,
    "ci_low": _number,
    "ci_high": _number,
    "n_seeds": _count,
    "n_questions": _count,
}
SUMMARY = {
    "model": _text,
    "dataset": _text,
    "subset": _text,
    "p": _count,
    "metric": _text,
    **MEASURED,
    "tied_candidates": _count,
    "setting": _text,
    "provenance": _text,
}
LEDGER = {
    "paper": _text,
    "artefact": _text,
    "row": _text,
    "column": _text,
    "metric": _text,
    "setting": _text,
    "published": _number,
    **MEASURED,
    "verdict": _text,
    "provenance": _text,
    "reason": _text,
}


class Where(Section):
    """Which of our numbers a published value or a claim is about, or a part of that."""

    model: str | None = None
    dataset: str | None = None
    subset: Literal[SUBSETS] | None = None  # type: ignore[valid-type]
    split: Literal[SPLITS] | None = None  # type: ignore[valid-type]
    p: Count | None = None
    metric: Literal[tuple(MEASURES)] | None = None  # type: ignore[valid-type]

    def __or__(self, other: "Where") -> "Where":
        """Return what both say together; ValueError when both say the same key."""
        if twice := self.model_fields_set & other.model_fields_set:
            raise ValueError(f"{sorted(twice)} is given twice")
        return Where(**self.model_dump(exclude_unset=True), **other.model_dump(exclude_unset=True))


class Published(NamedTuple):
    """One number that a paper prints."""

    row: str
    column: str
    where: Where
    published: float


_NEEDED = {
    "questions": {"dataset", "subset", "split"},
    "score": {"model", "dataset", "subset", "metric"},
    "best_p": {"model", "dataset", "subset", "metric"},
}


class Artefact(Section):
    """A table or figure of a paper: the layout, the printed values, and what they stand for."""

    title: str
    value: Literal[tuple(_NEEDED)]  # type: ignore[valid-type]
    cells: Where = Where()
    columns: dict[str, Where] = Field(min_length=1)
    rows: dict[str, Where] = Field(min_length=1)
    published: dict[str, list[Annotated[float, Field(strict=True, ge=0)]]]

    @model_validator(mode="after")
    def _complete(self) -> "Artefact":
        if list(self.published) != list(self.rows):
            raise ValueError(f"published has rows {list(self.published)}, rows {list(self.rows)}")
        for row, values in self.published.items():
            if len(values) != len(self.columns):
                raise ValueError(f"{row}: {len(values)} values for {len(self.columns)} columns")
        needed = _NEEDED[self.value]
        for cell in self.numbers():
            given = cell.where.model_fields_set
            if given != needed:
                raise ValueError(
                    f"{cell.row}, {cell.column}: {sorted(given)} given, {sorted(needed)} needed"
                )
            if self.value == "score" and cell.published > 1:
                raise ValueError(f"{cell.row}, {cell.column}: {cell.published} is above 1")
        return self

    @property
    def systems_in_rows(self) -> bool:
        """Whether the rows, not the columns, name the systems."""
        return any(where.model is not None for where in self.rows.values())

    def numbers(self) -> Iterator[Published]:
        """Yield every published number, row by row."""
        for row, values in self.published.items():
            for column, value in zip(self.columns, values, strict=True):
                yield Published(row, column, self.where(row, column), value)

    def cells_of(self, system: str) -> Iterator[tuple[str, str, Where]]:
        """Yield row, column and place of each cell that another system would have here."""
        if self.systems_in_rows:
            for column in self.columns:
                yield system, column, self.where(column=column)
        else:
            for row in self.rows:
                yield row, system, self.where(row=row)

    def where(self, row: str | None = None, column: str | None = None) -> Where:
        """Return what a row and a column, or only one of them, say together with `cells`.

        Raises ValueError when two of them say the same key.
        """
        try:
            return self.cells | self.rows.get(row, Where()) | self.columns.get(column, Where())
        except ValueError as error:
            raise ValueError(f"{row}, {column}: {error}") from None


class Comparison(Section):
    """Two systems of which a claim says that one is better, on the same questions."""

    better: Where
    worse: Where
    cells: Where = Where()


class Claim(Section):
    """What a paper says about its numbers: at least `needs` of the comparisons are true.

    `cells` is said of both sides of every comparison. Without `needs` all must be true.
    """

    claim: str
    where: str
    cells: Where = Where()
    needs: Count | None = None
    comparisons: list[Comparison] = Field(min_length=1)

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        needed = {"model", "dataset", "subset", "metric"}
        for better, worse in self.sides():
            for side in (better, worse):
                given = side.model_fields_set
                if given - {"p"} != needed:
                    raise ValueError(
                        f"{sorted(given)} given, {sorted(needed)} needed (and p where it is not "
                        "the configured one)"
                    )
            if better == worse:
                raise ValueError(f"{better.model} is compared with itself")
            if (better.dataset, better.subset) != (worse.dataset, worse.subset):
                raise ValueError(
                    f"{better.model}, {worse.model}: both sides need the same dataset and subset, "
                    "because their questions are compared in pairs"
                )
        if self.needed > len(self.comparisons):
            raise ValueError(f"needs: {self.needs} of {len(self.comparisons)} comparisons")
        return self

    @property
    def needed(self) -> int:
        return self.needs or len(self.comparisons)

    def sides(self) -> list[tuple[Where, Where]]:
        """Return the better and the worse side of each comparison, with all that is said of them.

        Raises ValueError when a key is given twice.
        """
        common = [self.cells | comparison.cells for comparison in self.comparisons]
        return [
            (cells | comparison.better, cells | comparison.worse)
            for cells, comparison in zip(common, self.comparisons, strict=True)
        ]


class Paper(Section):
    """One file of papers/."""

    paper: Name
    citation: str
    artefacts: dict[Annotated[str, Field(pattern=r"^(table|figure)\d+$")], Artefact]
    claims: dict[Name, Claim] = Field(default={})


def load_paper(path: str | Path) -> Paper:
    """Read the published values of one paper.

    Raises AnalogyQAError, one line for each wrong or unknown key, with the key.
    """
    try:
        return Paper.model_validate(read_yaml(path))
    except ValidationError as error:
        raise AnalogyQAError(
            "\n".join(f"{path}: {_explain(item)}" for item in error.errors())
        ) from None


def settings_of(model: str, config: Config) -> dict[str, str]:
    """Return the settings that a model is reported at: setting to model id.

    The setting is `paper` or `chosen`, or empty for a model that is not trained.
    """
    if not config.models[model].trained:
        return {"": model}
    ids = {PAPER: model}
    if model in config.selection.models:
        ids[CHOSEN] = join_id(model, CHOSEN)
    return ids


def read_runs(
    records: Iterable[str | Path], metrics: Iterable[str | Path]
) -> Iterator[tuple[dict, pd.DataFrame]]:
    """Yield the record and the metrics table of each run, one at a time.

    Raises AnalogyQAError when a file is missing or damaged.
    """
    for path, table in zip(records, metrics, strict=True):
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
            Cell(**record["cell"])
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise AnalogyQAError(
                f"{path}: cannot be read: {error}. "
                "Delete it, then run the same command again to rebuild it."
            ) from error
        yield record, read_table(table, METRICS)


def summarise_runs(runs: Iterable[tuple[dict, pd.DataFrame]], bootstrap: Bootstrap) -> pd.DataFrame:
    """Summarise the test split of every run: columns `SUMMARY`, a row per run and metric.

    `tied_candidates` is the total over questions and seeds; `setting` is the name that the run
    was trained with (what `+chosen` stands for), empty for a model that is not trained.
    """
    rows = []
    for record, metrics in runs:
        test = metrics[metrics["split"] == "test"]
        for metric, summary in summarise(test, bootstrap.samples, bootstrap.confidence).items():
            rows.append(
                {
                    **record["cell"],
                    "metric": metric,
                    **{name: round(value, DECIMALS) for name, value in summary._asdict().items()},
                    "n_seeds": test["seed"].nunique(),
                    "n_questions": test["question_id"].nunique(),
                    "tied_candidates": int(test["tied_candidates"].sum()),
                    "setting": record["settings"]["setting"] if _is_trained(record) else "",
                    "provenance": _provenance(record),
                }
            )
    return typed(rows, SUMMARY)


def by_cell(summary: pd.DataFrame) -> dict[tuple, dict]:
    """Return the rows of a summary by (model id, dataset, subset, p, metric)."""
    keys = ["model", "dataset", "subset", "p", "metric"]
    return {tuple(row[key] for key in keys): row for row in summary.to_dict("records")}


def verdict(published: float, low: float, high: float) -> str:
    """Judge our interval [low, high] against a published value: where do we lie?"""
    if low <= published <= high:
        return REPRODUCED
    return HIGHER if low > published else LOWER


def build_ledger(
    papers: Iterable[Paper],
    config: Config,
    summary: pd.DataFrame,
    counts: dict[str, dict[str, dict[str, int]]],
) -> pd.DataFrame:
    """Hold every published number against ours: columns `LEDGER`.

    A trained model has a row at the paper's setting and, where the configuration selects it, a
    row at the setting that its dev split chose.

    Args:
        papers: the published values.
        config: says which data sets, models and numbers of prototypes there are.
        summary: as `summarise_runs` returns it.
        counts: data set to split to question type to the number of questions.
    """
    found = by_cell(summary)
    rows = []
    for paper in papers:
        for name, artefact in paper.artefacts.items():
            for cell in artefact.numbers():
                start = {
                    "paper": paper.paper,
                    "artefact": name,
                    "row": cell.row,
                    "column": cell.column,
                    "metric": artefact.value if artefact.value != "score" else cell.where.metric,
                    "published": cell.published,
                }
                ours = _compare(artefact.value, cell, config, found, counts)
                rows += [start | _comparable(row, config) for row in ours]
    return typed(rows, LEDGER)


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


def _compare(value: str, cell: Published, config: Config, found: dict, counts: dict) -> list[dict]:
    if value == "questions":
        return [_count_questions(cell, counts)]
    where = cell.where
    if reason := why_not_configured(where, config):
        return [_not_run(reason)]
    if value == "best_p":
        return [_best_p(cell, config, found)]
    return [
        {"setting": setting, **_score(cell, model_id, config.p_of(where.model), found)}
        for setting, model_id in settings_of(where.model, config).items()
    ]


def why_not_configured(where: Where, config: Config) -> str:
    """Return why there can be no run of these models and data, empty when there can be."""
    if where.model in config.left_out:
        return config.left_out[where.model]
    for kind, name, known in (
        ("data set", where.dataset, config.datasets),
        ("subset", where.subset, config.subsets),
        ("model", where.model, config.models),
    ):
        if name not in known:
            return f"{kind} {name} is not configured"
    if where.p not in (None, config.prototypes.p, *config.prototypes.curve):
        return _no_such_p(where.p)
    return ""


def no_run(*cells: Cell) -> str:
    """Return the reason of what needs cells that are configured but have no run."""
    return f"no run {', '.join(dict.fromkeys(cell.path for cell in cells))}"


def _no_such_p(p: float) -> str:
    return f"p = {p:g} is not in prototypes.curve"


def _not_run(reason: str) -> dict:
    return {"verdict": NOT_RUN, "reason": reason}


def _score(cell: Published, model_id: str, p: int, found: dict) -> dict:
    where = cell.where
    run = found.get((model_id, where.dataset, where.subset, p, where.metric))
    if run is None:
        return _not_run(no_run(Cell(model_id, where.dataset, where.subset, p)))
    judged = verdict(cell.published, run["ci_low"], run["ci_high"])
    return {name: run[name] for name in (*MEASURED, "provenance")} | {"verdict": judged}


def _count_questions(cell: Published, counts: dict) -> dict:
    where = cell.where
    if where.dataset not in counts:
        return _not_run(f"data set {where.dataset} is not configured")
    count = sum(counts[where.dataset][where.split][kind] for kind in types_of(where.subset))
    return {
        "mean": count,
        "verdict": verdict(cell.published, count, count),
        "provenance": f"counted here: data {where.dataset}",
    }


def _best_p(cell: Published, config: Config, found: dict) -> dict:
    where, curve = cell.where, sorted(set(config.prototypes.curve))
    result = {"setting": PAPER if config.models[where.model].trained else ""}
    if len(curve) < 2:
        return result | _not_run("prototypes.curve has fewer than two points to compare")
    if cell.published not in curve:
        return result | _not_run(_no_such_p(cell.published))
    runs = [found.get((where.model, where.dataset, where.subset, p, where.metric)) for p in curve]
    if None in runs:
        missing = [p for p, run in zip(curve, runs, strict=True) if run is None]
        return result | _not_run(f"no run of {where.model} on {where.dataset} at p = {missing}")
    top = max(run["mean"] for run in runs)
    best = [run for run in runs if run["mean"] == top]
    # Among equals the smallest p stands for the curve: fewer comparisons for the same result.
    tied = f"equal means at p = {', '.join(str(run['p']) for run in best)}; the smallest counts"
    return result | {
        "mean": best[0]["p"],
        "n_seeds": best[0]["n_seeds"],
        "n_questions": best[0]["n_questions"],
        "verdict": verdict(cell.published, best[0]["p"], best[0]["p"]),
        "provenance": best[0]["provenance"],
        "reason": tied if len(best) > 1 else "",
    }


def _comparable(row: dict, config: Config) -> dict:
    if config.comparable:
        return row
    reason = OTHER_DATA
    if row["verdict"] == NOT_RUN:
        reason += f"; {NOT_RUN}: {row['reason']}"
    return row | {"verdict": NOT_COMPARABLE, "reason": reason}


def _is_trained(record: dict) -> bool:
    return record["settings"]["training"] is not None


def _provenance(record: dict) -> str:
    settings, vectors = record["settings"], record["settings"]["vectors"]
    if _is_trained(record):
        sources = settings["sources"]
        origin = f"on {sources['train']}, vectors {vectors['origin']}" if vectors else ""
        rewritten = f", entities by {sources['entities']}" if "entities" in sources else ""
        return f"trained here: {origin}{rewritten}, setting {settings['setting']}"
    if settings["sentence_vectors"]:
        return settings["sentence_vectors"]["origin"]
    model = settings["model"]
    if vectors:
        return f"{model['encoder']} of {vectors['origin']}"
    return model["encoder"] or model["ranker"]


def _explain(error: dict) -> str:
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"unknown key {key}"
    if error["type"] == "missing":
        return f"key {key} is missing"
    return f"{key}: {error['msg'].removeprefix('Value error, ')}".removeprefix(": ")
