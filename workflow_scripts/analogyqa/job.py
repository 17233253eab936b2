"""Logging and error messages of all scripts."""

import errno
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace

from analogyqa.cells import Cell
from analogyqa.errors import AnalogyQAError
from analogyqa.report.stored import configured
from analogyqa.settings.overrides import DEFAULT, from_text
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import Negatives, System
from analogyqa.surroundings import prepare_streams
from analogyqa.training.files import CellFiles, CellJob

# The errors of a disk that is full, over quota or not writable.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}


class _LogFile(logging.FileHandler):
    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore a full disk; the outputs of the job will report it in one message."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


@contextmanager
def job(snakemake) -> Iterator[SimpleNamespace]:
    """Yield the parameters of a job as attributes (see `experiments.parameters`), and log the job.

    Print one line on the terminal when the job ends, or one message for the user when it fails.
    Warnings also go to the terminal, and tracebacks to the log. Errors that a user can fix (a full
    disk, a folder that cannot be written to, a missing package) become a message; any other
    exception is a defect and is raised.
    """
    prepare_streams(is_output_needed=False)  # a terminal that is gone must not cost a result
    log_file, started = snakemake.log[0], time.perf_counter()
    try:
        terminal = logging.StreamHandler()
        terminal.setLevel(logging.WARNING)
        handlers: list[logging.Handler] = [_LogFile(log_file, mode="w"), terminal]
        logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=handlers, force=True)
        yield SimpleNamespace(**dict(snakemake.params.items()).get("given", {}))
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
    """Return the spaCy model that the parameter `model` of a job names; "" if it names none.

    Args:
        snakemake: The job.
        finds: What the model finds, for the message.

    Raises:
        AnalogyQAError: If it is not installed, and in no mirror.
    """
    # Only the jobs with a model pay for these imports.
    from analogyqa.cells.availability import find_model
    from analogyqa.sources.registry import mirrors_from

    names, config = snakemake.params.given["model"], snakemake.config
    folders = [config["resources_dir"], *mirrors_from(config.get("mirrors", []), os.environ)]
    return find_model(names, folders, finds) if names else ""


def reported(snakemake) -> tuple[Config, dict[str, Paper]]:
    """Return the configuration of a report, without what cannot run here, and its papers."""
    return configured(snakemake.config, snakemake.params.given["left_out"])


def cell_job(snakemake, system: System) -> CellJob:
    """Return the cell that the wildcards of a job name, and what its results depend on."""
    wildcards, given = snakemake.wildcards, snakemake.params.given
    overrides = from_text(wildcards.overrides)
    return CellJob(
        Cell(wildcards.system, wildcards.dataset, wildcards.subset, overrides),
        given["types"],
        system,
        _cell_files(snakemake, system.training.negatives),
        given.get("lowercase", False),
        given.get("sources", {}),
        given.get("configured"),
    )


def _cell_files(snakemake, negatives: Negatives) -> dict[int, CellFiles]:
    """Return the tables of a cell by seed; `negatives` decides which training quadruples."""
    named = dict(snakemake.input.items())
    names = {"dev": "dev", "test": "test", "train": negatives.file_stem}
    quadruples = {split: named[name] for split, name in names.items() if name in named}
    prototypes = named.get("prototypes")
    vectors = named.get("vectors")
    return {
        seed: CellFiles(
            named["corpus"],
            vectors if vectors is None or isinstance(vectors, str) else vectors[index],
            prototypes[index] if prototypes else None,
            {split: files[index] for split, files in quadruples.items()},
            named.get("sentence_vectors"),
            named.get("frequencies"),
        )
        for index, seed in enumerate(snakemake.params.given["seeds"])
    }
