"""The MLflow tracking store: an SQLite file or a server."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

from analogyqa.settings.base import checked_by, without_credentials

if TYPE_CHECKING:
    from analogyqa.settings.run import Config

_SQLITE = "sqlite:///"


def database_path(tracking_uri: str) -> Path | None:
    """Return the file of an SQLite URI, None for a server; raises ValueError for other schemes."""
    if tracking_uri.startswith(_SQLITE) and tracking_uri != _SQLITE:
        return Path(tracking_uri.removeprefix(_SQLITE))
    if tracking_uri.startswith(("http://", "https://")):
        return None
    raise ValueError(f"give {_SQLITE}path/to/mlflow.db or the http(s) address of an MLflow server")


TrackingUri = Annotated[str, AfterValidator(without_credentials), checked_by(database_path)]


def resolve_tracking_uri(config: "Config") -> str:
    """Return the configured tracking URI; the default is an SQLite file in the output folder."""
    return config.tracking_uri or f"{_SQLITE}{Path(config.output_dir, 'mlflow.db')}"
