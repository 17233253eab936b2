"""Quadruples to Parquet and back, against pandas; memory from 1 to 200 million rows."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from measure import record, run_in_new_process

from analogyqa.analogies.quadruples import evaluation_blocks, write_quadruples

PAIRS, CANDIDATES = 100_000, 10
# The number of prototypes makes the rows: 1, 3 and 200 million.
P, MOST_P = (10, 30, 2000), 2000
PANDAS_P = 30


def tables(p: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return pairs of one question type, and p prototypes."""
    numbers = np.arange(PAIRS)
    pairs = pd.DataFrame(
        {
            "question_id": [f"Q{number}" for number in numbers // CANDIDATES],
            "candidate_id": [f"D{number}" for number in numbers],
            "label": (numbers % CANDIDATES == 0).astype(np.int8),
            "question_type": pd.Categorical(["who"] * PAIRS),
        }
    )
    return pairs, pd.DataFrame(
        {"rank": np.arange(p), "question_type": pd.Categorical(["who"] * p), "candidate_id": "P"}
    )


def write(pairs: pd.DataFrame, prototypes: pd.DataFrame, path: Path) -> None:
    write_quadruples(evaluation_blocks(pairs, prototypes), pairs, path)


def write_with_pandas(pairs: pd.DataFrame, prototypes: pd.DataFrame, path: Path) -> None:
    quadruples = pairs.merge(prototypes[["rank"]], how="cross")
    columns = {"rank": "prototype"}
    names = ["prototype", "question_id", "candidate_id", "label"]
    quadruples.rename(columns=columns)[names].to_parquet(path)


def read(path: Path) -> None:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches():
            batch.column("label").sum()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "quadruples.parquet")
        for p in P:
            rows, made = PAIRS * p, tables(p)
            data = f"{rows / 1e6:.0f} M rows"
            cost = run_in_new_process(write, *made, path)
            record("quadruples: memory", data, "MB", cost.memory_mb, packages=["pyarrow"])
            size = path.stat().st_size / rows
            record("quadruples: size", data, "bytes/row", size, packages=["pyarrow"])
            rate = rows / cost.cpu_seconds / 1e6
            other = None
            if p == PANDAS_P:
                other = rows / run_in_new_process(write_with_pandas, *made, path).cpu_seconds / 1e6
            packages = ["pyarrow", "pandas"]
            record("quadruples: speed", data, "M rows/s/core", rate, other, packages=packages)
            if p == MOST_P:
                memory = run_in_new_process(read, path).memory_mb
                record("quadruples: memory read", data, "MB", memory, packages=["pyarrow"])


if __name__ == "__main__":
    main()
