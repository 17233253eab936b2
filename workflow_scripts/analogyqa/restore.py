"""Bring the finished cells of an archive back into a results folder, so that its run goes on.

A cell comes back if a run would make it with the same settings and code, from the same files. These
files are not in an archive, so they are made first.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from analogyqa.cells import Cell
from analogyqa.cells.cell import Settings, differences
from analogyqa.cells.made import made_files
from analogyqa.cells.targets import require_target
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import find_records, read_record
from analogyqa.files import atomic_path
from analogyqa.runs.depends_on import sha256
from analogyqa.settings.data import SOLVER
from analogyqa.workflow import Job, Workflow, job_that_makes

# The roles of the files that a cell is made from. All are made before cells come back: one that is
# made later, for another cell, would be newer than they are, and Snakemake would run them again.
_MADE_FROM = (
    *("corpus", "vectors", "sentence_vectors", "frequencies", "prototypes"),
    *("train", "dev", "test"),  # quadruples
)
# The roles of files of other results, which must be there or come back, too.
_OF_OTHERS = ("earlier_run", "weights", "records", "histories", "selection")
_FILES = ("scores.parquet", "metrics.parquet", "history.parquet", "run.json")


class Archived(NamedTuple):
    """A result of an archive, and the job that makes it."""

    path: Path  # its folder in the archive, or its file
    job: Job
    record: dict | None  # that of a run

    def inputs(self, *roles: str) -> list[Path]:
        """Return the files that the job reads in some roles."""
        named = (self.job.input.get(role) or [] for role in roles)
        lists = ([files] if isinstance(files, str) else files for files in named)
        return [Path(path) for files in lists for path in files]


Results = dict[str, Archived]  # by their path below the results folder
Refused = dict[str, str]  # why a result does not come back


def find_results(workflow: Workflow, archive: str | Path) -> tuple[Results, Refused]:
    """Return the runs and selections of an unpacked archive that a workflow makes, and the others.

    Raises AnalogyQAError when a record is damaged.
    """
    config, papers = workflow.globals["CONFIG"], workflow.globals["PLAN"].papers
    found, refused = {}, {}
    paths = {f"runs/{name}": path.parent for name, path in find_records(archive).items()}
    selections = made_files(archive, "selection/*/*.json")
    paths |= {path.relative_to(archive).as_posix(): path for path in selections}
    for name, path in paths.items():
        target = f"{config.output_dir}/{name}" + ("/run.json" if path.is_dir() else "")
        try:
            require_target(target, config, papers)
        except AnalogyQAError as error:
            refused[name] = str(error).removeprefix(f"{target}: ")
            continue
        record = read_record(path / "run.json") if path.is_dir() else None
        found[name] = Archived(path, job_that_makes(workflow, target), record)
    return found, refused


def files_to_make(results: Iterable[Archived]) -> list[str]:
    """Return the missing files that some results are made from."""
    paths = (path for result in results for path in result.inputs(*_MADE_FROM))
    return sorted({str(path) for path in paths if not path.exists()})


def refuse_changed(results: Results, folder: Path) -> tuple[Results, Refused]:
    """Return the results that come back into a folder, and why others do not."""
    hash_of = cache(sha256)
    refused = {}
    for name, result in results.items():
        if result.record and (reason := _why_changed(result.record, result, hash_of)):
            refused[name] = reason
    # What rests on a run comes back only with it.
    while True:
        kept = {name: result for name, result in results.items() if name not in refused}
        lacking = {name: lack for name in kept if (lack := _lacking(kept[name], kept, folder))}
        if not lacking:
            return kept, refused
        refused |= {
            name: f"made from {lack}, which does not come back" for name, lack in lacking.items()
        }


def _why_changed(record: dict, result: Archived, hash_of: Callable[[Path], str]) -> str:
    settings, job = result.job.params.settings, result.job
    solver = dict(Cell.from_record(record["cell"]).overrides).get(SOLVER)
    now: Settings = settings[solver] if solver else settings
    if changed := [*differences(record["settings"], now)]:
        return f"made with other settings: {'; '.join(changed[:3])}"
    if not (result.path / "metrics.parquet").exists():
        return "its measures are not in the archive"
    if record.get("code") != job.params.code:
        return "made by other code"
    recorded = {*record["inputs"].values()}
    files = [path for path in result.inputs(*_MADE_FROM) if path.exists()]
    other = next((path for path in files if hash_of(path) not in recorded), None)
    return f"made from another {other}" if other else ""


def _lacking(result: Archived, kept: Mapping[str, Archived], folder: Path) -> str:
    """Return a result that this one rests on and that neither comes back nor is there, or ""."""
    parts = result.inputs("records")
    for path in result.inputs(*_OF_OTHERS):
        file = path.relative_to(folder)
        is_of_run = file.parts[0] == "runs"
        name = (file.parent if is_of_run else file).as_posix()
        proof = path.with_name("run.json") if is_of_run else path
        if name in kept:
            continue
        if not proof.exists():
            return name
        if result.record and path in parts:
            used = {*result.record["inputs"].values()}  # of a fused run: the scores of its parts
            if read_record(path)["scores"] not in used:
                return name
    return ""


def copy_results(results: Results, folder: Path) -> list[str]:
    """Copy results into a folder, except what is there already; return the names of those copied.

    All copies get the same time, so that Snakemake takes none for an update of another one.
    """
    copied, written = [], []
    for name, result in results.items():
        files = [result.path / file for file in _FILES] if result.record else [result.path]
        base = folder / name if result.record else (folder / name).parent
        if (base / files[-1].name).exists():
            continue
        for file in filter(Path.exists, files):
            with atomic_path(base / file.name) as temporary:
                shutil.copyfile(file, temporary)
            written.append(base / file.name)
        copied.append(name)
    now = time.time()
    for path in written:
        os.utime(path, (now, now))
    return copied
