"""Choose the hyperparameters of a system on dev."""

import json
from pathlib import Path

import pandas as pd

from analogyqa.errors import explain_damage
from analogyqa.files import write_json
from analogyqa.schemas import HISTORY, read_table


def choose_hyperparameters(
    histories: dict[str, str], measure: str, subset: str, path: str | Path
) -> None:
    """Choose the hyperparameters with the best dev value, averaged over seeds, and record them.

    The seeds are those that all choices have.

    Args:
        histories: The history.parquet of each choice, by name. The first of equal ones wins.
        measure: A key of `MEASURES`.
        subset: The subset on which the choices were trained, for the record.
        path: The JSON file to write, with the keys tuned (a name), measure, subset, and dev (the
            mean of each choice).
    """
    best = {}
    for name, file in histories.items():
        history = read_table(file, HISTORY)
        curve = history[history["measure"] == f"dev_{measure}"]
        best[name] = curve.groupby("seed")["value"].max()
    in_all = pd.DataFrame(best).dropna()
    dev = {name: float(values.mean()) for name, values in in_all.items()}
    tuned = max(dev, key=dev.__getitem__)
    write_json(path, {"tuned": tuned, "measure": measure, "subset": subset, "dev": dev})


def read_tuned(path: str | Path) -> str:
    """Return the name of the hyperparameters that `choose_hyperparameters` recorded.

    Raises AnalogyQAError when the file is not such a record.
    """
    with explain_damage(path, "not a record of tuned hyperparameters"):
        return str(json.loads(Path(path).read_text(encoding="utf-8"))["tuned"])
