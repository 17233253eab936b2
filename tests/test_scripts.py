"""The scripts of the rules: their types and imports, and the threads of a training job."""

import ast
import inspect
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from unittest.mock import MagicMock, create_autospec

import pytest

from analogyqa.runs.train import train_cell

ROOT = Path(__file__).parents[1]
SCRIPTS_FOLDER = ROOT / "workflow_scripts"
SCRIPTS = sorted(SCRIPTS_FOLDER.glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_name_that_a_script_imports_exists(path):
    imports = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("analogyqa")
        for alias in node.names
    ]
    assert [pair for pair in imports if not hasattr(import_module(pair[0]), pair[1])] == []


@pytest.mark.slow
@pytest.mark.draw
def test_the_scripts_call_the_library_with_the_right_types(tmp_path):
    for path in SCRIPTS:
        # Snakemake gives the name to a script; on the first line, it moves no other line.
        declared = f"from typing import Any; snakemake: Any; {path.read_text('utf-8')}"
        (tmp_path / path.name).write_text(declared, encoding="utf-8")
    copies = [str(tmp_path / path.name) for path in SCRIPTS if path.stem != "slurm_patience"]
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--scripts-are-modules"]
    command = [sys.executable, "-m", "mypy", *options, *copies]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_as_many_seeds_train_in_parallel_as_the_job_has_threads(monkeypatch):
    """With fewer, the results would be the same."""
    train = create_autospec(train_cell)
    monkeypatch.setattr("analogyqa.runs.train.train_cell", train)
    for name in ("job.job", "job.cell_job", "tracking.live_log"):
        monkeypatch.setattr(f"analogyqa.{name}", MagicMock())
    config = {"output_dir": "results", "tracking_uri": "", "device": "cpu"}
    snakemake = MagicMock(threads=2, config=config)
    snakemake.output.record = "results/runs/a/run.json"
    runpy.run_path(str(SCRIPTS_FOLDER / "train_encoder.py"), {"snakemake": snakemake})
    (call,) = train.call_args_list
    arguments = inspect.signature(train_cell).bind(*call.args, **call.kwargs).arguments
    assert arguments["threads"] == 2
