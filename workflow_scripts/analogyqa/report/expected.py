"""The means that the demo must have, which the repository holds for the bundled sample."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from analogyqa.evaluation.summary import read_csv
from analogyqa.report.stored import read_stored
from analogyqa.settings.load import REPOSITORY, read_values

SAMPLE = REPOSITORY / "sample" / "config.yaml"
EXPECTED = SAMPLE.with_name("expected.csv")
# Folders and devices, which do not change the means beyond their tolerance.
_LOCAL = ("output_dir", "resources_dir", "mirrors", "tracking_uri", "device")
_KEYS = ["system", "dataset", "subset", "overrides", "measure"]
COLUMNS = dict.fromkeys(_KEYS, "str") | {
    "n_seeds": "Int64",
    "n_items": "Int64",
    "mean": "float64",
    "tolerance": "float64",
}
_DECIMALS = 4
_ROUNDING = 10.0**-_DECIMALS
# Training amplifies differences of rounding. PyTorch without vector instructions gave the means of
# AVX2 (ATEN_CPU_CAPABILITY=default). The tolerance leaves room for another BLAS, or for fastText of
# another compiler: in one seed, four questions of 22 may move between first and second place.
_TRAINED_TOLERANCE = 0.05


def is_sample(results: str | Path) -> bool:
    """Return whether a results folder was made with the configuration of the bundled sample."""
    if not SAMPLE.exists():
        return False
    stored, sample = read_stored(results)[0], read_values(SAMPLE)[0]
    stored, sample = (
        {key: value for key, value in values.items() if key not in _LOCAL}
        for values in (stored, sample)
    )
    return stored == sample


def expected_values(summary: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a summary that `differences_from_expected` compares, columns COLUMNS.

    Values that rest on training have a tolerance, all others must agree but for rounding.
    """
    rows = summary[summary["measure"].isin(measures)].copy()
    is_trained = rows["provenance"].str.contains("trained here")
    rows["tolerance"] = is_trained.map({True: _TRAINED_TOLERANCE, False: _ROUNDING})
    rows["mean"] = rows["mean"].round(_DECIMALS)
    return rows[[*COLUMNS]]


def differences_from_expected(summary: pd.DataFrame, path: str | Path = EXPECTED) -> Iterator[str]:
    """Yield a text for each row in which a summary of the demo differs from the expected values.

    Seeds and items must be equal, and means within the tolerance of their row.

    Raises AnalogyQAError when the file of the expected values is missing or damaged.
    """
    joined = read_csv(path, COLUMNS).merge(summary, "left", _KEYS, suffixes=("", "_found"))
    for row in joined.itertuples():
        name = " ".join(filter(None, (row.system, row.dataset, row.subset, row.overrides)))
        if pd.isna(row.mean_found):
            yield f"{name} has no {row.measure}; expected {row.mean}"
        elif (row.n_seeds, row.n_items) != (row.n_seeds_found, row.n_items_found):
            yield (
                f"{name}: {row.n_seeds_found} seeds and {row.n_items_found} items; expected "
                f"{row.n_seeds} and {row.n_items}"
            )
        elif abs(row.mean - row.mean_found) > row.tolerance:
            yield (
                f"{name}: {row.measure} {row.mean_found:.4f}; expected {row.mean:.4f} "
                f"± {row.tolerance:g}"
            )
