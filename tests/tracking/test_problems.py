"""What is wrong with a tracking store, and the remedy, which fits the cause."""

import errno
import multiprocessing
import os
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_text
from analogyqa.tracking.store import initialise, readable_errors
from builders.servers import free_ports, running_server, sent, status
from builders.tracking import CELL, import_all, uri, write_cell

DISK, DAMAGED, MODE = "Free some disk space", "delete it and ", "writable for you"


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (sqlite3.OperationalError("database or disk is full"), DISK),
        (OSError(errno.ENOSPC, "No space left on device"), DISK),
        (PermissionError(errno.EACCES, "Permission denied", "mlflow.db"), MODE),
        (sqlite3.DatabaseError("database disk image is malformed"), DAMAGED),
    ],
)
def test_the_remedy_for_a_file_fits_the_cause(tmp_path, monkeypatch, error, remedy):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AnalogyQAError) as caught, readable_errors("sqlite:///mlflow.db"):
        raise error
    assert [text for text in (DISK, DAMAGED, MODE) if text in str(caught.value)] == [remedy]


def test_a_path_that_is_no_folder_is_named(tmp_path):
    write_text(tmp_path / "file", "")
    with pytest.raises(AnalogyQAError, match=r"/file/mlflow\.db: .*/file is a file"):
        initialise(uri(tmp_path / "file"))
    with (
        pytest.raises(AnalogyQAError, match="/file is a file") as caught,
        readable_errors("http://host"),
    ):
        (tmp_path / "file" / "artifacts").mkdir()  # as a client of this server would
    assert "Start it" not in str(caught.value)


def initialise_as_nobody(tracking_uri: str) -> None:
    if os.geteuid() == 0:
        os.seteuid(65534)
    initialise(tracking_uri)


def test_a_store_that_only_its_owner_may_write_is_named():
    with TemporaryDirectory() as folder:  # others cannot enter the temporary folder of a test
        database, tracking_uri = Path(folder, "mlflow.db"), uri(Path(folder))
        initialise(tracking_uri)
        Path(folder).chmod(0o777)
        database.chmod(0o444)
        Path(folder, ".mlflow.db.lock").chmod(0o666)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
            error = pool.submit(initialise_as_nobody, tracking_uri).exception()
    assert f"Make {database} {MODE}" in str(error)


def import_error(folder: Path, address: str) -> str:
    """Return the message of an import into a server that does not work."""
    write_cell(folder / "results", CELL)
    with pytest.raises(AnalogyQAError) as caught:
        import_all(folder / "results", address)
    return str(caught.value)


@pytest.mark.parametrize(
    ("behaviour", "remedy"),
    [
        (status(401), "Set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"),
        (status(404), "Correct tracking_uri"),
        (sent(b"<html>"), "Correct tracking_uri"),
        (status(500), "It is running"),
        (None, "Start it"),  # there is no server
    ],
)
def test_the_remedy_for_a_server_fits_its_answer(tmp_path, monkeypatch, behaviour, remedy):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with running_server() as server:
        server.otherwise = behaviour
        address = server.url if behaviour else f"http://127.0.0.1:{free_ports(1)[0]}"
        message = import_error(tmp_path, address)
    assert message.startswith(f"{address}: the MLflow server")
    assert remedy in message and ("Start it" in message) == (behaviour is None)


@pytest.mark.slow
def test_a_server_that_cannot_store_artifacts_is_running(tmp_path, server):
    write_text(server.folder / "artifacts", "not a folder")
    message = import_error(tmp_path, server.address)
    assert "--artifacts-destination" in message and "Start it" not in message
