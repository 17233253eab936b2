"""The commands `import` and `ui`."""

import logging
import os
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from analogyqa.errors import AnalogyQAError
from analogyqa.plan import holding_cell, load_papers, paper_cells
from analogyqa.settings.load import read_config
from analogyqa.settings.run import Config
from analogyqa.settings.tracking import resolve_tracking_uri
from analogyqa.tracking.records import Imported
from analogyqa.tracking.shown import paper_runs
from analogyqa.tracking.store import Store, artifacts_folder, explained, import_runs

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
_config_option = typer.Option("config.yaml", help="The configuration of the run.")


@app.command("import")
def import_(config: Path = _config_option) -> None:
    """Import the run records that are there so far into MLflow."""
    _import_available(read_config(config))


@app.command()
def ui(
    config: Path = _config_option, port: Annotated[int, typer.Option(min=1, max=65535)] = 5000
) -> None:
    """Import the run records that are there so far, then open the MLflow UI on this machine."""
    settings = read_config(config)
    tracking_uri = resolve_tracking_uri(settings)
    artifacts = artifacts_folder(tracking_uri)
    if artifacts:
        _require_free(port)
    imported = _import_available(settings)
    if not imported:
        raise AnalogyQAError(
            f"{settings.output_dir}: no run is there yet, so there is nothing to show. "
            f"Make some first: snakemake --cores all --configfile {config}"
        )
    address = f"http://{HOST}:{port}" if artifacts else tracking_uri.rstrip("/")
    # MLflow starts with language models, whatever an experiment's tag says; lead past that.
    with explained(tracking_uri):
        for experiment in imported:
            number = Store(tracking_uri, experiment).experiment_id
            page = f"experiments/{number}/runs?workflowType=machine_learning"
            print(f"{experiment}: {address}/#/{page}")
    if artifacts is None:
        return
    print("Click 'Model training' at the top left once: MLflow takes a run for an agent's before.")
    print("Ctrl-C ends it.", flush=True)
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", tracking_uri]
    command += ["--registry-store-uri", tracking_uri, "--artifacts-destination", str(artifacts)]
    command += ["--workers", "1", "--uvicorn-opts", "--log-level warning"]
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    os.execv(sys.executable, [*command, "--host", HOST, "--port", str(port)])


def _require_free(port: int) -> None:
    """Raise AnalogyQAError where another program listens at a port."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError as error:
            raise AnalogyQAError(
                f"port {port} of {HOST} cannot be used ({error.strerror}). Name another one: "
                "make ui PORT=5001"
            ) from error


def _import_available(config: Config) -> dict[str, Imported]:
    """Import what is there so far; return it by experiment, those without a run left out."""
    results, papers = Path(config.output_dir), load_papers(config)
    runs, waiting = {}, 0
    for name, paper in papers.items():
        cells = paper_cells(config, paper)
        files = ("run.json", "metrics.parquet")
        there = [
            cell
            for cell in cells
            if all(
                (results / "runs" / holding_cell(config, cell).path / file).exists()
                for file in files
            )
        ]
        waiting += len(cells) - len(there)
        if own := paper_runs(results, paper, there, config):
            runs[name] = own
    tracking_uri = resolve_tracking_uri(config)
    imported = import_runs(tracking_uri, results, runs)
    for experiment, done in imported.items():
        print(
            f"{experiment}: {done.cells} cells with {done.seeds} seeds, {done.files} tables and "
            f"figures ({done.added} runs new)"
        )
    print(f"{tracking_uri} is up to date; {waiting} cells have not run yet")
    return imported
