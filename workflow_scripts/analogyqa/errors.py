"""The exception for errors that a user can fix, and helpers for messages."""

import reprlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REBUILD = "Delete it, then run the same command again to rebuild it."

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200
_SHORT.maxdict = _SHORT.maxlist = 10


class AnalogyQAError(Exception):
    """An error that the user can fix.

    The message names the file (and line) or the key, the cause and the remedy. Scripts print it
    without a traceback and exit with status 1.
    """

    def __str__(self) -> str:
        """Return the message, with characters escaped that UTF-8 cannot encode."""
        return printable(super().__str__())


def printable(text: str) -> str:
    """Return a text with characters escaped that UTF-8 cannot encode, as in a Latin-1 file name."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shown(value: object) -> str:
    """Return `repr(value)` for a message, shortened in the middle."""
    try:
        return _SHORT.repr(value)
    except ValueError:
        return "a number of thousands of digits"


def one_line(error: Exception) -> str:
    """Return the type and message of an error on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def looked_in(path: str | Path) -> str:
    """Return " in FOLDER" for a relative path, to end a message about a missing file."""
    return "" if Path(path).is_absolute() else f" in {Path.cwd()}"


@contextmanager
def explain_damage(
    path: str | Path, what: str = "cannot be read", remedy: str = REBUILD
) -> Iterator[None]:
    """Turn any exception of reading a file of ours into an AnalogyQAError with a remedy.

    `what` says what is wrong with the file; the reason follows in parentheses.
    """
    try:
        yield
    except AnalogyQAError:
        raise
    except Exception as error:  # libraries raise many types for damaged files
        if isinstance(error, FileNotFoundError) and remedy == REBUILD:
            raise AnalogyQAError(
                f"{path}: no such file. Run the command of the whole run again to make it."
            ) from error
        says_all = isinstance(error, ValueError | OSError)
        reason = " ".join(str(error).split()) if says_all else one_line(error)
        raise AnalogyQAError(f"{path}: {what} ({reason}). {remedy}") from error


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Exit with the message of an AnalogyQAError, which Snakemake would show as a traceback."""
    try:
        yield
    except AnalogyQAError as error:
        sys.exit(f"\nError: {error}\n")
