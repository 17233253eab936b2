"""Compute the numbers of a results folder again from its scores, and compare the files."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pandas as pd

from analogyqa.arithmetic import AVX2, PORTABLE_VARIABLES
from analogyqa.cells import (
    Cell,
    claim_cells,
    cross_validation_cells,
    norm_cells,
    reported_cells,
    sensitivity_cells,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.claims import judge_claims, with_norms_and_costs
from analogyqa.evaluation.published import build_ledger, compare_numbers
from analogyqa.evaluation.summary import (
    KEY,
    SUMMARY,
    csv_text,
    existing_histories,
    find_records,
    index_values,
    read_csv,
    read_finished,
    read_learned,
    read_record,
    read_results,
    read_runs,
    to_frame,
)
from analogyqa.measures import RANKED
from analogyqa.report.archive import changed_files, original_sha256
from analogyqa.report.figures import build_figure
from analogyqa.report.sensitivity import build_sensitivity
from analogyqa.report.stored import is_archive, read_stored
from analogyqa.report.studies import (
    ANSWER,
    PAIRS,
    build_cross_validation,
    build_folds,
    build_pairs,
    question_groups,
)
from analogyqa.report.tables import build_table
from analogyqa.runs.record import corpus_tables, measure_seeds, record_hash, run_system
from analogyqa.schemas import CORPUS, ENTITIES, METRICS, SCORES, read_table
from analogyqa.settings.data import SOLVER
from analogyqa.settings.load import REPOSITORY, read_values
from analogyqa.settings.overrides import from_text
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

SAMPLE = REPOSITORY / "sample" / "config.yaml"
EXPECTED = SAMPLE.with_name("expected.csv")
# Folders and devices, which do not change the scores.
_LOCAL = ("output_dir", "resources_dir", "mirrors", "tracking_uri", "device")
EXPECTED_MEASURES = [*RANKED][:2]
EXPECTED_COLUMNS = {
    **dict.fromkeys(KEY[:-1], "str"),
    **dict.fromkeys(["n_seeds", "n_items"], "Int64"),
    **dict.fromkeys(EXPECTED_MEASURES, "float64"),
    "scores": "str",
}
_RESULTS = ("run.json", "metrics.parquet")
_PAIR = ["paper", "pair", "dataset", "measure", "by", "group"]  # the key of a row of PAIRS
_DECIMALS = 4
# Of a mean, on a processor without portable arithmetic: in one seed, four questions of 22 may move
# between first and second place.
_TOLERANCE = 0.05


def verify(
    results: str | Path, config: Config, papers: Mapping[str, Paper]
) -> Iterator[tuple[Path, str]]:
    """Yield the files of a results folder that disagree with the scores of its runs, and how.

    For each run it checks the bytes of the scores and measures and the content of the record, and
    computes the measures again from the scores, unless an archive has left them out. It makes the
    summary, the ledger with its verdicts, the claims and the tables again from the measures and
    from the printed values of the papers. The scores of the bundled sample are also compared with
    those that the repository expects. Of a run without a ledger, only the runs that are finished
    are checked.
    """
    results = Path(results)
    for path in find_records(results).values():
        try:
            yield from _verify_run(path, results, config)
        except AnalogyQAError as error:
            yield path, str(error)
        except (OSError, ValueError, LookupError, TypeError) as error:
            yield path, f"the run cannot be read: {error!r}"
    yield from changed_files(results)
    missing = missing_runs(results, config, papers)
    if missing:
        has_finished = (results / "ledger.csv").exists()
        yield from ((path, "is missing") for path in missing if has_finished)
        return
    try:
        for name, frame in _tables_made_again(results, config, papers):
            if what := _compare(frame, results / name):
                yield results / name, what
            if name == "summary.csv" and is_sample(results):
                yield from (
                    (results / name, what) for what in differences_from_expected(frame, results)
                )
    except AnalogyQAError as error:
        yield results, str(error)


def missing_runs(results: str | Path, config: Config, papers: Mapping[str, Paper]) -> list[Path]:
    """Return the records of runs that the papers ask for and a results folder does not have."""
    runs = _run_folders(Path(results), reported_cells(config, dict(papers)), config)
    return [run / "run.json" for run in runs if not (run / "run.json").exists()]


def _run_folders(results: Path, cells: Iterable[Cell], config: Config) -> list[Path]:
    runs = dict.fromkeys(cell.with_run(config).path for cell in cells)
    return [results / "runs" / run for run in runs]


def _verify_run(path: Path, results: Path, config: Config) -> Iterator[tuple[Path, str]]:
    record, folder = read_record(path), path.parent
    cell = Cell.from_record(record["cell"])
    if folder != results / "runs" / cell.path:
        yield path, f"is the record of another cell, {cell.path}"
    if record["content_hash"] != record_hash(record):
        yield path, "its content_hash is not that of its content"
    scores, metrics = folder / "scores.parquet", folder / "metrics.parquet"
    hashes = {scores: record["scores"], metrics: record.get("metrics")}  # older records lack it
    if SOLVER in dict(cell.overrides):  # it has no scores, and the hash is that of its measures
        hashes = {metrics: record["scores"]}
    for path, expected in hashes.items():
        if expected and path.exists() and original_sha256(path) != expected:
            yield path, "its bytes are not those that run.json records"
    # As the run was configured: the last run of the folder may be of papers without these vectors.
    vectors = record["settings"].get("vectors")
    corpora = corpus_tables(results, cell, record["settings"])
    texts = [*dict.fromkeys(corpora.values())]
    if rewriting := run_system(record).get("rewriting"):
        texts = [results / "rewritten" / path.stem / f"{rewriting}.parquet" for path in texts]
    elif vectors and vectors["lemmas"]:
        texts = [results / "lemmas" / path.stem / "content.parquet" for path in texts]
    recorded = {value for name, value in record["inputs"].items() if name.startswith("corpus")}
    read = (path for path in texts if recorded and path.exists())
    if changed := [path for path in read if original_sha256(path) not in recorded]:
        yield changed[0], f"is not the file that {cell.label} was run on"
    # Other texts have the same ids and labels.
    elif scores.exists() and all(path.exists() for path in corpora.values()):
        types = config.subset_types(cell.subset)
        again = measure_seeds(read_table(scores, SCORES), corpora, types)
        stored = read_table(metrics, METRICS)
        # Measures that are newer than the run are computed where they are read. An archive may have
        # left out some.
        key = ["split", "measure"]
        there = stored[key].astype(str).drop_duplicates()
        if not _equal(again.astype(dict.fromkeys(key, "str")).merge(there, on=key), stored):
            yield metrics, "the measures of the scores are other numbers"


def _equal(again: pd.DataFrame, stored: pd.DataFrame) -> bool:
    dtypes = dict.fromkeys(METRICS.names, "str") | {"value": "float64"}
    first, second = (
        frame[METRICS.names].astype(dtypes).sort_values(METRICS.names, ignore_index=True)
        for frame in (again, stored)
    )
    return first.equals(second)


def _tables_made_again(
    results: Path, config: Config, papers: Mapping[str, Paper]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each table that is made of the measures, by the name of its csv below the results."""
    computed = read_finished(results, config, papers)
    if is_archive(results):
        summary = _with_left_out(computed.summary, results, config)
        computed = replace(computed, summary=summary)
    numbers = compare_numbers(list(papers.values()), config, computed)
    yield "summary.csv", computed.summary
    yield "ledger.csv", build_ledger(numbers)
    inside = dict.fromkeys(cell for paper in papers.values() for cell in norm_cells(config, paper))
    values = with_norms_and_costs(
        computed.values,
        [f"{results}/runs/{cell.path}/inside.parquet" for cell in inside],
        computed.costs,
    )
    cells = [cell for paper in papers.values() for cell in claim_cells(config, paper)]
    learned = read_learned(existing_histories(results, cells, config))
    judged = judge_claims(list(papers.values()), config, values, learned)
    yield from zip(("claims.csv", "comparisons.csv"), judged, strict=True)
    for paper in papers.values():
        for name, artefact in paper.artefacts.items():
            if not artefact.is_figure:
                table = build_table(paper, name, numbers, config, computed)
                yield f"tables/{paper.paper}/{name}.csv", table.frame
            else:
                frame = build_figure(paper, name, computed, config)
                yield f"figures/{paper.paper}/{name}.csv", frame
        yield from _studies_made_again(results, config, paper)


def _studies_made_again(
    results: Path, config: Config, paper: Paper
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables of a paper's cross-validation and open choices, if they were made."""
    tables, studies = f"tables/{paper.paper}", config.paper_studies(paper.paper)
    folds = [*chain.from_iterable(cross_validation_cells(config, paper.paper).values())]
    study = studies.cross_validation
    if study and (results / tables / "cross_validation.csv").exists():
        runs = _run_folders(results, folds, config)
        records, metrics = ([run / name for run in runs] for name in _RESULTS)
        values = index_values(read_runs(records, metrics))
        learned = read_learned(existing_histories(results, folds, config))
        frame = build_cross_validation(paper.paper, study, config, values, learned)
        yield f"{tables}/cross_validation.csv", frame
        folds_frame = build_folds(paper.paper, study, config, values)
        yield f"{tables}/cross_validation_folds.csv", folds_frame
        if study.pairs:
            groups = _question_groups(results, dict.fromkeys(cell.dataset for cell in folds))
            frame = build_pairs(paper.paper, study, config, values, groups)
            if is_archive(results):  # it has no entities, by which answers are grouped
                stored = read_csv(results / tables / "pairs.csv", PAIRS)
                frame = _with_rows(frame, stored[stored["by"] == ANSWER], stored, _PAIR)
            yield f"{tables}/pairs.csv", frame
    if studies.sensitivity and (results / tables / "sensitivity.csv").exists():
        cells = dict.fromkeys(sensitivity_cells(config, paper.paper).values())
        runs = _run_folders(results, cells, config)
        records, metrics = ([run / name for run in runs] for name in _RESULTS)
        varied = read_results(
            config, cells, records, metrics, existing_histories(results, cells, config)
        )
        frame = build_sensitivity(paper, studies.sensitivity, config, varied)
        yield f"{tables}/sensitivity.csv", frame


def _question_groups(results: Path, datasets: Iterable[str]) -> dict[tuple[str, str], dict]:
    corpora, entities = (
        {
            name: read_table(path, schema)
            for name in datasets
            if (path := results / folder / f"{name}.parquet").exists()
        }
        for folder, schema in (("corpora", CORPUS), ("entities", ENTITIES))
    )
    return question_groups(corpora, entities)


def _with_left_out(made_again: pd.DataFrame, results: Path, config: Config) -> pd.DataFrame:
    """Return a summary with the rows of measures that an archive has left out, in its order.

    These rows are those of its summary.csv, which the hashes of the archive protect.
    """
    stored = read_csv(results / "summary.csv", SUMMARY)
    records = find_records(results)
    named = stored[KEY[:-1]].itertuples(index=False, name=None)
    cells = (Cell(system, dataset, subset, from_text(at)) for system, dataset, subset, at in named)
    known = [cell.with_run(config).path in records for cell in cells]
    return _with_rows(made_again, stored[known], stored, KEY)


def _with_rows(
    made_again: pd.DataFrame, others: pd.DataFrame, stored: pd.DataFrame, key: list[str]
) -> pd.DataFrame:
    """Return a table with those of other rows whose key it lacks, in the order of a stored one."""
    rows = pd.concat([made_again, others]).drop_duplicates(key, ignore_index=True)
    order = {name: at for at, name in enumerate(stored[key].itertuples(index=False, name=None))}
    names = rows[key].itertuples(index=False, name=None)
    places = pd.Series([order.get(name, len(order)) for name in names], dtype="int64")
    return rows.loc[places.sort_values(kind="stable").index].reset_index(drop=True)


def _compare(frame: pd.DataFrame, path: Path) -> str:
    """Return how the text of a csv differs from that of a table made again; "" if it is equal."""
    if not path.exists():
        return "is missing"
    again = csv_text(frame).splitlines()
    stored = path.read_bytes().decode("utf-8", "replace").splitlines()
    for number, (expected, line) in enumerate(zip(again, stored, strict=False), 1):
        if expected != line:
            return f"line {number} is {line!r}, made again {expected!r}"
    return "" if len(again) == len(stored) else f"has {len(stored)} lines, made again {len(again)}"


def is_sample(results: str | Path) -> bool:
    """Return whether a results folder was made with the configuration of the bundled sample.

    An archive is none, as it does not have all scores.
    """
    if not SAMPLE.exists() or is_archive(results):
        return False
    made_with, sample = (
        {key: value for key, value in values.items() if key not in _LOCAL}
        for values in (read_stored(results).values, read_values(SAMPLE)[0])
    )
    return made_with == sample


def expected_values(summary: pd.DataFrame, results: str | Path) -> pd.DataFrame:
    """Return the means of each cell and the hash of its scores: columns EXPECTED_COLUMNS.

    `summary` is that of the results folder.
    """
    rows = []
    for cell, part in summary.groupby(KEY[:-1], sort=False):
        means = part.set_index("measure")["mean"].round(_DECIMALS)
        seeds, items = part["n_seeds"].iloc[0], part["n_items"].iloc[0]
        path = _run_folder(results, cell) / "scores.parquet"
        scores = scores_hash(path) if path.exists() else ""  # after a restore
        rows.append([*cell, seeds, items, *means[[*EXPECTED_MEASURES]], scores])
    return to_frame(
        [dict(zip(EXPECTED_COLUMNS, row, strict=True)) for row in rows], EXPECTED_COLUMNS
    )


def scores_hash(path: str | Path) -> str:
    """Return the hash of the scores of a run, which does not depend on the version of Parquet.

    Raises AnalogyQAError when the file at `path` is missing or damaged.
    """
    scores = read_table(path, SCORES)["score"].to_numpy("<f4")
    return hashlib.sha256(scores.tobytes()).hexdigest()[:16]


def _run_folder(results: str | Path, cell: Iterable[str]) -> Path:
    return Path(results, "runs", *cell)


def differences_from_expected(summary: pd.DataFrame, results: str | Path) -> Iterator[str]:
    """Yield a text for each cell of the demo whose scores are not the expected ones.

    Without AVX2 there is no portable arithmetic; then the means may differ a little.

    Raises AnalogyQAError when the file of the expected values is missing or damaged.
    """
    expected = read_csv(EXPECTED, EXPECTED_COLUMNS)
    found = expected_values(summary, results)
    for row in expected.merge(found, "left", KEY[:-1], suffixes=("", "_found")).itertuples():
        cell = row.system, row.dataset, row.subset, row.overrides
        name = " ".join(filter(None, cell))
        if pd.isna(row.n_seeds_found):
            yield f"{name} is missing"
        elif (row.n_seeds, row.n_items) != (row.n_seeds_found, row.n_items_found):
            yield (
                f"{name}: {row.n_seeds_found} seeds and {row.n_items_found} items; expected "
                f"{row.n_seeds} and {row.n_items}"
            )
        elif row.scores != row.scores_found:
            record = read_record(_run_folder(results, cell) / "run.json")
            means = [
                (RANKED[name].short, getattr(row, f"{name}_found"), getattr(row, name))
                for name in EXPECTED_MEASURES
            ]
            change = max(abs(mean - before) for _, mean, before in means)
            if not row.scores_found and not change:
                continue
            if AVX2 not in record["not_portable"] or change > _TOLERANCE:
                text = ", ".join(
                    f"{at} {mean:.4f}, expected {before:.4f}" for at, mean, before in means
                )
                yield f"{name}: other scores than expected ({text}). {_why_different(record)}"


def _why_different(record: dict) -> str:
    lacks = [
        f"{name} was not {PORTABLE_VARIABLES[name]!r}" if name != AVX2 else f"no {AVX2}"
        for name in record["not_portable"]
    ]
    if lacks:
        return f"Portable arithmetic was not in force: {', '.join(lacks)}"
    return f"Portable arithmetic was in force on this processor, {record['processor']}"
