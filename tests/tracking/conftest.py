"""A real MLflow server for the tests of tracking."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from builders.tracking import MlflowServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MlflowServer]:
    """A running server without any runs."""
    (tmp_path / "server").mkdir()
    server = MlflowServer(tmp_path / "server")
    server.start()
    yield server
    if server.process:
        server.kill()
