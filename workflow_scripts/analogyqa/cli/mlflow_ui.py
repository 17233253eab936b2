"""`analogyqa import` and `analogyqa ui`. Only they import MLflow, which takes seconds."""

import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from analogyqa.cells import paper_cells
from analogyqa.cli.options import CONFIG, ConfigOption, counted, load_run
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import is_finished
from analogyqa.settings.load import snakemake_command
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.tracking import artifacts_folder

HOST = "127.0.0.1"


def import_(config: ConfigOption = CONFIG) -> None:
    """Import the run records made so far into MLflow.

    Example: `analogyqa import --config sample/config.yaml`
    """
    _import_finished(*load_run(config))


def ui(
    config: ConfigOption = CONFIG, port: Annotated[int, typer.Option(min=1, max=65535)] = 5000
) -> None:
    """Import the run records made so far, then start the MLflow UI on this machine.

    Example: `analogyqa ui --config sample/config.yaml --port 5001`
    """
    from analogyqa.tracking.records import MODEL_TRAINING, VIEW
    from analogyqa.tracking.store import MlflowExperiment, readable_errors

    settings, papers = load_run(config)
    tracking_uri = settings.store_uri
    artifacts = artifacts_folder(tracking_uri)
    if artifacts:
        _require_free(port)
    experiments = _import_finished(settings, papers)
    if not experiments:
        raise AnalogyQAError(
            f"{settings.output_dir}: there are no runs yet, so there is nothing to show. "
            f"Make some first: {snakemake_command([config], {})}"
        )
    address = f"http://{HOST}:{port}" if artifacts else tracking_uri.rstrip("/")
    # Whatever an experiment's tag says, MLflow's start page is about language models. Skip it.
    with readable_errors(tracking_uri):
        for name in experiments:
            experiment_id = MlflowExperiment(tracking_uri, name).id
            page = f"experiments/{experiment_id}/runs?{MODEL_TRAINING}&viewStateShareKey={VIEW}"
            print(f"{name}: {address}/#/{page}")
    if artifacts is None:
        return
    print("If MLflow shows its page for agents, click 'Model training' at the top left.")
    print("Press Ctrl-C to stop.", flush=True)
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", tracking_uri]
    command += ["--registry-store-uri", tracking_uri, "--artifacts-destination", str(artifacts)]
    command += ["--workers", "1", "--uvicorn-opts", "--log-level warning"]
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    os.execv(sys.executable, [*command, "--host", HOST, "--port", str(port)])


def _require_free(port: int) -> None:
    """Raise AnalogyQAError when another program listens on a port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise AnalogyQAError(
                f"port {port} of {HOST} cannot be used ({error.strerror}). Choose another "
                "one, such as --port 5001"
            ) from error


def _import_finished(config: Config, papers: Mapping[str, Paper]) -> list[str]:
    """Import the records made so far; return the names of the experiments that have a run."""
    from analogyqa.tracking.records import describe, paper_runs, register_best
    from analogyqa.tracking.store import import_runs

    results, runs, waiting = Path(config.output_dir), {}, 0
    for name, paper in papers.items():
        cells = paper_cells(config, paper)
        finished = [cell for cell in cells if is_finished(results, config, cell)]
        waiting += len(cells) - len(finished)
        if finished_runs := paper_runs(results, paper, finished, config):
            runs[name] = finished_runs
    tracking_uri = config.store_uri
    imported = import_runs(tracking_uri, results, runs)
    describe(tracking_uri, results, [papers[name] for name in runs], config)
    for name, added in imported.items():
        print(f"{name}: {counted(added, 'new run', 'new runs')}")
    for uri, run in register_best(tracking_uri, results, runs, config).items():
        print(f"{uri}: {run}, the best on dev")
    print(
        f"{tracking_uri} is up to date; {counted(waiting, 'cell has', 'cells have')} no run. "
        "`analogyqa doctor` says which cannot run here"
    )
    return list(imported)
