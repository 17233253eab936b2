"""A results folder that is read again: its configuration and its papers."""

import json
from pathlib import Path

from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_text
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
    # These two depend on the machine.
    kept = {key: value for key, value in values.items() if key not in ("tracking_uri", "mirrors")}
    return json.dumps({"values": kept, "left_out": left_out, "command": command}, indent=1) + "\n"


def store_configuration(config: Config, values: dict, command: str) -> None:
    """Write configuration.json when a run starts, so that every command can read its results."""
    path = Path(config.output_dir, CONFIGURATION)
    write_text(path, stored_configuration(values, config.left_out, command))


def read_configuration(results: str | Path) -> tuple[Config, dict[str, Paper], str]:
    """Return the configuration and the papers of a results folder, and the command that made it.

    Raises AnalogyQAError when the folder has no readable configuration.json.
    """
    values, left_out, command = read_stored(results)
    return *configured(values, left_out), command


def read_stored(results: str | Path) -> tuple[dict, dict[str, str], str]:
    """Return what `stored_configuration` wrote: the values, what was left out, and the command.

    Raises AnalogyQAError when the folder has no readable configuration.json.
    """
    path = Path(results, CONFIGURATION)
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return stored["values"], stored["left_out"], stored["command"]
    except (FileNotFoundError, NotADirectoryError):
        if path.parent.is_dir():
            problem = "no run has started there. Start one, or name another output folder"
        else:
            problem = (
                "there is no such folder. Name the output folder of a run, such as results/demo, "
                "which `analogyqa demo` makes"
            )
        raise AnalogyQAError(f"{results}: {problem}") from None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise AnalogyQAError(
            f"{path}: cannot be read ({error}). Delete it, then run the same command again to "
            "rebuild it"
        ) from error
