"""A configuration, a small paper and made-up runs for the report tests."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

from analogyqa.cells import Cell, reported_cells
from analogyqa.evaluation.summary import SUMMARY, Run, scores_on_test, to_frame
from analogyqa.files import read_yaml, write_json
from analogyqa.measures import ABOUT_ITEMS, MEASURES
from analogyqa.report.style import STYLE
from analogyqa.schemas import METRICS, Candidate, Explanation, Prototype, Shifts, write_table
from analogyqa.settings.load import PAPERS, REPOSITORY, load_config
from analogyqa.settings.overrides import HYPERPARAMETERS, TUNED, to_text
from analogyqa.settings.paper import Paper, load_paper
from analogyqa.settings.run import Config
from analogyqa.settings.studies import PAPER, CrossValidation

CONFERENCE, WORKSHOP, HYPERBOLIC, MAPPING = (
    load_paper(PAPERS / name / "paper.yaml")
    for name in ("diallo2019", "lwda2019", "hyperqa", "mappsent")
)
Drawing = Callable[[dict[str, Path]], None]
DATASET = {"reader": "wikiqa", "train": "a", "dev": "b", "test": "c"}
TITLES = {"wikiqa": "WIKIQA", "trecqa": "TRECQA"}
TYPES = ("who", "when", "where")
TRAINED = {"encoder": "bigru", "vectors": "wiki"}
MEAN = {"encoder": "mean", "vectors": "wiki"}
SYSTEMS = {
    "analogy": TRAINED | {"title": "Analogy", "ranker": "analogy"},
    "similarity": TRAINED | {"title": "Baseline", "ranker": "cosine"},
    # A trained system whose hyperparameters are not tuned.
    "lwda": TRAINED | {"title": "Both sides", "ranker": "analogy"},
    "glove": MEAN | {"title": "Glove", "ranker": "analogy"},
    "word2vec": MEAN | {"title": "Word2Vec", "ranker": "analogy"},
}
# Systems of no paper. The first shares its title with another system.
UNPUBLISHED_SYSTEMS = {
    "glove-cosine": MEAN | {"title": "Glove", "ranker": "cosine"},
    "random": {"title": "A | B", "encoder": "random", "ranker": "cosine"},
}
VARIATIONS = {
    "loss": {"hinge": {"loss": "hinge"}},
    "aggregation": {"mean": {"aggregate": "mean"}},
    "vectors": {"other": {"vectors": "other"}},
    "questions": {"clean_ones": {"drop_all_correct": ["test"]}},
}


def make_config(
    datasets: tuple[str, ...] = ("wikiqa", "trecqa"),
    systems: dict | None = None,
    selected: tuple[str, ...] = ("analogy", "similarity"),
    varied: tuple[str, ...] = ("analogy", "similarity"),
    **changes,
) -> Config:
    """Return a configuration for two real papers and a made-up one, with all their systems."""
    systems = SYSTEMS | UNPUBLISHED_SYSTEMS if systems is None else systems
    selection = {"systems": list(selected), "hyperparameters": {"bare": {"dropout": 0.0}}}
    sensitivity = {"measure": "mrr", "datasets": list(datasets), "systems": list(varied)}
    study = {
        "datasets": list(TITLES),
        "systems": list(SYSTEMS),
        "selection": {"subset": "comb"} | selection,
        "sensitivity": {"subset": "comb", "choices": VARIATIONS} | sensitivity,
    }
    values = {
        "output_dir": "results",
        "seeds": [0, 1],
        "papers": ["diallo2019"],
        "datasets": {name: DATASET | {"title": TITLES.get(name, name)} for name in datasets},
        "question_types": {name: [name] for name in TYPES},
        "subsets": {**{name: [name] for name in TYPES}, "comb": list(TYPES)},
        "vectors": {"wiki": {"source": "wiki.vec"}, "other": {"source": "other.vec"}},
        "systems": systems,
        "studies": {"diallo2019": study, "lwda2019": {}, "tiny2020": {}},
        "bootstrap": {"samples": 200},
    }
    return Config.model_validate(values | changes)


def with_cross_validation(config: Config, paper: str = "diallo2019", **study) -> Config:
    """Return a configuration in which a paper cross-validates `comb` in two folds."""
    cross_validation = CrossValidation(subset="comb", folds=2, **study)
    changed = config.studies[paper].model_copy(update={"cross_validation": cross_validation})
    return config.model_copy(update={"studies": config.studies | {paper: changed}})


@cache
def repository_config() -> Config:
    return load_config(read_yaml(REPOSITORY / "config.yaml"))


def make_paper(artefacts: dict | None = None, name: str = "tiny2020", **claims: dict) -> Paper:
    values = {"paper": name, "citation": "Tiny & Co. (2020).", "artefacts": artefacts or {}}
    return Paper.model_validate(values | {"claims": claims})


def make_summary(config: Config, *papers: Paper, **changes) -> pd.DataFrame:
    """Return a summary of all runs of some papers.

    All rows have the same values, changed by `changes`: values, or functions of cell and measure.
    """
    values = {"mean": 0.6, "sd": 0.0123, "run_low": 0.5, "run_high": 0.7, "n_seeds": 2}
    values |= {"ci_low": 0.4, "ci_high": 0.8, "all_correct": 0, "substitute": ""}
    values |= {"n_items": lambda cell, _: 9 if cell.subset == "comb" else 3, "tied_candidates": 0}
    values |= {"hyperparameters": lambda cell, _: "bare" if is_tuned(cell) else ""}
    values |= {"provenance": lambda cell, _: f"made up for {cell.system}"} | changes
    values |= {"overrides": lambda cell, _: to_text(cell.overrides)}
    numbers = (
        number
        for paper in papers
        for table in paper.artefacts.values()
        for number in table.numbers()
    )
    measures = dict.fromkeys(filter(None, (number.coordinates.measure for number in numbers)))
    rows = []
    for cell in reported_cells(config, {paper.paper: paper for paper in papers}):
        for measure in measures:
            made = {
                key: value(cell, measure) if callable(value) else value
                for key, value in values.items()
            }
            rows.append({**cell._asdict(), "measure": measure, **made})
    return to_frame(rows, SUMMARY)


def is_tuned(cell: Cell) -> bool:
    return (HYPERPARAMETERS, TUNED) in cell.overrides


def make_metrics(split: str, values: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return a METRICS table of values [seeds, items] by measure; other measures are 0."""
    shape = next(iter(values.values())).shape
    by_measure = dict.fromkeys([*MEASURES, *ABOUT_ITEMS], np.zeros(shape)) | values
    rows = [
        (seed, split, f"{split}{item:02}", "who", measure, float(value))
        for measure, by_seed in by_measure.items()
        for (seed, item), value in np.ndenumerate(by_seed)
    ]
    return pd.DataFrame(rows, columns=METRICS.names)


def make_record(cell: Cell, **facts: object) -> dict:
    """Return the record of a run of a cell; `facts` replace its entries."""
    record = {
        "cell": cell.record(),
        "hyperparameters": PAPER,
        "sources": {"train": "wikiqa-train"},
        "stores": {"vectors": {"name": "wiki", "origin": "wiki-news"}},
        "seeds": [0, 1],
        "inputs": {},
        "scores": {},
        "content_hash": "abc",
        "git_commit": "abc",
        "device": "cpu",
        "machines": {},
    }
    return record | facts


def make_run(cell: Cell, values: dict[str, np.ndarray], trained: bool = True, **facts) -> Run:
    """Return a run with these values on test and 0 on dev.

    `facts` replace entries of the record; `system`, `training` and `settings`, those of its own.
    """
    record, metrics = _make_files(cell, values, trained, **facts)
    return record, scores_on_test(record, metrics)


def _make_files(
    cell: Cell, values: dict[str, np.ndarray], trained: bool = True, **facts
) -> tuple[dict, pd.DataFrame]:
    system = {"encoder": "bigru" if trained else "mean", "ranker": {"name": "analogy"}}
    training = facts.pop("training", {"dropout": 0.5})
    system |= facts.pop("system", {}) | ({"training": training} if trained else {})
    hyperparameters = facts.pop("hyperparameters", PAPER)
    settings = {"seeds": [0, 1], "systems": {hyperparameters: system}, "parts": {}}
    settings |= facts.pop("settings", {})
    facts = {"settings": settings, "hyperparameters": hyperparameters if trained else None} | facts
    dev = make_metrics("dev", {"map": np.zeros((2, 1))})
    metrics = pd.concat([dev, make_metrics("test", values)], ignore_index=True)
    return make_record(cell, **facts), metrics


def write_made_run(results: Path, cell: Cell, values: dict[str, np.ndarray], **facts) -> None:
    """Write the run of `make_run` to a results folder, with `facts` added to its record."""
    record, metrics = _make_files(cell, values)
    folder = results / "runs" / cell.path
    write_json(folder / "run.json", record | facts)
    write_table(metrics[METRICS.names], METRICS, folder / "metrics.parquet")


def cells_in_markdown(text: str) -> list[list[str]]:
    """Return the rows of all tables of a page."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def draw(drawing: Drawing, folder: Path, formats=("png", "svg")) -> dict[str, bytes]:
    """Return the files that a drawing writes."""
    files = {name: folder / f"figure.{name}" for name in formats}
    drawing(files)
    return {name: path.read_bytes() for name, path in files.items()}


def drawn_text(drawing: Drawing, folder: Path) -> str:
    """Return the SVG of a drawing with its text as text, not as outlines."""
    with patch.dict(STYLE, {"svg.fonttype": "none"}):
        return draw(drawing, folder, ("svg",))["svg"].decode("utf-8")


def make_explanation(labels: list[int], question: str = "who costs $5 or $6 ?") -> Explanation:
    """Return an explanation of candidates with these labels, decided in turn by prototypes 0 to 2.

    The scores fall from 0.9 in steps of 0.1. The two plotted dimensions lose 20% of the variance.
    """
    candidates = []
    for row, label in enumerate(labels):
        texts = {"candidate_id": f"q0-{row}", "candidate": f"candidate {row}", "matches": []}
        score, by = 0.9 - 0.1 * row, row % 3
        nearest = [(by, score), ((row + 1) % 3, 0.0)]
        words = [("candidate", 0.75), (str(row), 0.25)]
        ranked = {"label": label, "score": score, "nearest": nearest, "decided_by": by}
        candidates.append(Candidate(**texts, **ranked, words=words))
    prototypes = [
        Prototype(
            question=f"question of prototype {row}",
            answer=f"answer of prototype {row}",
            question_words=[("question", 1.0)],
            answer_words=[("answer", 1.0)],
        )
        for row in range(4)
    ]
    points = [(float(row), float(row**2)) for row in range(len(labels) + len(prototypes))]
    return Explanation(
        run="analogy/wikiqa/comb/default",
        seed=0,
        question_id="q0",
        question=question,
        words=[("who", 1.0)],
        candidates=candidates,
        prototypes=prototypes,
        shifts=Shifts(
            candidates=points[: len(labels)], prototypes=points[len(labels) :], shares=(0.5, 0.3)
        ),
    )
