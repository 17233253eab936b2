"""TREC run and qrels files of any systems: read, measured, and written from finished runs."""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import ir_measures
import pandas as pd
import yaml

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import find_systems, read_record
from analogyqa.files import read_lines, write_text
from analogyqa.measures import RANKED
from analogyqa.runs.record import run_system
from analogyqa.schemas import SCORES, read_table
from analogyqa.settings.base import nearest_hint

log = logging.getLogger(__name__)
Number = TypeVar("Number", int, float)

# Official measures need the order of the candidates in the file of the data.
FILE_MEASURES = [name for name, measure in RANKED.items() if not measure.is_official]
LARGEST = 1000  # label; pytrec_eval crashes at very large ones
_RUN = "question Q0 candidate rank score tag"
_QRELS = "question 0 candidate label"


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    """Return the scores of a TREC run file, by question and candidate; comments are skipped.

    Raises AnalogyQAError for a line without six fields, a score that is no number, or a candidate
    that a question has twice.
    """
    return _read(path, _RUN, "score", float)


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Return the labels of a TREC qrels file, by question and candidate; errors as in `read_run`.

    Labels are whole numbers up to LARGEST; those above 0 are correct.
    """
    return _read(path, _QRELS, "label", int)


def _read(
    path: str | Path, names: str, column: str, parse: type[Number]
) -> dict[str, dict[str, Number]]:
    expected, values = names.split(), dict[str, dict[str, Number]]()
    for line, text in read_lines(path):
        fields = text.split()
        if not fields or text.startswith("#"):
            continue
        if len(fields) != len(expected):
            raise AnalogyQAError(
                f"{path}, line {line}: {len(fields)} fields instead of the {len(expected)} of "
                f"`{names}`. Name a {'run' if names == _RUN else 'qrels'} file."
            )
        row = dict(zip(expected, fields, strict=True))
        try:
            value = parse(row[column])
        except ValueError:
            value = None
        is_label = parse is int
        if value is None or not math.isfinite(value) or (is_label and abs(value) > LARGEST):
            kind = f"whole number up to {LARGEST}" if is_label else "number"
            raise AnalogyQAError(
                f"{path}, line {line}: the {column} {row[column]!r} is not a {kind}. Correct it."
            )
        candidates = values.setdefault(row["question"], {})
        if row["candidate"] in candidates:
            raise AnalogyQAError(
                f"{path}, line {line}: question {row['question']} already has the candidate "
                f"{row['candidate']}. Remove one of the lines."
            )
        candidates[row["candidate"]] = value
    if not values:
        raise AnalogyQAError(f"{path}: no lines of `{names}`. Name another file.")
    return values


def find_runs(paths: Iterable[str | Path]) -> dict[str, list[Path]]:
    """Return the run files of systems by name, from a file for each system, or a folder.

    A folder has a file for each seed of its system. The name of a system is that of its file or
    folder, without a suffix `.run`; if two would have the same name, all have their paths.

    Raises AnalogyQAError when a path is there twice, or a folder has no files.
    """
    systems: dict[str, list[Path]] = {}
    places = [*map(Path, paths)]
    names = [path.resolve().name.removesuffix(".run") for path in places]
    if len({*names}) < len(names):
        names = [*map(str, places)]
    for name, path in zip(names, places, strict=True):
        if name in systems:
            raise AnalogyQAError(f"{path} is there twice. Name the runs of another system.")
        files = sorted(filter(Path.is_file, path.iterdir())) if path.is_dir() else [path]
        if not files:
            raise AnalogyQAError(f"{path}: no run files. Name a folder with one for each seed.")
        systems[name] = files
    return systems


def measure_runs(
    systems: Mapping[str, Sequence[str | Path]],
    qrels: str | Path,
    measure: str = FILE_MEASURES[0],
) -> dict[str, pd.DataFrame]:
    """Measure run files as `ir_measures` does.

    Args:
        systems: The run files of the seeds of each system, see `find_runs`.
        qrels: The file of correct candidates. A run has 0 for questions that it lacks; a warning
            counts these.
        measure: One of FILE_MEASURES.

    Returns:
        By system, a frame of floats [seeds, sorted questions of the qrels].

    Raises:
        AnalogyQAError: for an unknown measure, a damaged file, or a run without any question of
            the qrels.
    """
    if measure not in FILE_MEASURES:
        raise AnalogyQAError(
            f"{measure}: not a measure of run files{nearest_hint(measure, FILE_MEASURES)}. "
            f"Choose one of {', '.join(FILE_MEASURES)}, or measure them yourself and give a table."
        )
    labels = read_qrels(qrels)
    evaluator = ir_measures.evaluator([RANKED[measure].computed_by], labels)
    values = {}
    for system, paths in systems.items():
        by_seed = {}
        for path in paths:
            run = read_run(path)
            if missing := [question for question in labels if question not in run]:
                if len(missing) == len(labels):
                    raise AnalogyQAError(
                        f"{path}: it has no question of {qrels}, such as {missing[0]}. Name the "
                        "qrels of this run."
                    )
                log.warning(
                    "%s: %d of the %d questions of %s are missing, such as %s. They count as 0.",
                    *(path, len(missing), len(labels), qrels, missing[0]),
                )
            results = evaluator.iter_calc(run)
            by_seed[str(path)] = {result.query_id: result.value for result in results}
        values[system] = pd.DataFrame.from_dict(by_seed, orient="index")[sorted(labels)]
    return values


def export_runs(results: str | Path, folder: str | Path, command: str = "") -> list[Path]:
    """Write the test scores of finished runs as TREC run files, and qrels files of their labels.

    These are the runs without overrides, or tuned on dev. The seed 0 of `analogy` on the subset
    `comb` of `wikiqa` becomes `wikiqa/comb/analogy/seed0.run`, and the labels `wikiqa/comb.qrels`.
    Scores keep all digits, so that measures are equal. Each run starts with the header of
    ir_metadata (Breuer, Keller and Schaer 2022, "ir_metadata: An Extensible Metadata Schema for IR
    Experiments", SIGIR), as comments.

    Args:
        results: The output folder of a workflow.
        folder: A folder that is empty or does not exist.
        command: The command that made the results, for the header.

    Returns:
        The paths of the qrels files.

    Raises:
        AnalogyQAError: if the folder is not empty, no run has scores, or an id has a space.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AnalogyQAError(f"{folder}: not an empty folder. Name a new one: --to FOLDER")
    qrels: dict[Path, dict[tuple[str, str], int]] = {}
    for cell, system, path in find_systems(results):
        if not path.with_name("scores.parquet").exists():
            continue  # it solves analogies
        scores = read_table(path.with_name("scores.parquet"), SCORES)
        scores = scores[scores["split"] == "test"].astype(
            {"question_id": str, "candidate_id": str, "score": float}
        )
        ids = pd.concat([scores["question_id"], scores["candidate_id"]])
        if (bad := ids[ids.str.contains(r"\s|^#")]).size:
            raise AnalogyQAError(
                f"{path.parent}: the id {bad.iloc[0]!r} has a space, or starts with #, which TREC "
                "files cannot hold. Rename it in the data, and run the workflow again."
            )
        place = folder / cell.dataset / cell.subset
        labels = qrels.setdefault(place.with_name(f"{cell.subset}.qrels"), {})
        keys = zip(scores["question_id"], scores["candidate_id"], strict=True)
        labels.update(zip(keys, scores["label"], strict=True))
        record = read_record(path)
        for seed, ranked in scores.groupby("seed"):
            tag = f"{system}-seed{seed}"
            text = _header(record, cell, tag, command) + _run_lines(ranked, tag)
            write_text(place / system / f"seed{seed}.run", text)
    if not qrels:
        raise AnalogyQAError(f"{results}: no run has scores of candidates. Finish the run first.")
    for path, labels in qrels.items():
        rows = (f"{question} 0 {answer} {label}\n" for (question, answer), label in labels.items())
        write_text(path, "".join(rows))
    return list(qrels)


def _run_lines(scores: pd.DataFrame, tag: str) -> str:
    """Return the lines of a run, candidates with equal scores in the order of trec_eval."""
    columns = ["question_id", "score", "candidate_id"]
    ranked = scores.sort_values(columns, ascending=[True, False, False])
    ranks = ranked.groupby("question_id").cumcount() + 1
    rows = zip(*(ranked[name] for name in columns), ranks, strict=True)
    return "".join(
        f"{question} Q0 {answer} {rank} {score!r} {tag}\n" for question, score, answer, rank in rows
    )


def _header(record: dict, cell: Cell, tag: str, command: str) -> str:
    """Return the header of a run file: fields of ir_metadata 0.1, https://www.ir-metadata.org."""
    system, sources = run_system(record), record["sources"]
    libraries = [f"{name}=={version}" for name, version in record.get("versions", {}).items()]
    stores = [{"name": at["name"], "source": at["origin"]} for at in record["stores"].values()]
    fields = {
        "schema-version": 0.1,
        "run-version": 1.0,
        "tag": tag,
        "platform": {
            "hardware": {"cpu": {"model": record.get("processor")}},
            "operating system": {"kernel": record.get("platform")},
            "software": {"libraries": {"python": libraries}},
        },
        "research goal": {
            "evaluation": {
                "reported measures": [*dict.fromkeys(str(at.computed_by) for at in RANKED.values())]
            }
        },
        "implementation": {
            "executable": {"cmd": command},
            "source": {"lang": ["python"], "commit": record["git_commit"]},
        },
        "method": {
            "automatic": True,
            "score ties": "descending candidate id",
            "retrieval": [
                {"name": cell.system, "method": system["ranker"]["name"], "params": system}
            ],
        },
        "actor": {},  # for the user to fill in
        "data": {
            "test collection": {
                "name": cell.dataset,
                "source": sources.get("test"),
                "qrels": f"{cell.dataset}/{cell.subset}.qrels",
            },
            "training data": [{"name": sources["train"]}] if "train" in sources else [],
            "other": stores,
        },
    }
    text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=4096)
    lines = ["ir_metadata.start", *text.splitlines(), "ir_metadata.end"]
    return "".join(f"# {line}\n" for line in lines)
