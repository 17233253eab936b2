"""The best model of each data set in MLflow's registry."""

import math
import re
from collections.abc import Iterable
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Run

from analogyqa.cells import Cell
from analogyqa.settings.run import Config
from analogyqa.settings.systems import Training
from analogyqa.settings.tracking import database_path
from analogyqa.tracking.store import (
    SERVED,
    MlflowExperiment,
    experiment_name,
    lock,
    readable_errors,
)

ALIAS = "best"
_DEV = f"dev_{Training().select_by}"


def register_best(
    tracking_uri: str, results: str | Path, papers: Iterable[str], config: Config
) -> dict[str, str]:
    """Register the best model of each data set under the alias `best`.

    These are models of the subset with the most question types. The best one has the highest mean
    on dev, over the seeds of its run; test decides nothing. An alias that is right already, and
    earlier versions, are kept. Only the runs of `papers`, which have been imported, are compared.

    Returns the runs of the models by their URIs, such as models:/demo-wikiqa@best.

    Raises AnalogyQAError when the store at `tracking_uri` cannot be written.
    """
    client = MlflowClient(tracking_uri, tracking_uri)
    with readable_errors(tracking_uri), lock(database_path(tracking_uri)):
        runs = [
            run
            for paper in papers
            for run in MlflowExperiment(tracking_uri, experiment_name(results, paper)).active_runs()
            # A fold has other dev questions than its data set.
            if SERVED in run.data.tags and _cell(run).corpus == _cell(run).dataset
        ]
        best: dict[str, Run] = {}
        for run in sorted(runs, key=lambda run: _preference(run, config), reverse=True):
            best.setdefault(run.data.params["dataset"], run)
        for dataset, run in best.items():
            _register(client, model_name(results, dataset), run)
    return {
        f"models:/{model_name(results, dataset)}@{ALIAS}": _cell(best[dataset]).path
        for dataset in sorted(best)
    }


def _cell(run: Run) -> Cell:
    return Cell.from_path(Path(*(run.data.params[name] for name in Cell._fields)))


def _preference(run: Run, config: Config) -> tuple[float, float, str]:
    """Return the sort key of a run: breadth, dev mean, then the record as a tie-break."""
    types = config.subset_types(run.data.params["subset"])
    breadth = math.inf if types is None else len(types)
    return breadth, run.data.metrics[_DEV], run.data.tags["record"]


def _register(client: MlflowClient, name: str, run: Run) -> None:
    """Point the alias of a registered model at the model of a run."""
    model = client.get_logged_model(run.data.tags[SERVED])
    source = f"models:/{model.model_id}"
    if database_path(client.tracking_uri):
        source = model.artifact_location  # MLflow would look up the id in its default store
    registered = client.search_registered_models(f"name = '{name}'")
    if not registered:
        client.create_registered_model(name)
    known = registered[0].aliases.get(ALIAS) if registered else None
    if known and client.get_model_version(name, known).source == source:
        return
    version = client.create_model_version(
        name,
        source,
        model.source_run_id,
        model_id=model.model_id,
        description=f"{run.info.run_name}: {_DEV} {run.data.metrics[_DEV]:.4f}",
    )
    client.set_registered_model_alias(name, ALIAS, version.version)


def model_name(results: str | Path, dataset: str) -> str:
    """Return the name of the registered model of a data set."""
    # The name is part of a URI and of a filter.
    return re.sub(r"[^A-Za-z0-9_-]", "_", f"{Path(results).resolve().name}-{dataset}")
