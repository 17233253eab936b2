"""Find what a finished run has learned from, and its checkpoint."""

from functools import cache
from pathlib import Path

from analogyqa.cells import Cell, why_left_out
from analogyqa.cells.cell import system_from
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import find_records, read_record
from analogyqa.model.folder import Learned, require_new_texts
from analogyqa.report.stored import read_configuration
from analogyqa.runs.depends_on import sha256
from analogyqa.runs.record import run_system
from analogyqa.runs.trained import finished_checkpoint
from analogyqa.settings.base import nearest_hint
from analogyqa.settings.overrides import DEFAULT
from analogyqa.settings.run import Config
from analogyqa.training.data import CellFiles, CellJob

# The patterns of the paths of a run's inputs, by their name in its record.
_INPUT_PATTERNS = {
    "corpus": "corpora/*.parquet",
    "vectors": "vectors/**/*.npy",
    "prototypes": "prototypes/**/*.parquet",
}


def find_run(results: str | Path, run: str, seed: int | None = None) -> Learned:
    """Return what a run has learned; see `Model.load`."""
    results = Path(results)
    config, _, _ = read_configuration(results)
    runs = find_records(results)
    if run.count("/") == 2:
        run = f"{run}/{DEFAULT}"
    if run not in runs:
        system, dataset = [*run.split("/"), ""][:2]
        if reason := why_left_out(system, dataset, config) or config.left_out.get(dataset):
            raise AnalogyQAError(f"{results}: no run {run}, because it was left out: {reason}")
        raise AnalogyQAError(f"{results}: no run {run}{nearest_hint(run, sorted(runs))}")
    return learned_by(results, run, config, seed)


def learned_by(results: Path, run: str, config: Config, seed: int | None = None) -> Learned:
    """Return what a run has learned.

    Args:
        results: The output folder.
        run: The folder of the run below runs/.
        config: The configuration of the results.
        seed: One of the seeds of the run; None for the first.

    Raises AnalogyQAError when there is no such seed, when a file is missing or has changed, when
    the system cannot read new texts, or when the run solves analogies.
    """
    path = results / "runs" / run / "run.json"
    record = read_record(path)
    system = system_from(run_system(record))
    require_new_texts(system, run)
    seed = record["seeds"][0] if seed is None else seed
    if seed not in record["seeds"]:
        seeds = ", ".join(map(str, record["seeds"]))
        raise AnalogyQAError(f"{run}: no seed {seed}; the run has {seeds}")
    hashes = {
        name.removesuffix(f", seed {seed}"): value
        for name, value in record["inputs"].items()
        if name.endswith(f", seed {seed}")
    }
    if "corpus" not in hashes:
        raise AnalogyQAError(f"{run}: it solves analogies between sentences, and ranks no answers")
    files = {name: _find(results, name, hashes[name]) for name in _INPUT_PATTERNS if name in hashes}
    tables = CellFiles(files["corpus"], files.get("vectors"), files.get("prototypes"), {})
    job = CellJob(
        Cell.from_record(record["cell"]),
        record["settings"],
        record["hyperparameters"],
        system,
        {seed: tables},
        record["sources"],
    )
    checkpoint = None
    if job.system.trained:
        checkpoint = finished_checkpoint(job, seed, hashes, results / "checkpoints", path)
    return Learned(job, config.question_types, seed, checkpoint)


def _find(results: Path, name: str, value: str) -> str:
    """Return the input of a run with some sha256."""
    matches = (
        path
        for path in results.glob(_INPUT_PATTERNS[name])
        if path.is_file() and _hash(path, path.stat().st_mtime_ns) == value
    )
    if found := next(matches, None):
        return str(found)
    raise AnalogyQAError(
        f"{results}: the {name} of this run are not there, or have changed since ({value[:12]})"
    )


@cache  # the runs of a folder share their inputs
def _hash(path: Path, modified: int) -> str:
    return sha256(path)
