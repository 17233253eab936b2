"""Where a number of a table or figure comes from."""

import gzip
import json
import re
import shlex
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.cells import Cell, cells_by_hyperparameters
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.published import FRAME, ledger_key
from analogyqa.evaluation.summary import FIGURE, MEASURED, RUN_RULES, read_csv, read_record
from analogyqa.evaluation.verdicts import HIGHER, LOOKS, LOWER, NOT_COMPARABLE, REPRODUCED
from analogyqa.report.stored import is_archive
from analogyqa.report.table_formats import too_wide
from analogyqa.report.tables import row_coordinates
from analogyqa.settings.artefacts import CITED
from analogyqa.settings.base import AT, nearest_hint
from analogyqa.settings.coordinates import COST, COUNT, SCORE, Coordinates
from analogyqa.settings.data import SOLVER
from analogyqa.settings.overrides import TUNED, as_text, to_text
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

# The columns of a csv that say what a number is; empty ones are left out.
_SHOWN = (
    *("hyperparameters", "measure", *MEASURED),
    *("published", "verdict", "reason", "provenance", "substitute"),
)
# What the record of a run says about it.
_RECORDED = (
    *("seeds", "git_commit", "device", "machines", "platform", "versions", "inputs"),
    *("wall_seconds", "slurm_job"),
)
_NO_ARTEFACTS = "its papers have no numbered tables or figures"
_LISTED = 10  # numbers that a message lists
_OF_A_SEED = re.compile(r"^(|.+, )(?:seed )?\d+$")  # a key of `inputs`, or one of `machines`


class Number(NamedTuple):
    """A number that a table or figure shows."""

    label: str  # such as "table4 of diallo2019: Comb., Analogy (analogy)"
    names: frozenset[str]  # the labels of its place, and the parts of its coordinates
    values: dict  # its row of the csv
    coordinates: Coordinates
    cell: Cell | None  # whose run gives a score


def find_number(
    results: str | Path, config: Config, papers: dict[str, Paper], words: Sequence[str]
) -> Number:
    """Return the one number that some words name.

    The words are the name of a table or figure, and enough of the labels of the row and column, the
    system, data set, subset, measure or an override such as p=20. They
    mean the hyperparameters of the paper unless `tuned` is among them.

    Raises AnalogyQAError when the words name no number or several.
    """
    plain_words = {_plain(word) for word in words}
    known = {name for paper in papers.values() for name in paper.artefacts}
    artefacts = known & plain_words
    if not artefacts:
        views = {name for paper in papers.values() for name in paper.views}
        if named := sorted(views & plain_words):
            raise AnalogyQAError(
                f"{named[0]} shows no single numbers. Name one of {', '.join(sorted(known))}"
            )
        hint = nearest_hint(words[0] if words else "", sorted(known))
        raise AnalogyQAError(f"no table or figure is named{hint}" if known else _NO_ARTEFACTS)
    numbers = [
        number
        for paper in papers.values()
        for name in artefacts.intersection(paper.artefacts)
        for number in shown_numbers(results, paper, name, config)
    ]
    labels, where = plain_words - artefacts, ", ".join(sorted(artefacts))
    names = frozenset().union(*(number.names for number in numbers))
    if unknown := sorted(labels - names):
        hint = nearest_hint(unknown[0], sorted(names))
        raise AnalogyQAError(f"{where} has nothing called {unknown[0]!r}{hint}")
    matching = [
        number
        for number in numbers
        if labels <= number.names
        and (TUNED in labels or number.values.get("hyperparameters") != TUNED)
    ]
    # The title of one system may be the name of another.
    matching = [
        number for number in matching if _plain(number.coordinates.system) in labels
    ] or matching
    if not matching:
        given = ", ".join(word for word in words if _plain(word) in labels)
        raise AnalogyQAError(f"no number of {where} has all of these words: {given}. Leave one out")
    if len(matching) != 1:
        listed = "; ".join(number.label for number in matching[:_LISTED])
        others = f", and {len(matching) - _LISTED} more" if len(matching) > _LISTED else ""
        raise AnalogyQAError(
            f"{' '.join(words)} names {len(matching)} numbers, not one. Give words that only one "
            f"has. Found: {listed}{others}"
        )
    return matching[0]


def shown_numbers(results: str | Path, paper: Paper, name: str, config: Config) -> Iterator[Number]:
    """Yield every number of a table or figure, from its csv; AnalogyQAError if that is damaged."""
    artefact = paper.artefacts[name]
    kind = "figure" if artefact.is_figure else "table"
    path = Path(results, f"{kind}s", paper.paper, f"{name}.csv")
    points = {
        (panel, line, *map(as_text, point.values())): coordinates
        for panel, line, point, coordinates in artefact.points(config.sweeps)
    }
    for row in read_csv(path, FIGURE if artefact.is_figure else FRAME).to_dict("records"):
        if artefact.is_figure:
            place = [row[key] for key in ("panel", "line", "x", "y")]
            labels = list(filter(None, place))
            coordinates = points.get(tuple(place if artefact.y else place[:-1]))
            if coordinates is None:  # a printed point that is not among those of the run
                continue
            row |= {"kind": SCORE, "hyperparameters": ""}
        else:
            labels, coordinates = [row["row"], row["column"]], row_coordinates(row, artefact)
        cell = None
        if row["kind"] == SCORE and pd.notna(row["mean"]):
            cells = cells_by_hyperparameters(coordinates, config)
            cell = cells.get(row["hyperparameters"], next(iter(cells.values()))).with_run(config)
        system = f" ({coordinates.system})" if coordinates.system else ""
        names = [*labels, paper.paper, *_names(coordinates, config), row["hyperparameters"]]
        yield Number(
            f"{name} of {paper.paper}: {', '.join(labels)}{system}",
            frozenset(map(_plain, filter(None, names))),
            row,
            coordinates,
            cell,
        )


def _names(coordinates: Coordinates, config: Config) -> Iterator[str | None]:
    """Yield what some coordinates may be called, None for what they do not have."""
    keys = ("system", "dataset", "subset", "split", "measure", "count", "cost", "over")
    yield from (getattr(coordinates, key) for key in keys)
    yield from map("=".join, coordinates.overrides)
    yield from (config.systems[name].title for name in {coordinates.system} & {*config.systems})
    yield from (config.datasets[name].title for name in {coordinates.dataset} & {*config.datasets})


def _plain(name: str) -> str:
    return name.casefold().strip(". ")


def origin(results: str | Path, number: Number, config: Config, command: str) -> dict:
    """Return where a number comes from, as a JSON value.

    Its keys are `number`, the columns of the csv that are not empty, and, for a number that was
    computed here, `command`, which makes it again, and `files`; those of an archive are below its
    root. A score also has facts of the record of its run: `seeds`, `git_commit`, `device`,
    `machines`, `platform`, `versions`, `inputs` (the sha256 of each file that was read),
    `wall_seconds`, `slurm_job` and `log`. The argument `command` makes the whole folder.

    Raises AnalogyQAError when the record of the run is missing or damaged.
    """
    facts = number_facts(results, number, config, command)
    return facts | (run_facts(results, number.cell) if number.cell else {})


def number_facts(results: str | Path, number: Number, config: Config, command: str) -> dict:
    """Return the facts of `origin` that are not in the record of a run."""
    values = {key: number.values[key] for key in _SHOWN if key in number.values}
    facts: dict = {"number": number.label}
    facts |= {key: value for key, value in values.items() if not pd.isna(value) and value != ""}
    if number.values["kind"] == SCORE and "run_low" in facts and (text := too_wide(number.values)):
        del facts["run_low"], facts["run_high"]
        facts["prediction_interval"] = text
    if number.values["kind"] == CITED:
        return facts | {"reason": "the paper cites this value, so we have no value"}
    # The first is the file that the number is read from.
    at, names = number.coordinates, []
    if number.cell:
        files = ("metrics.parquet", "scores.parquet", "history.parquet", "run.json")
        names = [f"runs/{number.cell.path}/{file}" for file in files]
    elif number.values["kind"] == COUNT:
        names = [f"corpora/{at.dataset}.parquet"]
    elif number.values["kind"] == COST:
        names = [f"costs/{at.dataset}/{at.subset}.json"]
    if names := [name for name in names if Path(results, name).exists()]:
        # Archives are unpacked into temporary folders, and made again in their own.
        folder = "" if is_archive(results) else results
        target = shlex.quote(f"{config.output_dir}/{names[0]}")
        facts["command"] = f"{command} -- {target}"
        facts["files"] = [str(Path(folder, name)) for name in names]
    return facts


def run_facts(results: str | Path, cell: Cell) -> dict:
    """Return the facts of `origin` in the record of a run; AnalogyQAError if it is damaged."""
    stored = read_record(Path(results, "runs", cell.path, "run.json"))
    facts = {key: stored[key] for key in _RECORDED if stored.get(key)}
    log = run_log(results, cell)
    return facts | ({"log": str(log)} if log else {})


def run_log(results: str | Path, cell: Cell) -> Path | None:
    """Return the log of the job that made a run, or None; one job makes the runs of all solvers."""
    overrides = to_text(cell.overrides)
    stem = f"{cell.dataset}-{cell.subset}-{overrides}"
    if SOLVER in dict(cell.overrides):
        stem = f"{cell.dataset}-{re.sub(rf'{SOLVER}=[^{AT}]+', '', overrides)}"
    paths = (Path(results, "logs", rule, cell.system, f"{stem}.log") for rule in RUN_RULES)
    return next((path for path in paths if path.exists()), None)


def text_lines(value: object) -> list[str]:
    """Return a value of `origin` as the lines of a text, with one line for seeds that agree."""
    if isinstance(value, dict):
        parts = {name: ", ".join(text_lines(part)) for name, part in value.items()}
        return [f"{name}: {text}" for name, text in _with_seeds_joined(parts).items()]
    if isinstance(value, list) and not all(isinstance(part, int) for part in value):
        return [line for part in value for line in text_lines(part)]
    if isinstance(value, float):
        return [f"{value:.10g}"]
    return [", ".join(map(str, value)) if isinstance(value, list) else str(value)]


def _with_seeds_joined(texts: dict[str, str]) -> dict[str, str]:
    """Join the texts of "corpus, seed 0" and its like if they are the same for all seeds."""
    of_all = {name: _OF_A_SEED.sub(r"\1all seeds", name) for name in texts}
    found: dict[str, list[str]] = {}
    for name, text in texts.items():
        found.setdefault(of_all[name], []).append(text)
    shared = {name for name, same in found.items() if len(same) > 1 and len({*same}) == 1}
    return {of_all[name] if of_all[name] in shared else name: texts[name] for name in texts}


_EXPLAINED = (REPRODUCED, HIGHER, LOWER)  # the others are explained by their reason


def page_provenance(
    results: Path, config: Config, command: str, shown: Iterable[tuple[Paper, str, dict]]
) -> tuple[dict[tuple, str], str]:
    """Return the ids of the numbers on a page, and what `analogyqa why` prints about them.

    `shown` are papers, names of tables and their sections of the page, whose `ids` are set, by row
    of the csv. The key of an id is what its row of the ledger is about. The facts are JSON,
    compressed, since many numbers share them, in base64.
    """
    numbers: dict[str, dict] = {}
    runs: dict[str | None, dict] = {}
    ids: dict[tuple, str] = {}
    for paper, name, section in shown:
        rows = {at.row for block in section["blocks"] for _, values in block.rows for at in values}
        in_table = list(shown_numbers(results, paper, name, config))
        section["ids"] = dict(enumerate(number_ids(in_table)))
        for row, number in enumerate(in_table):
            if row not in rows:
                continue
            key, run = section["ids"][row], number.cell.path if number.cell else None
            facts = number_facts(results, number, config, command)
            verdict = facts.get("verdict")
            if verdict in _EXPLAINED:
                facts["verdict"] = f"{verdict}: {LOOKS[verdict].meaning}"
            if not config.comparable:
                is_hidden = verdict == NOT_COMPARABLE
                hidden = {"published", *(("verdict", "reason") if is_hidden else ())}
                facts = {name: fact for name, fact in facts.items() if name not in hidden}
            if number.cell and run not in runs:
                runs[run] = _as_lines(run_facts(results, number.cell))
            numbers[key] = {"facts": _as_lines(facts), "run": run}
            ids.setdefault(ledger_key(number.values), key)
    text = json.dumps({"numbers": numbers, "runs": runs})
    return ids, b64encode(gzip.compress(text.encode("utf-8"), mtime=0)).decode("ascii")


def number_ids(numbers: Sequence[Number]) -> list[str]:
    """Return names of the numbers of a table or figure that do not depend on their order.

    They are made of the coordinates: `table4-of-diallo2019/analogy/wikiqa/comb/mrr`. Labels follow
    where several numbers have the same.
    """
    names = []
    for number in numbers:
        at, values = number.coordinates, number.values
        parts = [number.label.partition(":")[0], at.system, at.dataset, at.subset, at.split]
        parts += [to_text(at.overrides) if at.overrides else "", at.measured]
        parts += [TUNED] if values["hyperparameters"] == TUNED else []
        labels = [values.get(key) for key in ("row", "column", "panel", "line")]
        names.append(["/".join(filter(None, part)).replace(" ", "-") for part in (parts, labels)])
    counts = Counter(name for name, _ in names)
    return [f"{name}/{labels}" if counts[name] > 1 else name for name, labels in names]


def _as_lines(facts: dict) -> dict[str, list[str]]:
    return {key: text_lines(value) for key, value in facts.items()}
