"""What our processes inherit from their surroundings, decided in one place."""

import getpass
import os
import sys
from pathlib import Path

from analogyqa.folders import require_writable

# Variables for another Python, and for the figures of a notebook.
_FOREIGN = ("PYTHONHOME", "MPLBACKEND", "MATPLOTLIBRC")
# Where packages may come from: this environment, and the folder of this library.
_OURS = (Path(sys.prefix).resolve(), Path(__file__).resolve().parents[1])


def leave_surroundings() -> None:
    """Drop what was set for other programs, here and for the processes that this one starts.

    Call it before NumPy and Matplotlib are imported. A user without a passwd entry, as in
    `docker run --user 12345`, gets a name and a home folder.
    """
    for name in _FOREIGN:
        os.environ.pop(name, None)
    if path := os.environ.pop("PYTHONPATH", ""):
        given = [Path(entry).resolve() for entry in path.split(os.pathsep)]
        ours = [folder for folder in given if any(map(folder.is_relative_to, _OURS))]
        foreign = {*given} - {*ours}
        sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() not in foreign]
        if ours:  # such as a checkout that is not installed
            os.environ["PYTHONPATH"] = os.pathsep.join(map(str, ours))
    try:
        getpass.getuser()
    except (KeyError, OSError):  # Python 3.13 raises the second
        os.environ["LOGNAME"] = str(os.getuid())
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = "/"  # as Docker does


def require_cache() -> None:
    """Raise AnalogyQAError when Snakemake could not write to its cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    require_writable(Path(cache, "snakemake"), "XDG_CACHE_HOME, the folder for caches")


def git_environment() -> dict[str, str]:
    """Return the environment for git, without the repository that a hook names.

    GIT_CONFIG_* are kept: containers declare a checkout of another user safe by them.
    """
    kept = ("GIT_CONFIG", "GIT_EXEC_PATH")
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(kept)
    }
