"""The record of a run: what was computed, from which inputs, where, and by which code."""

import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import pandas as pd

from analogyqa.arithmetic import portability_gaps, processor
from analogyqa.cells.cell import Cell, Settings
from analogyqa.corpora.questions import select_subset
from analogyqa.files import write_json
from analogyqa.measures import RANKED, measure_run
from analogyqa.runs.depends_on import content_hash, sha256
from analogyqa.schemas import CORPUS, METRICS, SCORES, read_table, write_table
from analogyqa.surroundings import git_environment
from analogyqa.training.data import CellFiles, CellJob
from analogyqa.training.scoring import EVALUATED
from analogyqa.vectors.store import store_record

# What a record says about the results, not about how they were made.
_CONTENT = (
    *("cell", "settings", "hyperparameters", "sources", "stores", "seeds", "inputs"),
    *("scores", "metrics"),
)
PACKAGES = ("torch", "numpy", "pandas", "pyarrow", "ir_measures", "fasttext", "gensim", "snakemake")


def environment() -> dict:
    """Return what a record says about the machine; memory is the peak of this process in MB."""
    torch = sys.modules.get("torch")
    gpu_memory = None
    if torch and torch.cuda.is_initialized():
        gpu_memory = torch.cuda.max_memory_allocated() >> 20
    versions = {"python": platform.python_version(), **dict.fromkeys(PACKAGES)}
    for name in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return {
        "versions": versions,
        "platform": platform.platform(),
        "processor": processor(),
        "not_portable": portability_gaps(),
        "git_commit": code_commit(),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "peak_gpu_memory_mb": gpu_memory,
    }


def table_hashes(files: CellFiles) -> dict[str, str]:
    """Return the sha256 of each table of a seed, by name."""
    return {name: sha256(path) for name, path in files.by_role().items()}


def named_by_seed(hashes: dict[int, dict[str, str]]) -> dict[str, str]:
    """Return the hashes of the tables of all seeds by names that include the seed."""
    return {f"{name}, seed {seed}": own[name] for seed, own in hashes.items() for name in own}


def run_record(
    job: CellJob, inputs: dict[str, str], scores: str | Path, stores: dict | None = None, **unhashed
) -> dict:
    """Return the record of a cell.

    Args:
        job: The cell.
        inputs: The sha256 of each input, by name.
        scores: The file of scores, or that of measures for a run without scores. Its bytes and
            those of metrics.parquet beside it are part of the content hash.
        stores: The records of the vectors that were read, by name; None for those of the job.
        unhashed: Entries about the machine and the code.
    """
    if stores is None:
        first = next(iter(job.files.values()))
        paths = {"vectors": first.vectors, "sentence_vectors": first.sentence_vectors}
        stores = {kind: store_record(path) for kind, path in paths.items() if path}
    content = {
        "cell": job.cell.record(),
        "settings": job.settings,
        "hyperparameters": job.hyperparameters if job.system.trained else None,
        "sources": job.sources,
        "stores": stores,
        "seeds": list(job.files),
        "inputs": inputs,
        "scores": sha256(scores),
        "metrics": sha256(Path(scores).with_name("metrics.parquet")),
    }
    machine = {**environment(), "device": "cpu", "machines": {}}
    return {**content, "content_hash": record_hash(content), **machine, **unhashed}


def run_system(record: dict) -> dict:
    """Return the system of a run, without its title, as its record describes it.

    `training` and `p` are missing if the system does not read them.
    """
    systems = record["settings"]["systems"]
    return systems[record["hyperparameters"] or next(iter(systems))]


def record_hash(record: dict) -> str:
    """Return the hash of what a record says about the results; older ones lack some keys."""
    return content_hash({key: record[key] for key in _CONTENT if key in record})


def write_run(
    job: CellJob,
    inputs: dict[str, str],
    scores: Sequence[pd.DataFrame],
    folder: str | Path,
    started: float,
    **unhashed,
) -> None:
    """Write scores.parquet, metrics.parquet and run.json of a run into its folder.

    `scores` has a table of schema SCORES for each seed; `started` is a `time.perf_counter`.
    """
    seconds = round(time.perf_counter() - started, 3)
    path = Path(folder, "scores.parquet")
    all_scores = pd.concat(scores, ignore_index=True)
    write_table(all_scores, SCORES, path)
    corpora = {seed: files.corpus for seed, files in job.files.items()}
    metrics = measure_seeds(all_scores, corpora, job.types)
    write_table(metrics, METRICS, path.with_name("metrics.parquet"))
    measures = {name: measure.computation for name, measure in RANKED.items()}
    record = run_record(job, inputs, path, wall_seconds=seconds, **unhashed, measures=measures)
    write_json(path.with_name("run.json"), record)


def read_metrics(path: str | Path) -> pd.DataFrame:
    """Return the measures of a run, the metrics.parquet at `path`: a table of schema METRICS.

    Measures that are new or computed in another way since the run are taken from its scores.

    Raises AnalogyQAError when a file is missing or damaged.
    """
    metrics, scores = read_table(path, METRICS), Path(path).with_name("scores.parquet")
    if not scores.exists():  # it solves analogies, which no ranked measure is about
        return metrics
    record = json.loads(scores.with_name("run.json").read_text(encoding="utf-8"))
    measured = record.get("measures", {})
    others = [name for name, at in RANKED.items() if measured.get(name) != at.computation]
    if not others:
        return metrics
    cell, results = Cell.from_record(record["cell"]), scores.parents[5]
    settings = record["settings"]
    corpora = corpus_tables(results, cell, settings)
    again = measure_seeds(read_table(scores, SCORES), corpora, settings["question_types"])
    again = again[again["measure"].isin(others)]
    kept = metrics[~metrics["measure"].isin(others)]
    return pd.concat([kept.astype(again.dtypes.to_dict()), again], ignore_index=True)


def corpus_tables(results: Path, cell: Cell, settings: Settings) -> dict[int, Path]:
    """Return the corpus table of each seed of a run; `settings` are those of its record."""
    names = cell.corpora(settings)
    return {seed: results / "corpora" / f"{name}.parquet" for seed, name in names.items()}


def measure_seeds(
    scores: pd.DataFrame, corpora: Mapping[int, str | Path], types: Sequence[str] | None
) -> pd.DataFrame:
    """Measure the scores of a run as `compute_metrics` does, each seed on its own corpus.

    `corpora` has the path of the table of each seed.
    """
    parts = []
    for path in dict.fromkeys(corpora.values()):
        seeds = [seed for seed in corpora if corpora[seed] == path]
        of_seeds = scores[scores["seed"].isin(seeds)]
        parts.append(compute_metrics(of_seeds, read_table(path, CORPUS), types))
    return pd.concat(parts, ignore_index=True)


def compute_metrics(
    scores: pd.DataFrame, corpus: pd.DataFrame, types: Sequence[str] | None
) -> pd.DataFrame:
    """Measure the scores of a run on the questions of some types; return a table of schema METRICS.

    Raises AnalogyQAError when the scores are not those of all these questions.
    """
    type_by_question = {}
    for split in EVALUATED:
        pairs = select_subset(corpus, split, types)
        type_by_question[split] = dict(pairs[["question_id", "question_type"]].to_numpy())
    unanswerable = {}
    if types is None:  # only the subset `all` has questions without a correct candidate
        answerable = corpus.groupby(["split", "question_id"], observed=True)["label"].any()
        unanswerable = {
            split: answerable[split][~answerable[split]].index.astype(str)
            for split in EVALUATED
            if split in answerable
        }
    return measure_run(scores, type_by_question, unanswerable)


CHECKOUT = Path(__file__).resolve().parents[3]
UNKNOWN = "unknown"
_CODE = ("Snakefile", "rules", "workflow_scripts", "papers")


class CommitUnknownError(Exception):
    """Git cannot name the commit; the message says why."""


def code_commit(checkout: Path = CHECKOUT) -> str:
    """Return the commit that `find_commit` finds, or `unknown`."""
    try:
        return find_commit(checkout)
    except CommitUnknownError:
        return UNKNOWN


@cache
def find_commit(checkout: Path = CHECKOUT) -> str:
    """Return the commit of a checkout; raises CommitUnknownError if git cannot name it.

    It ends with `-dirty` if a tracked file was changed or new code is not committed. A repository
    around the checkout does not count, nor one that GIT_DIR names.
    """
    top = _git(checkout, "rev-parse", "--show-toplevel")
    if not Path(top).samefile(checkout):
        raise CommitUnknownError(f"{checkout} is not a git checkout, although {top} around it is")
    commit = _git(checkout, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    added = _git(checkout, "ls-files", "--others", "--exclude-standard", "--", *_CODE)
    return f"{commit}-dirty" if added and not commit.endswith("-dirty") else commit


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    try:
        return subprocess.check_output(
            command, env=git_environment(), stderr=subprocess.PIPE, text=True, timeout=30
        ).strip()
    except subprocess.CalledProcessError as error:
        raise CommitUnknownError(error.stderr.partition("\n")[0]) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommitUnknownError(str(error)) from error
