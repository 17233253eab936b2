"""Trained models in MLflow: what is registered, and how they answer requests."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import mlflow
import pandas as pd
import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from mlflow.pyfunc.scoring_server import invocations

from analogyqa.cells import Cell
from analogyqa.evaluation.summary import read_record
from analogyqa.model import Model
from analogyqa.model.learned import learned_by
from analogyqa.runs.train import train_cell
from analogyqa.settings.systems import System
from analogyqa.tracking.records import _model_writer, cell_run, register_best
from analogyqa.tracking.served import RankingModel, write_served
from analogyqa.tracking.store import SERVED, experiment_name, import_runs
from builders.cells import COMB, toy_job, trained_system
from builders.encoded import LONGEST, MINE, run_encoded
from builders.report import make_config
from builders.servers import free_ports
from builders.tracking import PAPER, connect, uri

CONFIG = make_config()
# The narrow cell has the best dev value.
ANALOGY, NARROW = Cell("analogy", "toy", "comb"), Cell("analogy", "toy", "who")
SIMILARITY = Cell("similarity", "toy", "comb")
SYSTEMS = {
    ANALOGY: trained_system(max_epochs=1),
    SIMILARITY: trained_system("cosine", loss="mix", max_epochs=1),
    NARROW: trained_system(max_epochs=1),
}
QUESTION, CANDIDATES = "who is thing 2 ?", ["thing 2 likes rome", "thing 2 likes anna"]
SEED = 3
REQUEST = {"question": QUESTION, "candidates": CANDIDATES}


def train(results: Path, cells: Iterable[Cell], write_cell_files) -> Path:
    """Train one seed of cells in an output folder."""
    for cell in cells:
        types = ["who"] if cell == NARROW else COMB
        folder = results / "prototypes" / cell.subset
        # Validated again as in a job, where a default of 1 becomes 1.0.
        system = System(**SYSTEMS[cell].model_dump())
        job = toy_job(system, {SEED: write_cell_files(folder, SEED, types)}, types, cell)
        train_cell(job, "cpu", results / "checkpoints", results / "runs" / cell.path)
    (results / "corpora").mkdir(exist_ok=True)
    shutil.copy(folder / "corpus.parquet", results / "corpora" / "toy.parquet")
    shutil.copytree(folder, results / "vectors", dirs_exist_ok=True)
    return results


@pytest.fixture(scope="module")
def small(tmp_path_factory, write_cell_files) -> Path:
    """An output folder with one trained cell."""
    return train(tmp_path_factory.mktemp("small") / "results", [ANALOGY], write_cell_files)


@pytest.fixture(scope="module")
def results(tmp_path_factory, write_cell_files) -> Path:
    """An output folder with three trained cells."""
    return train(tmp_path_factory.mktemp("three") / "results", SYSTEMS, write_cell_files)


def model_of(results: Path, cell: Cell) -> Model:
    return Model(learned_by(results, cell.path, CONFIG))


def records(model: Model) -> list[dict]:
    return model.rank(QUESTION, CANDIDATES).to_dict("records")


@pytest.fixture(scope="module")
def served(small, tmp_path_factory):
    """The folder of a model for MLflow, moved away from where it was written."""
    folder = tmp_path_factory.mktemp("written")
    write_served(model_of(small, ANALOGY), folder / "model", {"run": ANALOGY.path})
    return (folder / "model").rename(folder / "moved")


@pytest.fixture(scope="module")
def loaded(served):
    return mlflow.pyfunc.load_model(str(served))


def test_a_model_answers_as_rank_does(small, loaded):
    (ranking,) = loaded.predict(REQUEST)["ranking"]
    assert ranking == records(model_of(small, ANALOGY))
    assert ranking[0]["prototype_question"].startswith("who ")
    assert loaded.metadata.metadata == {"run": ANALOGY.path}
    example = loaded.input_example
    assert len(loaded.predict(example)["ranking"][0]) == len(example["candidates"][0])


def test_a_model_links_to_the_vectors_and_contains_only_the_text_of_its_prototypes(small, served):
    names = {path.name for path in served.rglob("*") if path.is_file()}
    assert not names & {"history.parquet", "scores.parquet", "train3.parquet"}
    vectors = served / "data" / "model" / "vectors.npy"
    assert vectors.samefile(small / "vectors" / "vectors.npy")
    metadata = mlflow.models.Model.load(str(served))
    assert metadata.model_size_bytes > vectors.stat().st_size
    assert len(Model.open(vectors.parent).corpus) == 9


def answers(loaded, rows: object, form: str = "inputs") -> list[list[str]]:
    """Return the ranked candidates of each row, as a server answers them."""
    body, schema = json.dumps({form: rows}), loaded.metadata.get_input_schema()
    response = invocations(body, "application/json", loaded, schema).response
    return [
        [row["candidate"] for row in answer["ranking"]]
        for answer in json.loads(response)["predictions"]
    ]


def test_each_row_of_a_request_has_as_many_candidates_as_it_likes(loaded):
    rows = [{**REQUEST, "candidates": texts} for texts in (["rome"], CANDIDATES)]
    columns = {name: [row[name] for row in rows] for name in REQUEST}
    for form, body in (("inputs", rows), ("dataframe_records", rows), ("inputs", columns)):
        assert list(map(sorted, answers(loaded, body, form))) == [["rome"], sorted(CANDIDATES)]


def test_the_rows_of_a_request_are_scored_in_one_batch(small, monkeypatch):
    model, score, batches = model_of(small, ANALOGY), Model._score, []
    monkeypatch.setattr(Model, "_score", lambda *args: batches.append(args) or score(*args))
    texts = [[*CANDIDATES, "it was long"], CANDIDATES[::-1]] * 3
    requests = pd.DataFrame({"question": QUESTION, "candidates": texts})
    answered = RankingModel(model).predict(requests)["ranking"]
    assert len(batches) == 1
    for ranking, candidates in zip(answered, texts, strict=True):
        alone = model.rank(QUESTION, candidates)
        assert [row["candidate"] for row in ranking] == alone["candidate"].tolist()
        assert [row["score"] for row in ranking] == pytest.approx(alone["score"].tolist())


@pytest.mark.parametrize("form", ["inputs", "dataframe_records"])
@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("question", "why is it ?", "start with who, when, where"),
        ("question", None, "row 1: question: "),
        ("question", 3, "row 1: question: "),
        ("question", [QUESTION], "row 1: question: "),
        ("candidates", [], "no candidates"),
        ("candidates", None, "row 1: candidates: "),
        ("candidates", "anna", "row 1: candidates: 'anna'"),
        ("candidates", {"anna": 1}, "row 1: candidates: "),
        ("candidates", ["Ada wrote it", None], r"row 1: candidates\[1\]: None "),
        ("candidates", ["anna", True], r"row 1: candidates\[1\]: True "),
        ("candidates", [["anna"], ["rome"]], r"row 1: candidates\[0\]: \['anna'\] "),
    ],
)
def test_a_bad_request_is_a_client_error(loaded, form, field, value, problem):
    with pytest.raises(MlflowException, match=problem) as raised:
        answers(loaded, [REQUEST, {**REQUEST, field: value}], form)
    assert raised.value.get_http_status_code() == 400


def test_a_request_without_a_column_is_a_client_error(loaded):
    for rows in ([{"question": QUESTION}], [{"candidates": CANDIDATES}], []):
        with pytest.raises(MlflowException, match="missing inputs") as raised:
            answers(loaded, rows)
        assert raised.value.get_http_status_code() == 400


def test_a_model_over_sentence_vectors_encodes_the_texts_of_requests(write_cell_files, tmp_path):
    results = tmp_path / "results"
    run_encoded(results, write_cell_files(tmp_path / "tables"), "sentence_transformers")
    record = read_record(results / "runs" / MINE.path / "run.json")
    _model_writer(results, MINE, record, CONFIG)(tmp_path / "served")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "served"))
    request = {"question": QUESTION, "candidates": ["anna likes " * LONGEST, "thing likes oslo"]}
    (ranking,) = loaded.predict(request)["ranking"]
    expected = Model(learned_by(results, MINE.path, CONFIG)).rank(*request.values())
    for row, other in zip(ranking, expected.to_dict("records"), strict=True):
        assert row.pop("score") == pytest.approx(other.pop("score"), abs=1e-6)
        assert row == other
    assert sorted(row["unread"] for row in ranking) == [0, LONGEST + 2]


def import_all(results: Path, tracking_uri: str) -> dict[str, str]:
    runs = {PAPER: [cell_run(results, cell, "", {}, CONFIG) for cell in SYSTEMS]}
    import_runs(tracking_uri, results, runs)
    return register_best(tracking_uri, results, runs, CONFIG)


@pytest.mark.slow
def test_the_best_on_dev_is_registered_once(results, tmp_path):
    moved = shutil.copytree(results, tmp_path / "results")
    (best,) = import_all(moved, uri(moved)).items()
    assert import_all(moved, uri(moved)) == dict([best])
    client = MlflowClient(uri(moved), uri(moved))
    (version,) = client.search_model_versions("name = 'results-toy'")
    experiment = client.get_experiment_by_name(experiment_name(moved, PAPER))
    runs = client.search_runs([experiment.experiment_id])
    dev_mrr = {
        run.data.params["system"]: run.data.metrics["dev/mrr"]
        for run in runs
        if run.data.params["subset"] == "comb" and "seeds" in run.data.params
    }
    assert len(dev_mrr) == 2
    assert sum(SERVED in run.data.tags for run in runs) == len(SYSTEMS)
    run = f"{max(dev_mrr, key=dev_mrr.get)}/toy/comb/default"
    assert best == ("models:/results-toy@best", run)
    (described,) = client.search_registered_models()
    assert run in described.description
    registered = client.get_run(version.run_id).data
    assert registered.tags["record"] == f"results/{run}"
    assert registered.params["seed"] == str(SEED)


@pytest.fixture
def scoring(results, server, tmp_path) -> Iterator[tuple[str, str]]:
    """The address at which `mlflow models serve` serves the best model, and the model's run."""
    ((name, run),) = import_all(results, server.address).items()
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "mlflow", "models", "serve", "--model-uri", name]
    command += ["--env-manager", "local", "--host", "127.0.0.1", "--port", str(port)]
    # MLflow starts uvicorn by its name.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "MLFLOW_TRACKING_URI": server.address, "PATH": path}
    with open(tmp_path / "serve.log", "w") as log:
        options = {"stdout": log, "stderr": log, "start_new_session": True}
        process = subprocess.Popen(command, env=environment, **options)
    try:
        yield f"http://127.0.0.1:{port}", run
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow
@pytest.mark.draw
def test_a_server_answers_as_rank_does_and_refuses_bad_requests(results, scoring):
    address, run = scoring
    session = connect(address, answer="\n")

    def ask(body: dict):
        return session.post(f"{address}/invocations", json=body)

    expected = [{"ranking": records(Model(learned_by(results, run, CONFIG)))}]
    for form in ("dataframe_records", "inputs"):
        assert ask({form: [REQUEST]}).json() == {"predictions": expected}
    for body, message in (
        ({"dataframe_records": [{**REQUEST, "question": "why ?"}]}, "who, when, where"),
        ({"dataframe_records": [{"question": QUESTION}]}, "missing inputs ['candidates']"),
        ({"questions": []}, "dataframe_records"),
    ):
        response = ask(body)
        assert response.status_code == 400
        assert message in response.json()["message"]
        assert "stack_trace" not in response.json()
