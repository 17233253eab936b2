"""The setting that a model chooses on dev."""

import json
from pathlib import Path

from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_json
from analogyqa.schemas import HISTORY, read_table


def choose_setting(histories: dict[str, str], subset: str, path: str | Path) -> None:
    """Choose the setting with the highest mean over seeds of the best dev MRR and record it.

    Args:
        histories: setting to its history.parquet; of equal settings the first wins.
        subset: on which the settings were tried, for the record.
        path: the JSON file to write: chosen, metric, subset, dev (setting to mean).
    """
    dev = {
        setting: float(read_table(file, HISTORY).groupby("seed")["dev_mrr"].max().mean())
        for setting, file in histories.items()
    }
    chosen = max(dev, key=dev.__getitem__)
    write_json(path, {"chosen": chosen, "metric": "mrr", "subset": subset, "dev": dev})


def chosen_setting(path: str | Path) -> str:
    """Return the setting that `choose_setting` recorded.

    Raises AnalogyQAError for a file that is not such a record.
    """
    try:
        return str(json.loads(Path(path).read_text(encoding="utf-8"))["chosen"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise AnalogyQAError(
            f"{path}: no record of a chosen setting ({error!r}). "
            "Delete it, then run the same command again to make it anew."
        ) from error
