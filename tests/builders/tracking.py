"""Records of finished cells, the runs that MLflow shows, and a server that can be killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import requests
from mlflow import MlflowClient
from mlflow.entities import Run
from urllib3.util import Retry

from analogyqa.cells import Cell
from analogyqa.files import write_json
from analogyqa.measures import MEASURES, RANKED, TIED
from analogyqa.runs.depends_on import content_hash
from analogyqa.schemas import CORPUS, HISTORY, METRICS, SPLITS, read_table, write_table
from analogyqa.settings.tracking import sqlite_uri
from analogyqa.tracking.records import cell_run, documents_run, run_name
from analogyqa.tracking.store import import_runs, initialise
from builders.report import make_config, make_record
from builders.servers import free_ports

EPOCHS = 4
PAPER = "diallo2019"
EXPERIMENT = f"results/{PAPER}"  # the name of the output folder, and the paper
LIVE = "results/live"
CELL = Cell("analogy", "wikiqa", "comb", (("p", "20"),))
UNTRAINED = Cell("random", "wikiqa", "comb")
NAME, UNTRAINED_NAME = run_name(CELL), run_name(UNTRAINED)
CURVES = ["loss", *(f"dev_{name}" for name in RANKED)]
SYSTEM = {
    "encoder": "bigru",
    "vectors": "some",
    "ranker": {"name": "analogy"},
    "rewriting": "entity",  # its model cannot be served
    "p": 20,
}
TRAINING = {"loss": "printed", "select_by": "mrr", "negatives": {"count": 1}}


def epochs_of(seed: int, epochs: int) -> list[list]:
    """Return the history of a seed as rows of HISTORY."""
    return [
        [seed, epoch, measure, value]
        for epoch in range(1, epochs + 1)
        for measure, value in [
            ("loss", 1 / epoch),
            *((f"dev_{name}", 0.5) for name in RANKED),
            ("seconds", 2.0),
            ("examples_per_second", 100.0),
        ]
    ]


def write_cell(results: Path, cell: Cell, rr: float = 0.5, trained: bool = True, epochs=EPOCHS):
    """Write the record, history and metrics of a cell with the seeds 0 and 1."""
    folder = results / "runs" / cell.path
    system = SYSTEM | ({"training": TRAINING} if trained else {})
    facts = {
        "settings": {"seeds": [0, 1], "systems": {"paper": system}, "lowercase": True, "parts": {}},
        "hyperparameters": "paper" if trained else None,
        "sources": {split: f"wikiqa-{split}" for split in SPLITS},
        "stores": {},
        "scores": str(rr),
        "wall_seconds": 60.0,
    }
    record = make_record(cell, **facts)
    write_json(folder / "run.json", record | {"content_hash": content_hash(record)})
    metrics = [
        (seed, split, question, "who", name, rr + 0.25 * seed if name == "mrr" else value)
        for seed in (0, 1)
        for split in ("dev", "test")
        for question in ("q1", "q2")
        for name, value in (*dict.fromkeys(RANKED, 0.25).items(), (TIED, 3.0))
    ]
    write_table(pd.DataFrame(metrics, columns=METRICS.names), METRICS, folder / "metrics.parquet")
    if trained:
        history = pd.DataFrame(epochs_of(0, epochs) + epochs_of(1, epochs), columns=HISTORY.names)
        write_table(history, HISTORY, folder / "history.parquet")


def write_corpus(results: Path) -> None:
    """Write the corpus of the cells: three training pairs, two of dev, one of test."""
    splits = ["train"] * 3 + ["dev"] * 2 + ["test"]
    pairs = pd.DataFrame({"split": splits, "label": 1, "question_type": "who"})
    for name in ("question_id", "question", "candidate_id", "candidate"):
        pairs[name] = [f"{name} {number}" for number in range(len(splits))]
    write_table(pairs[CORPUS.names], CORPUS, results / "corpora" / "wikiqa.parquet")


def import_all(results: Path, tracking_uri: str | None = None) -> int:
    """Import the records of an output folder, into its own store unless a URI is given."""
    records = sorted((results / "runs").rglob("run.json"))
    return import_cells(results, [Cell.from_path(path.parent) for path in records], tracking_uri)


def import_cells(results: Path, cells: list[Cell], tracking_uri: str | None = None) -> int:
    """Import some cells, and the tables and figures; return the number of new runs."""
    runs = [cell_run(results, cell, "", {}, make_config()) for cell in cells]
    runs += documents_run(results, PAPER)
    (added,) = import_runs(tracking_uri or uri(results), results, {PAPER: runs}).values()
    return added


def uri(results: Path) -> str:
    return sqlite_uri(results / "mlflow.db")


def active_runs(tracking_uri: str, name: str = EXPERIMENT) -> list:
    """Return the runs that the UI shows in an experiment."""
    client = MlflowClient(tracking_uri)
    experiment = client.get_experiment_by_name(name)
    return list(client.search_runs([experiment.experiment_id])) if experiment else []


def shown_metrics(tracking_uri: str) -> dict[tuple, dict]:
    """Return the metrics {(metric, step): value} of each shown run, keyed as in the records."""
    client, runs = MlflowClient(tracking_uri), active_runs(tracking_uri)
    names = {run.info.run_id: run.info.run_name for run in runs}
    values: dict[tuple, dict] = {}
    for run in runs:
        tags = run.data.tags
        key = tags["record"], names.get(tags.get("mlflow.parentRunId")), run.info.run_name
        assert key not in values, f"{key} is shown twice"
        assert run.info.status == "FINISHED", key
        assert ("mlflow.parentRunId" in tags) != ("complete" in tags)
        values[key] = {
            (metric, point.step): point.value
            for metric in run.data.metrics
            for point in client.get_metric_history(run.info.run_id, metric)
        }
    return values


def assert_shows_the_records(tracking_uri: str, results: Path) -> None:
    """Assert that each run is shown once, complete, with exactly the metrics of its record."""
    shown, recorded = shown_metrics(tracking_uri), recorded_metrics(results)
    assert shown.keys() == recorded.keys()
    for key, metrics in recorded.items():
        assert shown[key] == pytest.approx(metrics, abs=1e-12), key
    assert active_runs(tracking_uri, LIVE) == []


def recorded_metrics(results: Path) -> dict[tuple, dict]:
    """Return the metrics {(metric, step): value} of each recorded run.

    The keys are (record, name of the parent run or None, name of the run).
    """
    spread: dict[str, dict] = {}
    if (summary := results / "summary.csv").exists():
        for row in pd.read_csv(summary).to_dict("records"):
            path = "/".join([row["system"], row["dataset"], row["subset"], row["overrides"]])
            for name in ("sd", "run_low", "run_high", "ci_low", "ci_high"):
                if pd.notna(row[name]):
                    spread.setdefault(path, {})[f"spread/{row['measure']}_{name}", 0] = row[name]
    runs: dict[tuple, dict] = {}
    if (results / "tables").exists():
        runs[EXPERIMENT, None, "tables and figures"] = {}
    for path in results.glob("runs/*/*/*/*/metrics.parquet"):
        cell = Cell.from_path(path.parent)
        record, name = f"results/{cell.path}", run_name(cell)
        table = read_table(path, METRICS).astype({"split": str, "measure": str})
        table = table[table["measure"].isin(MEASURES)]
        finals = table.groupby(["seed", "split", "measure"])["value"].mean().unstack("seed")
        finals.index = [
            (measure if split == "test" else f"{split}/{measure}", 0)
            for split, measure in finals.index
        ]
        runs[record, None, name] = {**finals.mean(axis=1), **spread.get(cell.path, {})}
        history = path.with_name("history.parquet")
        epochs = read_table(history, HISTORY) if history.exists() else pd.DataFrame()
        for seed, values in finals.items():
            runs[record, name, f"seed {seed}, {name}"] = {**values} | {
                (f"epoch/{row.measure}", row.epoch): row.value
                for row in epochs.itertuples()
                if row.seed == seed and row.measure in CURVES
            }
    return runs


def connect(address: str, answer: str = "OK") -> requests.Session:
    """Wait until a server answers, and return a session with it."""
    session = requests.Session()
    retries = Retry(total=None, connect=240, backoff_factor=0.1, backoff_max=0.5)
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retries))
    assert session.get(f"{address}/health").text == answer
    return session


class MlflowServer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (self.port,) = free_ports(1)
        self.address = f"http://127.0.0.1:{self.port}"
        self.store = f"sqlite:///{folder / 'server.db'}"
        self.process: subprocess.Popen | None = None
        initialise(self.store)

    def start(self) -> None:
        """Start the server and return once it answers."""
        command = [sys.executable, "-m", "mlflow", "server", "--workers", "1"]
        command += ["--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--backend-store-uri", self.store, "--registry-store-uri", self.store]
        command += ["--artifacts-destination", str(self.folder / "artifacts")]
        environment = {
            **os.environ,
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        }
        with open(self.folder / "server.log", "a") as log:
            self.process = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        connect(self.address)

    def kill(self) -> None:
        """Kill the server and its workers by SIGKILL."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def runs(self, name: str | None = None) -> list[Run]:
        """Return the runs that the UI shows, including live ones, optionally of one name only."""
        runs = active_runs(self.address) + active_runs(self.address, LIVE)
        return [run for run in runs if name in (None, run.info.run_name)]

    def points(self, run: Run, metric: str) -> list[tuple[int, float]]:
        """Return step and value of each point of a metric."""
        history = MlflowClient(self.address).get_metric_history(run.info.run_id, metric)
        return sorted((point.step, point.value) for point in history)
