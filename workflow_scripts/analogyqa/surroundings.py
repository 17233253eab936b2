"""What our processes inherit from their surroundings: variables, malloc, standard streams."""

import getpass
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from analogyqa.errors import AnalogyQAError
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


# Options for glibc's malloc, which a job reads when it starts. By default glibc returns large freed
# blocks to the system, and training then requests them again, page by page, in its next step.
# `memory kept` in docs/performance.md has the cost.
MALLOC_OPTIONS = {
    "MALLOC_MMAP_MAX_": "0",  # do not map large blocks separately
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),  # keep freed memory
    "MALLOC_TOP_PAD_": str(1 << 26),  # request memory in large pieces
}

CLOSED_PIPE = 141  # the exit status of a program that SIGPIPE ends, such as `cat` before `head`


class _Stream(io.FileIO):
    """The bytes of a standard stream; after a first error they are discarded.

    If it `is_needed`, an error ends the command: quietly for a closed pipe, else with a message.
    """

    def __init__(self, number: int, is_needed: bool) -> None:
        super().__init__(number, "w", closefd=False)
        self.is_needed = is_needed

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if not self.is_needed:
                return len(data)
            if isinstance(error, BrokenPipeError):
                raise SystemExit(CLOSED_PIPE) from None
            raise AnalogyQAError(
                f"the output cannot be written ({error.strerror}). Free some disk space, or send "
                "it to another file"
            ) from error


def prepare_streams(is_output_needed: bool = True) -> None:
    r"""Let standard streams neither raise errors of their own nor stop a job.

    A closed stream becomes /dev/null. A character that a terminal cannot show is escaped (`\xe9`).
    Nothing that fails on standard error matters; if the output is needed, the command ends when it
    cannot be written.
    """
    # A file that is opened later must not get the number of a closed stream.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = _prepared(sys.stdout, 1, is_output_needed)
    sys.stderr = _prepared(sys.stderr, 2, False)


def _prepared(stream: Any, number: int, is_needed: bool) -> TextIO:
    try:
        is_standard = not stream or stream.fileno() == number
    except OSError:
        is_standard = False
    if not is_standard:  # a test or a notebook has replaced it
        return stream
    raw = _Stream(number, is_needed)
    if stream is None:
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8")
    with suppress(OSError):
        stream.flush()
    return io.TextIOWrapper(
        raw if stream.write_through else io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
