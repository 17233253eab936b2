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
    parent = next(run for run in runs if "mlflow.parentRunId" not in run.data.tags
                  and "record" in run.data.tags)  # fmt: skip
    child = next(run for run in runs if "mlflow.parentRunId" in run.data.tags)
    (model, *_) = client.search_logged_models([experiment])
    start = f"{server.address}/#/experiments/{experiment}"
    yield {
        "experiment": (f"{start}/runs?workflowType=machine_learning", parent.info.run_name),
        "parent": (f"{start}/runs/{parent.info.run_id}?workflowType=machine_learning", "mrr"),
        "child": (f"{start}/runs/{child.info.run_id}?workflowType=machine_learning", "mrr"),
        "dataset": (f"{start}/runs/{parent.info.run_id}?workflowType=machine_learning", "Digest"),
        "model": (f"{start}/models/{model.model_id}?workflowType=machine_learning", "mrr"),
    }
    server.kill()


@pytest.mark.draw
@pytest.mark.parametrize("name", ["experiment", "parent", "child", "dataset", "model"])
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
