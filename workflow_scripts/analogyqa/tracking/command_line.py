"""The commands `import` and `ui`."""

import logging
import os
import sys
from pathlib import Path

import typer

from analogyqa.plan import cells_of, load_papers
from analogyqa.settings.load import read_config
from analogyqa.settings.run import Config, tracking_uri_of
from analogyqa.tracking.records import experiment_of
from analogyqa.tracking.store import Store, artifacts_of, explained, import_runs

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
_config_option = typer.Option("config.yaml", help="The configuration of the run.")


@app.command("import")
def import_(config: Path = _config_option) -> None:
    """Import the run records that are there so far into MLflow."""
    _import_available(read_config(config))


@app.command()
def ui(config: Path = _config_option, port: int = 5000) -> None:
    """Import the run records that are there so far, then open the MLflow UI on this machine."""
    settings = read_config(config)
    _import_available(settings)
    tracking_uri = tracking_uri_of(settings)
    artifacts = artifacts_of(tracking_uri)
    address = f"http://{HOST}:{port}" if artifacts else tracking_uri.rstrip("/")
    # The start page of MLflow is about language models; lead past it.
    with explained(tracking_uri):
        experiment_id = Store(tracking_uri, experiment_of(settings.output_dir)).experiment_id
    print(f"MLflow UI: {address}/#/experiments/{experiment_id}/runs")
    if artifacts is None:
        return
    print("Ctrl-C ends it.", flush=True)
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", tracking_uri]
    command += ["--registry-store-uri", tracking_uri, "--artifacts-destination", str(artifacts)]
    command += ["--workers", "1", "--uvicorn-opts", "--log-level warning"]
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    os.execv(sys.executable, [*command, "--host", HOST, "--port", str(port)])


def _import_available(config: Config) -> None:
    results = Path(config.output_dir)
    cells = [
        tuple(results / "runs" / cell.path / name for name in ("run.json", "metrics.parquet"))
        for cell in cells_of(config, load_papers(config))
    ]
    available = [pair for pair in cells if all(path.exists() for path in pair)]
    records, metrics = zip(*available, strict=True) if available else ((), ())
    tracking_uri = tracking_uri_of(config)
    experiment = experiment_of(results)
    imported = import_runs(tracking_uri, experiment, records, metrics, results)
    print(
        f"{tracking_uri}: {experiment} has {imported.cells} cells with {imported.seeds} seeds and "
        f"{imported.files} tables and figures ({imported.added} runs new); "
        f"{len(cells) - len(available)} cells have not run yet"
    )
