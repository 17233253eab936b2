"""A results folder that is read again: its configuration and its papers."""

import json
from pathlib import Path

from analogyqa.errors import AnalogyQAError
from analogyqa.plan import load_papers
from analogyqa.settings.left_out import leave_out
from analogyqa.settings.load import load_config
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config

CONFIGURATION = "configuration.json"


def configured(values: dict, left_out: dict[str, str]) -> tuple[Config, dict[str, Paper]]:
    """Return the configuration of a run, without what could not run, and its papers."""
    config = leave_out(load_config(values), left_out)
    return config, load_papers(config)


def stored_configuration(values: dict, left_out: dict[str, str], command: str) -> str:
    """Return the text of a results folder's configuration.json, for `read_configuration`."""
    # The address of a tracking server is that of a machine.
    kept = {key: value for key, value in values.items() if key != "tracking_uri"}
    return json.dumps({"values": kept, "left_out": left_out, "command": command}, indent=1) + "\n"


def read_configuration(results: str | Path) -> tuple[Config, dict[str, Paper], str]:
    """Return the configuration and the papers of a results folder, and the command that made it.

    Raises AnalogyQAError when the folder has no readable configuration.json.
    """
    path = Path(results, CONFIGURATION)
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        values, left_out, command = stored["values"], stored["left_out"], stored["command"]
    except FileNotFoundError:
        state = "there is no such folder" if not path.parent.is_dir() else "it has no ledger yet"
        raise AnalogyQAError(
            f"{results}: {state}. Name the output folder of a run, such as results/demo, "
            "which `make demo` makes"
        ) from None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise AnalogyQAError(
            f"{path}: cannot be read ({error}). Delete it, then run the same command again to "
            "rebuild it"
        ) from error
    return *configured(values, left_out), command
