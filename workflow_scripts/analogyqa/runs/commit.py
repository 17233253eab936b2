"""The commit of the code that made a run."""

import subprocess
from functools import cache
from pathlib import Path

from analogyqa.surroundings import git_environment

CHECKOUT = Path(__file__).resolve().parents[3]
UNKNOWN = "unknown"
_CODE = ("Snakefile", "rules", "workflow_scripts", "papers")


class CommitUnknownError(Exception):
    """Git cannot name the commit; the message says why."""


def code_commit(checkout: Path = CHECKOUT) -> str:
    """Return the commit of a checkout, or `unknown` if git cannot name it.

    The commit ends with `-dirty` if a tracked file was changed or new code is not committed.
    """
    try:
        return find_commit(checkout)
    except CommitUnknownError:
        return UNKNOWN


@cache
def find_commit(checkout: Path = CHECKOUT) -> str:
    """Return the commit of a checkout; raises CommitUnknownError if git cannot name it.

    A repository around the checkout does not count, nor one that GIT_DIR names.
    """
    top = _git(checkout, "rev-parse", "--show-toplevel")
    if not Path(top).samefile(checkout):
        raise CommitUnknownError(f"{checkout} is not a git checkout, although {top} around it is")
    commit = _git(checkout, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    added = _git(checkout, "ls-files", "--others", "--exclude-standard", "--", *_CODE)
    return f"{commit}-dirty" if added and not commit.endswith("-dirty") else commit


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(
            command, env=git_environment(), capture_output=True, text=True, check=True, timeout=30
        )
    except subprocess.CalledProcessError as error:
        raise CommitUnknownError(error.stderr.partition("\n")[0]) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommitUnknownError(str(error)) from error
    return done.stdout.strip()
