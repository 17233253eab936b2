"""The setting that a system chooses on dev."""

import json
from pathlib import Path

from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_json
from analogyqa.schemas import HISTORY, read_table
from analogyqa.settings.systems import System


def choose_hyperparameters(
    histories: dict[str, str], measure: str, subset: str, path: str | Path
) -> None:
    """Choose the setting with the highest mean over seeds of the best dev value and record it.

    Args:
        histories: setting to its history.parquet; of equal settings the first wins.
        measure: a key of `MEASURES`.
        subset: on which the settings were tried, for the record.
        path: the JSON file to write: chosen, measure, subset, dev (setting to mean).
    """
    dev = {}
    for hyperparameters, file in histories.items():
        history = read_table(file, HISTORY)
        own = history[history["measure"] == f"dev_{measure}"]
        dev[hyperparameters] = float(own.groupby("seed")["value"].max().mean())
    chosen = max(dev, key=dev.__getitem__)
    write_json(path, {"tuned": chosen, "measure": measure, "subset": subset, "dev": dev})


def read_tuned(path: str | Path) -> str:
    """Return the setting that `choose_hyperparameters` recorded.

    Raises AnalogyQAError for a file that is not such a record.
    """
    try:
        return str(json.loads(Path(path).read_text(encoding="utf-8"))["tuned"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise AnalogyQAError(
            f"{path}: no record of a chosen setting ({error!r}). "
            "Delete it, then run the same command again to make it anew."
        ) from error


def system_of(settings: dict[str, dict], selection: str | Path | None) -> tuple[str, System]:
    """Return the setting that a trained cell is at, and its system there.

    Args:
        settings: setting to the section of the system, without its title.
        selection: the record of the chosen one; None where there is one setting only.

    Raises AnalogyQAError for a file that is not such a record.
    """
    hyperparameters = read_tuned(selection) if selection else next(iter(settings))
    return hyperparameters, System(title="", **settings[hyperparameters])
