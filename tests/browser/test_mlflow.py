"""The pages of MLflow about a run, in a browser that reaches only this machine."""

import pytest
from mlflow import MlflowClient

from builders.tracking import CELL, EXPERIMENT, MlflowServer, import_all, write_cell, write_corpus

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of a real MLflow, by name: the address, and a text that the page must show."""
    results = tmp_path_factory.mktemp("store") / "results"
    (server_folder := results.parent / "server").mkdir()
    write_cell(results, CELL)
    write_corpus(results)
    server = MlflowServer(server_folder)
    server.start()
    import_all(results, server.address)
    client = MlflowClient(server.address)
    experiment = client.get_experiment_by_name(EXPERIMENT).experiment_id
    runs = client.search_runs([experiment])
    (child, *_) = (run for run in runs if "mlflow.parentRunId" in run.data.tags)
    parent = client.get_run(child.data.tags["mlflow.parentRunId"])
    (model, *_) = client.search_logged_models([experiment])
    run = f"runs/{parent.info.run_id}"
    paths = {
        "experiment": ("runs", parent.info.run_name),
        "parent": (run, "mrr"),
        "child": (f"runs/{child.info.run_id}", "mrr"),
        "dataset": (run, "Digest"),
        "model": (f"models/{model.model_id}", "mrr"),
    }
    start = f"{server.address}/#/experiments/{experiment}"
    yield {name: (f"{start}/{path}?workflowType=machine_learning", text)
           for name, (path, text) in paths.items()}  # fmt: skip
    server.kill()


@pytest.mark.parametrize(
    "name",
    ["experiment", "parent", pytest.param("child", marks=pytest.mark.draw), "dataset", "model"],
)
def test_a_page_of_mlflow_opens_without_a_network(pages, opened, tmp_path, name):
    address, text = pages[name]
    with opened(address, 1280, "light") as (page, _):
        if name == "dataset":  # MLflow has no page of it, but opens it from a run
            page.get_by_text("wikiqa train").first.click(timeout=120_000)
        # MLflow asks for news all the time, so that its network is never idle.
        page.get_by_text(text).first.wait_for(state="attached", timeout=120_000)
        shot = tmp_path / f"{name}.png"
        page.screenshot(path=shot)
        assert shot.stat().st_size > 10_000
