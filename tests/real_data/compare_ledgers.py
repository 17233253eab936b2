"""Hold the ledger of a run against that of an earlier one: do the numbers stay?

    python tests/real_data/compare_ledgers.py tests/real_data/reference.csv results/conll/ledger.csv

`reference.csv` is of a real run of two seeds; its first lines say of which commit, and on which
processor: another one rounds otherwise, after some hundred steps ranks differ, and a mean with
them. Where much differs, run the old commit on the same machine and compare the scores. Prints
`equal`, or each number that differs; the exit status is 1 where a difference is not declared.
"""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
import yaml

KEY = ["paper", "artefact", "row", "column", "hyperparameters"]
NUMBERS = ["mean", "sd"]


def read_ledger(path: Path) -> pd.DataFrame:
    """Return mean and sd, as they are written, by paper, artefact, row, column and setting."""
    ledger = pd.read_csv(path, dtype=str, keep_default_na=False, comment="#")
    return ledger.set_index(KEY)[NUMBERS].sort_index()


def differences(before: pd.DataFrame, after: pd.DataFrame) -> dict[str, str]:
    """Return the numbers that are not the same in two ledgers, by their key in one text."""
    rows = before.add_suffix(" before").join(after.add_suffix(" after"), how="outer")
    found = {}
    for key, row in rows.fillna("absent").iterrows():
        pairs = [(row[f"{name} before"], row[f"{name} after"]) for name in NUMBERS]
        if any(old != new for old, new in pairs):
            texts = (
                f"{name} {old} -> {new}" for name, (old, new) in zip(NUMBERS, pairs, strict=True)
            )
            found["/".join(key)] = ", ".join(texts)
    return found


def main(
    before: Path,
    after: Path,
    declared: Annotated[
        Path | None, typer.Option(help="YAML: the key of a number, as it is printed, to the reason")
    ] = None,
) -> None:
    """Compare two ledgers."""
    first, second = read_ledger(before), read_ledger(after)
    found = differences(first, second)
    reasons = yaml.safe_load(declared.read_text(encoding="utf-8")) if declared else {}
    for key, text in found.items():
        print(f"{key}: {text} ({reasons.get(key, 'NOT DECLARED')})")
    print(f"{len(first) - len(found)} of {len(first)} numbers are equal" if found else "equal")
    raise typer.Exit(1 if found.keys() - reasons.keys() else 0)


if __name__ == "__main__":
    typer.run(main)
