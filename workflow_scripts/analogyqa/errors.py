"""The one exception that a user is meant to read."""

import reprlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200
_SHORT.maxdict = _SHORT.maxlist = 10


class AnalogyQAError(Exception):
    """Something the user can mend.

    The message is complete by itself: it names the file (and line) or the key, the cause, and
    the remedy. Scripts print it without a traceback and exit with status 1.
    """

    def __str__(self) -> str:
        """Return the message; what UTF-8 cannot encode, as in some file names, is escaped."""
        return super().__str__().encode("utf-8", "backslashreplace").decode("utf-8")


def shown(value: object) -> str:
    """Return `repr(value)` for a message, the middle left out where it is long."""
    try:
        return _SHORT.repr(value)
    except ValueError:
        return "a number of thousands of digits"


def one_line(error: Exception) -> str:
    """Return the type and the message of an error for a message of our own."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def looked_in(path: str | Path) -> str:
    """Return, for a message about a missing file, the folder that a relative path starts from."""
    return "" if Path(path).is_absolute() else f" in {Path.cwd()}"


@contextmanager
def exit_on_error() -> Iterator[None]:
    """End the program with the message of an AnalogyQAError.

    Snakemake would show an exception of a function of the rules as a traceback.
    """
    try:
        yield
    except AnalogyQAError as error:
        sys.exit(f"\nError: {error}\n")
