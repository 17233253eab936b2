"""Where a number of a table or figure comes from."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.cells import Cell, cells_by_hyperparameters
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.published import FRAME
from analogyqa.evaluation.summary import FIGURE, MEASURED, RULES_OF_RUNS, read_csv, read_record
from analogyqa.report.tables import coordinates_of
from analogyqa.settings.artefacts import CITED
from analogyqa.settings.base import AT, nearest_hint
from analogyqa.settings.coordinates import COST, COUNT, SCORE, Coordinates
from analogyqa.settings.data import SOLVER
from analogyqa.settings.overrides import TUNED, text_of, to_text
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

# The columns of a csv that say what a number is; empty ones are left out.
_SHOWN = (
    *("hyperparameters", "measure", *MEASURED),
    *("published", "verdict", "reason", "provenance", "substitute"),
)
_LISTED = 10  # numbers that a message lists


class Number(NamedTuple):
    """A number that a table or figure shows.

    Attributes:
        label: Its place, such as "table4 of diallo2019: Comb., Analogy (analogy)".
        names: What it may be called: the labels of its place, and the parts of its coordinates.
        values: Its row of the csv.
        coordinates: What it is about.
        cell: The cell whose run gives a score; None without one.
    """

    label: str
    names: frozenset[str]
    values: dict
    coordinates: Coordinates
    cell: Cell | None


def find_number(
    results: str | Path, config: Config, papers: dict[str, Paper], words: Sequence[str]
) -> Number:
    """Return the one number that some words name.

    Args:
        results: The output folder.
        config: Its configuration.
        papers: Its papers.
        words: The name of a table or figure, and enough of the labels of the row and column, the
            system, data set, subset, measure or an override such as p=20. Of two sets of
            hyperparameters, those of the paper are meant unless `tuned` is among the words.

    Raises AnalogyQAError when the words name no number or several.
    """
    plain_words = [_plain(word) for word in words]
    known = {name for paper in papers.values() for name in paper.artefacts}
    artefacts = known.intersection(plain_words)
    views = {name for paper in papers.values() for name in paper.views}
    if not artefacts and (named := sorted(views.intersection(plain_words))):
        raise AnalogyQAError(
            f"{named[0]} shows no single numbers. Name one of {', '.join(sorted(known))}"
        )
    if not artefacts:
        raise AnalogyQAError(
            f"no table or figure is named{nearest_hint(words[0] if words else '', sorted(known))}"
        )
    numbers = [
        number
        for paper in papers.values()
        for name in artefacts.intersection(paper.artefacts)
        for number in shown_numbers(results, paper, name, config)
    ]
    labels = set(plain_words) - artefacts
    where = ", ".join(sorted(artefacts))
    if unknown := labels - {name for number in numbers for name in number.names}:
        names = sorted({name for number in numbers for name in number.names})
        word = sorted(unknown)[0]
        raise AnalogyQAError(f"{where} has nothing called {word!r}{nearest_hint(word, names)}")
    matching = [number for number in numbers if labels <= number.names]
    if TUNED not in labels:
        matching = [number for number in matching if number.values.get("hyperparameters") != TUNED]
    # The title of one system may be the name of another.
    matching = [
        number for number in matching if _plain(number.coordinates.system) in labels
    ] or matching
    if not matching:
        given = ", ".join(word for word in words if _plain(word) in labels)
        raise AnalogyQAError(f"no number of {where} has all of these words: {given}. Leave one out")
    if len(matching) != 1:
        listed = [number.label for number in matching[:_LISTED]]
        others = f", and {len(matching) - _LISTED} more" if len(matching) > _LISTED else ""
        raise AnalogyQAError(
            f"{' '.join(words)} names {len(matching)} numbers, not one. Give words that only one "
            f"has. Found: {'; '.join(listed)}{others}"
        )
    return matching[0]


def shown_numbers(results: str | Path, paper: Paper, name: str, config: Config) -> Iterator[Number]:
    """Yield every number of a table or figure, from its csv.

    Raises AnalogyQAError when the csv is missing or damaged.
    """
    artefact = paper.artefacts[name]
    kind = "figure" if artefact.is_figure else "table"
    path = Path(results, f"{kind}s", paper.paper, f"{name}.csv")
    frame = read_csv(path, FIGURE if artefact.is_figure else FRAME)
    points = {
        (panel, line, *map(text_of, point.values())): coordinates
        for panel, line, point, coordinates in artefact.points(config.sweeps)
    }
    for row in frame.to_dict("records"):
        if artefact.is_figure:
            place = [row[key] for key in ("panel", "line", "x", "y")]
            labels = [label for label in place if label]
            place = place if artefact.y else place[:-1]
            if tuple(place) not in points:  # a printed point that is not among those of the run
                continue
            row |= {"kind": SCORE}
            coordinates = points[tuple(place)]
        else:
            labels, coordinates = [row["row"], row["column"]], coordinates_of(row, artefact)
        system = f" ({coordinates.system})" if coordinates.system else ""
        yield Number(
            f"{name} of {paper.paper}: {', '.join(labels)}{system}",
            frozenset(map(_plain, [*labels, paper.paper, *_names(row, coordinates, config)])),
            row,
            coordinates,
            _cell(row, coordinates, config),
        )


def _names(row: dict, coordinates: Coordinates, config: Config) -> Iterator[str]:
    keys = ("system", "dataset", "subset", "split", "measure", "count", "cost", "over")
    yield from filter(None, (getattr(coordinates, key) for key in keys))
    yield from filter(None, [row.get("hyperparameters")])
    yield from ("=".join(override) for override in coordinates.overrides)
    for name, section in (
        (coordinates.system, config.systems),
        (coordinates.dataset, config.datasets),
    ):
        if name in section:
            yield section[name].title


def _plain(name: str) -> str:
    return name.casefold().strip(". ")


def _cell(row: dict, coordinates: Coordinates, config: Config) -> Cell | None:
    if row["kind"] != SCORE or pd.isna(row["mean"]):
        return None
    cells = cells_by_hyperparameters(coordinates, config)
    cell = cells.get(row.get("hyperparameters", ""), next(iter(cells.values())))
    return cell.with_run(config)


def origin(results: str | Path, number: Number, command: str) -> dict:
    """Return where a number comes from, as a JSON value.

    Its keys are `number`, the columns of the csv that are not empty, and, for a number that was
    computed here, `command`, which makes it again, and `files`. A score also has facts of the
    record of its run: `seeds`, `git_commit`, `device`, `machines`, `platform`, `versions`, `inputs`
    (the sha256 of each file that was read), `wall_seconds`, `slurm_job` and `log`.

    Args:
        results: The output folder.
        number: The number.
        command: The command that makes the whole folder.

    Raises AnalogyQAError when the record of the run is missing or damaged.
    """
    facts = number_facts(results, number, command)
    return facts | (run_facts(results, number.cell) if number.cell else {})


def number_facts(results: str | Path, number: Number, command: str) -> dict:
    """Return the facts of `origin` that are not in the record of a run."""
    values = {key: number.values[key] for key in _SHOWN if key in number.values}
    facts: dict = {"number": number.label}
    facts |= {key: value for key, value in values.items() if not pd.isna(value) and value != ""}
    if number.values["kind"] == CITED:
        return facts | {"reason": "the paper cites this value, so we have no value"}
    files = _files(Path(results), number)
    if not files:
        return facts
    return facts | {"command": f"{command} -- {shlex.quote(files[0])}", "files": files}


def run_facts(results: str | Path, cell: Cell) -> dict:
    """Return the facts of `origin` that are in the record of a run, and its log.

    Raises AnalogyQAError when the record is missing or damaged.
    """
    stored = read_record(Path(results, "runs", cell.path, "run.json"))
    keys = (
        *("seeds", "git_commit", "device", "machines", "platform", "versions", "inputs"),
        *("wall_seconds", "slurm_job"),
    )
    facts = {key: stored[key] for key in keys if stored.get(key)}
    if log := run_log(results, cell):
        facts["log"] = str(log)
    return facts


def run_log(results: str | Path, cell: Cell) -> Path | None:
    """Return the log of the job that made a run, or None; one job makes the runs of all solvers."""
    overrides = to_text(cell.overrides)
    stem = f"{cell.dataset}-{cell.subset}-{overrides}"
    if SOLVER in dict(cell.overrides):
        stem = f"{cell.dataset}-{re.sub(rf'{SOLVER}=[^{AT}]+', '', overrides)}"
    paths = (Path(results, "logs", rule, cell.system, f"{stem}.log") for rule in RULES_OF_RUNS)
    return next((path for path in paths if path.exists()), None)


def text_lines(value: object) -> list[str]:
    """Return a value of `origin` as the lines of a text."""
    if isinstance(value, dict):
        return [f"{name}: {' '.join(text_lines(part))}" for name, part in value.items()]
    if isinstance(value, list) and not all(isinstance(part, int) for part in value):
        return [line for part in value for line in text_lines(part)]
    if isinstance(value, float):
        return [f"{value:.10g}"]
    return [", ".join(map(str, value)) if isinstance(value, list) else str(value)]


def _files(results: Path, number: Number) -> list[str]:
    """Return the files behind a number, first the one it is read from."""
    coordinates = number.coordinates
    if number.cell:
        names = ("metrics.parquet", "scores.parquet", "history.parquet", "run.json")
        paths = [results / "runs" / number.cell.path / name for name in names]
    elif number.values["kind"] == COUNT:
        paths = [results / "corpora" / f"{coordinates.dataset}.parquet"]
    elif number.values["kind"] == COST:
        paths = [results / "costs" / coordinates.dataset / f"{coordinates.subset}.json"]
    else:
        return []
    return [str(path) for path in paths if path.exists()]
