"""Errors of a tracking store, as messages with a remedy that fits the cause."""

import errno
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic.util import CommandError
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

from analogyqa.errors import AnalogyQAError
from analogyqa.folders import why_not_writable
from analogyqa.settings.tracking import ARTIFACTS, database_path

_STATUS = re.compile(r"(?:error code|too many) (\d{3})\b")  # HTTP
_UNREACHABLE = re.compile(r"failed with (timeout )?exception")
_FULL = "Free some disk space, then run the same command again."


@contextmanager
def readable_errors(tracking_uri: str) -> Iterator[None]:
    """Turn errors of a tracking store into AnalogyQAError."""
    try:
        yield
    except (MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, OSError) as error:
        reason = first_line(error)
        if database := database_path(tracking_uri):
            what, remedy = f"{database}: the MLflow store", _file_remedy(database, error, reason)
        else:
            what, remedy = f"{tracking_uri}: the MLflow server", _server_remedy(error, reason)
        raise AnalogyQAError(f"{what} cannot be used ({reason}). {remedy}") from error


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _file_remedy(database: Path, error: Exception, reason: str) -> str:
    if "database is locked" in reason:
        return (
            "Another program, such as a second import, is writing to it. Wait for it to finish, "
            "then run the same command again."
        )
    if problem := why_not_writable(database.parent) or _path_problem(error):
        return problem
    if _is_full(error, reason):
        return _FULL
    return (
        f"If the file is damaged, delete it and {database.with_name(ARTIFACTS)}, then import "
        "again: both are rebuilt from the run records, so nothing is lost."
    )


def _server_remedy(error: Exception, reason: str) -> str:
    status = found[1] if (found := _STATUS.search(reason)) else ""
    if _is_full(error, reason):
        return _FULL
    if problem := _path_problem(error):
        return (
            "It makes its clients write artifacts into a folder of their own machine, unless it is "
            f"started with --artifacts-destination. {problem}"
        )
    if status in ("401", "403"):
        return "Set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD in the environment."
    if status == "404" or status.startswith("3") or "valid JSON" in reason:
        return "There is no MLflow server at this address. Correct tracking_uri."
    if status and "/mlflow-artifacts/" in reason:
        return (
            "It is running, but cannot store artifacts. Make the folder of its option "
            "--artifacts-destination writable, with space left on its disk."
        )
    if status or not (isinstance(error, OSError) or _UNREACHABLE.search(reason)):
        return "It is running, but answers with an error. Its log says why."
    return "Start it, correct tracking_uri, or remove that key to use a file."


def _path_problem(error: Exception) -> str | None:
    """Return why the path of an error cannot be written, with the remedy, None if it has none."""
    if not isinstance(error, OSError) or not error.filename:
        return None
    path = Path(error.filename)
    is_folder = isinstance(error, FileExistsError | NotADirectoryError)
    if problem := why_not_writable(path if is_folder else path.parent):
        return problem
    is_refused = isinstance(error, PermissionError)
    return f"Make {path} writable for you or your group." if is_refused else None


def _is_full(error: Exception, reason: str) -> bool:
    return "disk is full" in reason or getattr(error, "errno", None) == errno.ENOSPC
