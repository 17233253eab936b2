"""Run records as a finished cell leaves them, without the training."""

from pathlib import Path

import pandas as pd

from analogyqa.files import write_json
from analogyqa.runs.depends_on import content_hash
from analogyqa.schemas import HISTORY, METRICS, write_table

EPOCHS = 4
CELL = {"model": "analogy", "dataset": "wikiqa", "subset": "comb", "p": 30}
SETTINGS = {
    "model": {"encoder": "bigru", "ranker": "analogy"},
    "training": {"loss": "printed", "negatives": {"count": 1}},
    "setting": "paper",
    "vectors": None,
}


def write_cell(results: Path, cell: dict, rr: float = 0.5, trained: bool = True, epochs=EPOCHS):
    """Write the record, history and metrics of a cell with the seeds 0 and 1."""
    path = f"{cell['model']}/{cell['dataset']}/{cell['subset']}/p{cell['p']}"
    settings = SETTINGS if trained else {**SETTINGS, "training": None}
    content = {"cell": cell, "settings": settings, "seeds": [0, 1], "scores": str(rr)}
    record = {
        **content,
        "content_hash": content_hash(content),
        "git_commit": "abc",
        "device": "cpu",
        "wall_seconds": 60.0,
    }
    write_json(results / "runs" / path / "run.json", record)
    questions = [
        {"seed": seed, "split": split, "question_id": question, "question_type": "who"}
        | {"ap": 0.25, "rr": rr + 0.25 * seed, "tied_candidates": 0}
        for seed in (0, 1)
        for split in ("dev", "test")
        for question in ("q1", "q2")
    ]
    write_table(pd.DataFrame(questions), METRICS, results / "runs" / path / "metrics.parquet")
    if trained:
        history = [
            {"seed": seed, "epoch": epoch, "loss": 1 / epoch, "dev_map": 0.25, "dev_mrr": 0.5}
            | {"seconds": 2.0, "quadruples_per_second": 100.0}
            for seed in (0, 1)
            for epoch in range(1, epochs + 1)
        ]
        write_table(pd.DataFrame(history), HISTORY, results / "runs" / path / "history.parquet")
