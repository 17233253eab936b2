"""The record of a run: what was computed from what, where and by which code."""

import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
from pathlib import Path

PACKAGES = ("torch", "numpy", "pandas", "pyarrow", "ir_measures", "fasttext", "nltk", "snakemake")


def sha256(path: str | Path) -> str:
    """Return the sha256 of a file as hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(value: object) -> str:
    """Return the sha256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def environment() -> dict:
    """Return the machine side of a record: versions, commit, Slurm job, peak memory in MB."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "versions": versions,
        "platform": platform.platform(),
        "git_commit": git_commit(),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def git_commit() -> str | None:
    """Return the commit of the code, `-dirty` behind it when files differ, None outside git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def run_record(
    cell: dict, settings: dict, seeds: list[int], inputs: dict[str, str], scores: str | Path, **more
) -> dict:
    """Return the record of one cell.

    Args:
        cell: model, dataset, subset, p.
        settings: the resolved configuration that the scores depend on.
        seeds: as run.
        inputs: name of an input to its sha256.
        scores: the file of scores; its bytes are part of the content hash.
        more: further entries, such as device and wall_seconds, that are not part of it.
    """
    content = {
        "cell": cell,
        "settings": settings,
        "seeds": seeds,
        "inputs": inputs,
        "scores": sha256(scores),
    }
    return {**content, "content_hash": content_hash(content), **environment(), **more}
