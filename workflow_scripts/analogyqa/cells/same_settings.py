"""Compare the settings that a result was made with to the present ones.

Snakemake compares parameters too, but with its own metadata: it has none after `.snakemake` was
deleted, does not read them with restricted rerun triggers, and believes them after `--touch`.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from analogyqa.cells.cell import Settings
from analogyqa.errors import AnalogyQAError
from analogyqa.settings.overrides import text_of


def differences(before: object, now: object, key: str = "") -> Iterator[str]:
    """Yield a line for each key at which two JSON values differ: `training.margin: 1, now 2`."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in dict.fromkeys([*before, *now]):
            below = f"{key}.{name}" if key else str(name)
            yield from differences(before.get(name), now.get(name), below)
    elif before != now:
        yield f"{key}: {text_of(before)}, now {text_of(now)}"


def require_same(path: str | Path, settings: Settings) -> None:
    """Raise AnalogyQAError when a result was made with other settings.

    Args:
        path: The record of the result, a JSON file with the key `settings`.
        settings: The present settings of the result.
    """
    try:
        before = json.loads(Path(path).read_text(encoding="utf-8"))["settings"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        before = None  # not a record, or one written by older code
    if before == settings:
        return
    changed = list(differences(before, settings)) if before else ["the record does not say which"]
    raise AnalogyQAError(
        f"{path}: made with other settings ({'; '.join(changed[:3])}), but Snakemake would keep "
        "it: it has no metadata for the file, has those of another one, or was told not to compare "
        "parameters or to --touch the file. Restore those settings, choose another output_dir, or "
        "run everything again with --forceall, without --touch (training runs with unchanged "
        "settings are read from checkpoints/)."
    )
