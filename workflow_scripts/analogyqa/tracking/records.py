"""Show a paper's records, tables and figures in MLflow, and register the best of its models."""

import getpass
import json
import logging
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from itertools import chain
from pathlib import Path

import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Run

from analogyqa.cells import Cell, artefact_cells, artefact_coordinates
from analogyqa.cells.made import made_files
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import (
    SUMMARY,
    Summaries,
    by_cell,
    kept_epochs,
    read_csv,
    read_record,
)
from analogyqa.measures import MEASURES, values_by_seed
from analogyqa.model import Model
from analogyqa.model.learned import learned_by
from analogyqa.report.tables import printed_name
from analogyqa.report.trace import run_log
from analogyqa.runs.depends_on import content_hash, sha256
from analogyqa.runs.record import corpus_tables, read_metrics, run_system
from analogyqa.schemas import CORPUS, HISTORY, read_table
from analogyqa.settings.overrides import to_text
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.settings.systems import Training
from analogyqa.settings.tracking import database_path
from analogyqa.tracking.store import (
    SERVED,
    Importable,
    MlflowExperiment,
    experiment_name,
    lock,
    readable_errors,
)

log = logging.getLogger(__name__)

ALIAS = "best"
DOCUMENTS = "tables and figures"  # the run of a paper that has them
NOTE = "mlflow.note.content"  # the tag with a description
# A tag with a view of the runs, which the parameter viewStateShareKey of an address selects.
VIEW, SHARED_VIEW = "measures", "mlflow.sharedViewState."
MODEL_TRAINING = "workflowType=machine_learning"  # otherwise MLflow's menu is about language models
_PAGE = "Tables, figures and verdicts on one page"
_DEV = f"dev/{Training().select_by}"

_REPORTS = ("report", "summary", "ledger", "claims", "comparisons")
_SPREAD = ("sd", "run_low", "run_high", "ci_low", "ci_high")
# MLflow's names for the role of data, by split.
_CONTEXTS = {"train": "training", "dev": "validation", "test": "test"}


def paper_runs(
    results: str | Path, paper: Paper, cells: Iterable[Cell], config: Config
) -> list[Importable]:
    """Return the runs of a paper's cells that have a record, and the run with its tables.

    The summary.csv of the output folder is used if it exists.

    Raises AnalogyQAError when a record or the summary is damaged.
    """
    results = Path(results)
    titles: dict[Cell, dict[str, None]] = defaultdict(dict)
    for name in paper.tables_and_figures:
        for cell in artefact_cells(config, paper, name):
            titles[cell.with_run(config)][printed_name(name)] = None
    start = f"Shown in {paper.paper} ({paper.citation.strip()}): "
    descriptions = {cell: start + ", ".join(names) for cell, names in titles.items()}
    path = results / "summary.csv"
    summary = by_cell(read_csv(path, SUMMARY)) if path.exists() else {}
    # A run may hold several cells.
    cells = dict.fromkeys(cell.with_run(config) for cell in cells)
    runs = [cell_run(results, cell, descriptions.get(cell, ""), summary, config) for cell in cells]
    return runs + documents_run(results, paper.paper)


def cell_run(
    results: Path, cell: Cell, description: str, summary: Summaries, config: Config
) -> Importable:
    """Return the run of a cell, with its seeds as children.

    The model of the first seed of a cell can be served, see `_model_writer`.

    Raises AnalogyQAError when the record is damaged.
    """
    folder = results / "runs" / cell.path
    record = read_record(folder / "run.json")
    tags = {
        "record": experiment_name(results, cell.path),
        "content_hash": record["content_hash"],
        "hyperparameters": record["hyperparameters"],
        "device": record.get("device"),
        NOTE: description,
        "mlflow.source.git.commit": record.get("git_commit"),
        **_origin_tags(),
    }
    tags = {key: str(value) for key, value in tags.items() if value is not None}
    spread = {
        f"spread/{measure}_{name}": row[name]
        for measure in MEASURES
        if (row := summary.get((cell, measure)))
        for name in _SPREAD
        if pd.notna(row[name])
    }
    corpora = dict.fromkeys(corpus_tables(results, cell, record["settings"]).values())
    files = [path for path in (folder / "metrics.parquet", *corpora) if path.exists()]
    shown = content_hash([tags, spread, _DEV, *map(sha256, files)])  # _DEV, as metrics are named
    add = partial(_add_cell, results, cell, record, tags, spread, config)
    return Importable(tags["record"], shown, add, len(record["seeds"]))


def _origin_tags() -> dict[str, str]:
    source = {"mlflow.source.name": "Snakefile", "mlflow.source.type": "JOB"}
    return {**source, "mlflow.user": getpass.getuser()}


def _add_cell(
    results: Path,
    cell: Cell,
    record: dict,
    tags: Mapping[str, str],
    spread: Mapping[str, float],
    config: Config,
    experiment: MlflowExperiment,
) -> str:
    """Add the runs of a cell and its seeds to an experiment; return the id of the cell's run.

    MLflow needs times: a run ends when its record was written, and started `wall_seconds` before.
    """
    folder, client = results / "runs" / cell.path, experiment.client
    history_path, record_path = folder / "history.parquet", folder / "run.json"
    end = record_path.stat().st_mtime_ns // 1_000_000
    start = end - round(1000 * (record.get("wall_seconds") or 0))
    name, params = run_name(cell), cell_params(cell)
    flat = pd.json_normalize(_settings(record)).iloc[0].dropna().astype(str)
    seeds = ", ".join(map(str, record["seeds"]))
    run_id = experiment.create(name, tags, start)
    corpora = corpus_tables(results, cell, record["settings"])
    inputs = {path: _inputs(path, record["sources"]) for path in corpora.values()}
    client.log_inputs(run_id, datasets=[*chain(*inputs.values())])
    measured = _measured(read_metrics(folder / "metrics.parquet"))
    finals = _final_points({**measured.mean(), **spread}, end)
    experiment.log(run_id, finals, {**params, **flat, "seeds": seeds})
    paths = (record_path, folder / "metrics.parquet", history_path)
    files = {file.name: file for file in paths if file.exists()}
    if log_file := run_log(results, cell):
        files[f"{log_file.parent.parent.name}.log"] = log_file
    experiment.add_files(run_id, files)
    write_first = _model_writer(results, cell, record, config)
    history = pd.DataFrame(columns=HISTORY.names)
    if history_path.exists():
        history = read_table(history_path, HISTORY)
    for seed in measured.index:
        seed_name = f"seed {seed}, {name}"
        seed_id = experiment.create(seed_name, tags, start, run_id)
        client.log_inputs(seed_id, datasets=inputs[corpora[seed]])
        epochs = history[history["seed"] == seed].sort_values("epoch", kind="stable")
        seed_end, model_id, curves = end, None, []
        if len(epochs):
            seconds = epochs[epochs["measure"] == "seconds"].set_index("epoch")["value"]
            times = start + (1000 * seconds.cumsum()).round().astype(int)
            curves = curve_points(epochs, times)
            chosen = kept_epochs(epochs, run_system(record)["training"])[seed]
            write = write_first if seed == record["seeds"][0] else None
            # MLflow does not allow these characters in the name of a model.
            model_name = re.sub(r"[/:.%\"']", "-", seed_name)
            model_id = experiment.add_model(model_name, seed_id, int(chosen), write)
            if write:
                client.set_tag(run_id, SERVED, model_id)
            seed_end = int(times.max())
        finals = _final_points(measured.loc[seed].to_dict(), seed_end, model_id)
        experiment.log(seed_id, curves + finals, {**params, "seed": str(seed)})
        client.set_terminated(seed_id, end_time=seed_end)
    client.set_terminated(run_id, end_time=end)
    return run_id


def _settings(record: dict) -> dict:
    """Return what a record says about how its scores were made, as nested values."""
    system = dict(run_system(record))
    training, p = system.pop("training", None), system.pop("p", None)
    made = {key: record[key] for key in ("hyperparameters", "sources")}
    lowercase = record["settings"]["lowercase"]
    apart = {"training": training, "p": p, "lowercase": lowercase}
    return {"system": system, **apart, **made, **record["stores"]}


def _final_points(values: Mapping, end: int, model_id: str | None = None) -> list[Metric]:
    return [Metric(name, float(value), end, 0, model_id) for name, value in values.items()]


def _model_writer(
    results: Path, cell: Cell, record: dict, config: Config
) -> Callable[[Path], None] | None:
    """Return what writes the first seed's model; None for no checkpoint or no way to read texts.

    Only systems that are trained, or read the sentence vectors of an encoder, are served.
    """
    system = run_system(record)
    if "training" not in system and not system.get("sentence_vectors"):
        return None
    try:
        model = Model(learned_by(results, cell.path, config))
    except AnalogyQAError as error:
        log.info("No model to serve: %s", error)
        return None
    from analogyqa.tracking.served import write_served  # loads more of MLflow, for seconds

    origin = {"run": cell.path, "seed": model.seed, "git_commit": record.get("git_commit")}
    return lambda folder: write_served(model, folder, origin)


def documents_run(results: Path, paper: str) -> list[Importable]:
    """Return the run with the tables, figures and reports of a paper, [] if there are none."""
    patterns = [f"{kind}s/{paper}/*" for kind in ("table", "figure")]
    paths = made_files(results, *patterns)
    if not paths:
        return []
    paths += made_files(results, *(f"{name}.*" for name in _REPORTS))
    files = {path.relative_to(results).as_posix(): path for path in paths}
    hashes = {name: sha256(path) for name, path in files.items()}
    tags = {"record": experiment_name(results, paper), **_origin_tags()}

    def add(experiment: MlflowExperiment) -> str:
        end = max(path.stat().st_mtime_ns for path in paths) // 1_000_000
        run_id = experiment.create(DOCUMENTS, tags, end)
        experiment.add_files(run_id, files)
        experiment.client.set_terminated(run_id, end_time=end)
        return run_id

    return [Importable(tags["record"], content_hash([tags, hashes]), add)]


def run_name(cell: Cell) -> str:
    """Return the name of a run; the data set comes last, because MLflow truncates names."""
    return " ".join([cell.system, cell.subset, *map("=".join, cell.overrides), cell.dataset])


def cell_params(cell: Cell) -> dict[str, str]:
    """Return a cell as MLflow parameters."""
    return {**cell._asdict(), "overrides": to_text(cell.overrides)}


def _measured(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return means over items: a row for each seed, columns map, ... (test) and dev/map, ..."""
    table = metrics.astype({"split": str})
    return pd.DataFrame(
        {
            name if split == "test" else f"{split}/{name}": values.mean(axis=1)
            for split in sorted(table["split"].unique())
            for name, values in sorted(values_by_seed(table, split).items())
            if name in MEASURES
        }
    )


def _inputs(path: Path, sources: Mapping[str, str]) -> list[DatasetInput]:
    """Return the splits of the corpus table at `path`; none if there is no such file."""
    if not path.exists():
        return []
    digest, rows = _read_corpus(path)
    inputs = []
    for split, context in _CONTEXTS.items():
        source = json.dumps({"uri": sources.get(split, "")})
        profile = json.dumps({"num_rows": rows.get(split, 0)})
        dataset = Dataset(f"{path.stem} {split}", digest, "http", source, profile=profile)
        inputs.append(DatasetInput(dataset, [InputTag("mlflow.data.context", context)]))
    return inputs


@cache  # many cells share a corpus
def _read_corpus(path: Path) -> tuple[str, dict[str, int]]:
    """Return the digest of a corpus and the number of pairs in each split."""
    counts = read_table(path, CORPUS)["split"].value_counts()
    return sha256(path)[:16], {str(split): int(count) for split, count in counts.items()}


def curve_points(epochs: pd.DataFrame, times: pd.Series) -> list[Metric]:
    """Return the loss and the dev measures of epochs, rows of HISTORY, as points of curves.

    Names begin with `epoch/`, which keeps them apart from final values such as dev/map. `times` has
    the time of each epoch.
    """
    curves = epochs[epochs["measure"].astype(str).str.match(r"loss$|dev_")].dropna(subset="value")
    rows = zip(curves["measure"], curves["epoch"], curves["value"], strict=True)
    return [
        Metric(f"epoch/{measure}", float(value), int(times[epoch]), int(epoch))
        for measure, epoch, value in rows
    ]


def describe(
    tracking_uri: str, results: str | Path, papers: Iterable[Paper], config: Config
) -> None:
    """Give the experiment of each paper a description, and a view with the paper's measures.

    Call this after `import_runs`. Raises AnalogyQAError when the store cannot be written.
    """
    with readable_errors(tracking_uri):
        for paper in papers:
            experiment = MlflowExperiment(tracking_uri, experiment_name(results, paper.paper))
            runs = experiment.active_runs()
            known = {name for run in runs for name in run.data.metrics}
            cells = (artefact_coordinates(config, paper, name) for name in paper.artefacts)
            names = known & {coordinates.measure for coordinates in chain(*cells)} or known
            columns = [f"metrics.`{name}`" for name in MEASURES if name in names]
            # MLflow shows one line of it, which is that of the link.
            text = f"{_page_link(results, runs, experiment.id)} {paper.citation}".strip()
            tags = {NOTE: text, SHARED_VIEW + VIEW: json.dumps({"selectedColumns": columns})}
            for key, value in tags.items():
                experiment.client.set_experiment_tag(experiment.id, key, value)


def _page_link(results: str | Path, runs: Iterable[Run], experiment_id: str) -> str:
    """Return a link, for a description, to the report in an experiment, "" without its files."""
    for run in runs:
        if (run.info.experiment_id, run.info.run_name) == (experiment_id, DOCUMENTS):
            page = f"#/experiments/{experiment_id}/runs/{run.info.run_id}/artifacts"
            report = "/report.html" if Path(results, "report.html").exists() else ""
            return f"[{_PAGE}]({page}{report}?{MODEL_TRAINING})."
    return ""


# The registry of models


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
        all_runs = [
            run
            for paper in papers
            for run in MlflowExperiment(tracking_uri, experiment_name(results, paper)).active_runs()
        ]
        # A fold has other dev questions than its data set.
        served = [run for run in all_runs if SERVED in run.data.tags]
        runs = [run for run in served if _cell(run).corpus == _cell(run).dataset]
        best: dict[str, Run] = {}
        for run in sorted(runs, key=lambda run: _preference(run, config), reverse=True):
            best.setdefault(run.data.params["dataset"], run)
        for dataset, run in best.items():
            page = _page_link(results, all_runs, run.info.experiment_id)
            _register(client, model_name(results, dataset), run, page)
    return {
        f"models:/{model_name(results, dataset)}@{ALIAS}": _cell(run).path
        for dataset, run in sorted(best.items())
    }


def _cell(run: Run) -> Cell:
    return Cell.from_path(Path(*(run.data.params[name] for name in Cell._fields)))


def _preference(run: Run, config: Config) -> tuple[float, float, str]:
    """Return the sort key of a run: breadth, dev mean, then the record as a tie-break."""
    types = config.subset_types(run.data.params["subset"])
    breadth = math.inf if types is None else len(types)
    return breadth, run.data.metrics[_DEV], run.data.tags["record"]


def _register(client: MlflowClient, name: str, run: Run, page: str) -> None:
    """Point the alias of a registered model at the model of a run; `page` is a link to show."""
    model = client.get_logged_model(run.data.tags[SERVED])
    source = f"models:/{model.model_id}"
    if database_path(client.tracking_uri):
        source = model.artifact_location  # MLflow would look up the id in its default store
    registered = client.search_registered_models(f"name = '{name}'")
    text = (
        f"Ranks answers to questions like those of {run.data.params['dataset']}. Its alias {ALIAS} "
        f"is the first seed of {_cell(run).path}, the run with the highest {_DEV}. {page}"
    )
    if not registered:
        client.create_registered_model(name, description=text)
    elif registered[0].description != text:
        client.update_registered_model(name, text)
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
