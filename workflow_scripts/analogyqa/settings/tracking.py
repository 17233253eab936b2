"""The MLflow tracking store: an SQLite file or a server."""

from pathlib import Path
from typing import Annotated
from urllib.parse import quote, unquote, urlsplit

from pydantic import AfterValidator

from analogyqa.settings.base import checked_by, without_credentials

ARTIFACTS = "mlflow-artifacts"  # next to an SQLite file
_SQLITE = "sqlite:///"
_QUOTED, _IS_QUOTED = "file:", "uri=true"  # the path after this prefix is quoted, with this option


def sqlite_uri(database: str | Path) -> str:
    """Return the URI of an SQLite file, whatever characters its path has."""
    if "?" not in str(database):
        return f"{_SQLITE}{database}"
    # SQLAlchemy reads options after a question mark, and quotes paths only in this form. MLflow
    # creates the folder of what it takes for a path, so there must be no slash in it.
    return f"{_SQLITE}{_QUOTED}{quote(str(database), safe='')}?{_IS_QUOTED}"


def database_path(tracking_uri: str) -> Path | None:
    """Return the file of an SQLite URI, None for a server; raises ValueError for other URIs."""
    if tracking_uri.startswith(("http://", "https://")) and urlsplit(tracking_uri).hostname:
        return None
    path, _, options = tracking_uri.removeprefix(_SQLITE).partition("?")
    if not tracking_uri.startswith(_SQLITE) or path in ("", ":memory:"):
        raise ValueError(f"give {_SQLITE}path/to/mlflow.db or the http(s) address of a server")
    if path.startswith(_QUOTED) and _IS_QUOTED in options.split("&"):
        return Path(unquote(path.removeprefix(_QUOTED)))
    if options and "=" not in options:
        raise ValueError(f"its path ends at the ?; write {sqlite_uri(f'{path}?{options}')}")
    return Path(path)


def artifacts_folder(tracking_uri: str) -> Path | None:
    """Return the folder with the artifacts of an SQLite store, None for a server."""
    database = database_path(tracking_uri)
    return database and database.with_name(ARTIFACTS)


TrackingUri = Annotated[str, AfterValidator(without_credentials), checked_by(database_path)]
