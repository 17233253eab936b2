"""Projects for the tests of the rules."""

from pathlib import Path

import pytest
from filelock import FileLock

from workflow.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project that has not run yet."""
    return Project(tmp_path / "project").create()


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Project:
    """A project whose whole pipeline has run; copy it before changing anything or running in it.

    The workers of pytest-xdist share one.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "finished"
    complete = folder / "complete"
    project = Project(folder / "project")
    with FileLock(f"{folder}.lock"):
        if not complete.exists():
            done = project.create().run()
            assert done.returncode == 0, done.stdout
            complete.touch()
    return project
