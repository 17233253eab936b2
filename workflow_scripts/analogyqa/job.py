"""Logging and error messages of all scripts."""

import errno
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from analogyqa.cells.cell import Cell, Settings, system_from
from analogyqa.errors import AnalogyQAError
from analogyqa.report.stored import configured
from analogyqa.runs.train import read_tuned
from analogyqa.schemas import SPLITS
from analogyqa.settings.overrides import DEFAULT
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.surroundings import prepare_streams
from analogyqa.training.data import CellFiles, CellJob

# The errors of a disk that is full, over quota or not writable.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}


class _LogFile(logging.FileHandler):
    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore a full disk; the outputs of the job will report it in one message."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


@contextmanager
def job(snakemake) -> Iterator[Settings]:
    """Yield the parameter `settings` of a job, and log the job.

    Print one line on the terminal when the job ends. Errors that a user can fix (a full disk, a
    folder that cannot be written to, a missing package) become one message there, with a traceback
    in the log; any other exception is a defect and is raised.
    """
    prepare_streams(is_output_needed=False)  # a terminal that is gone must not cost a result
    log_file, started = snakemake.log[0], time.perf_counter()
    try:
        terminal = logging.StreamHandler()
        terminal.setLevel(logging.WARNING)
        handlers: list[logging.Handler] = [_LogFile(log_file, mode="w"), terminal]
        logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=handlers, force=True)
        yield snakemake.params.get("settings", {})
        values = (value for value in snakemake.wildcards if value != DEFAULT)
        seconds = time.perf_counter() - started
        print(" ".join([snakemake.rule, *values]) + f": {seconds:.1f} s", file=sys.stderr)
    except (AnalogyQAError, OSError, ImportError) as error:
        with suppress(OSError), open(log_file, "a") as file:
            traceback.print_exc(file=file)
        remedy = ""
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            remedy = ". Free some disk space, or make the folder writable, and run it again"
        elif isinstance(error, ImportError):
            remedy = f". Reinstall the packages in {sys.prefix}"
        sys.exit(f"\nError: {error}{remedy}\n({snakemake.rule}; the traceback is in {log_file})\n")


def find_spacy_model(snakemake, finds: str) -> str:
    """Return the spaCy model that the settings of a job name as `model`; "" if they name none.

    Raises AnalogyQAError, which says what the model `finds`, if there is no such model here.
    """
    # Only the jobs with a model pay for these imports.
    from analogyqa.cells.availability import find_model
    from analogyqa.sources.registry import mirrors_from

    names, config = snakemake.params.settings["model"], snakemake.config
    folders = [config["resources_dir"], *mirrors_from(config.get("mirrors", []), os.environ)]
    return find_model(names, folders, finds) if names else ""


def reported(snakemake) -> tuple[Config, dict[str, Paper]]:
    """Return the configuration of a report, without what cannot run here, and its papers."""
    return configured(snakemake.config, snakemake.params.settings["left_out"])


def by_seed(paths: str | Sequence[str], seeds: Sequence[int]) -> dict[int, str]:
    """Return the file of each seed; a single file is that of all seeds."""
    paths = [paths] if isinstance(paths, str) else paths
    return dict(zip(seeds, paths if len(paths) > 1 else [*paths] * len(seeds), strict=True))


def cell_job(snakemake, folder: Path | None = None, settings: Settings | None = None) -> CellJob:
    """Return the cell with what it reads; by default, that in whose folder the job writes."""
    inputs, settings = snakemake.input, settings or snakemake.params.settings
    selection = inputs.get("selection")
    hyperparameters = read_tuned(selection[0]) if selection else next(iter(settings["systems"]))
    system = system_from(settings["systems"][hyperparameters])
    quadruples = {split: inputs.get(split, []) for split in SPLITS}
    draw = system.training.negatives.file_stem
    quadruples["train"] = [path for path in quadruples["train"] if Path(path).stem == draw]
    roles = ("corpus", "vectors", "prototypes", "sentence_vectors", "frequencies")
    tables = {role: by_seed(inputs.get(role) or [None], settings["seeds"]) for role in roles}
    files = {}
    for index, seed in enumerate(settings["seeds"]):
        given = {role: paths[seed] for role, paths in tables.items()}
        by_split = {split: paths[index] for split, paths in quadruples.items() if paths}
        files[seed] = CellFiles(quadruples=by_split, **given)
    cell = Cell.from_path(folder or Path(snakemake.output[0]).parent)
    sources = dict(snakemake.params.get("sources", {}))
    return CellJob(cell, settings, hyperparameters, system, files, sources)
