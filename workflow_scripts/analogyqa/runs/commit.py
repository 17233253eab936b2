"""The commit of the code that a run was made by."""

import os
import subprocess
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
UNKNOWN = "unknown"
_CODE = ("Snakefile", "rules", "workflow_scripts", "papers")


class CommitUnknownError(Exception):
    """Git does not tell the commit; the message says why."""


def code_commit(checkout: Path = CHECKOUT) -> str:
    """Return the commit of a checkout, `unknown` where git does not tell.

    `-dirty` is behind it when a tracked file was changed, or code was added and not committed.
    """
    try:
        return find_commit(checkout)
    except CommitUnknownError:
        return UNKNOWN


@cache
def find_commit(checkout: Path = CHECKOUT) -> str:
    """Return what `code_commit` does; raises CommitUnknownError where git does not tell.

    The commit of a repository around the checkout, or of one that GIT_DIR names, is not its own.
    """
    top = _git(checkout, "rev-parse", "--show-toplevel")
    if not Path(top).samefile(checkout):
        raise CommitUnknownError(f"{checkout} is no checkout of git, {top} around it is")
    commit = _git(checkout, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    added = _git(checkout, "ls-files", "--others", "--exclude-standard", "--", *_CODE)
    return f"{commit}-dirty" if added and not commit.endswith("-dirty") else commit


def _git(checkout: Path, *arguments: str) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(
            command, env=own, capture_output=True, text=True, check=True, timeout=30
        )
    except subprocess.CalledProcessError as error:
        raise CommitUnknownError(error.stderr.partition("\n")[0]) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommitUnknownError(str(error)) from error
    return done.stdout.strip()
