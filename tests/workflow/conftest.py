"""Projects for the tests of the rules."""

from pathlib import Path

import pytest

from workflow.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project that has not run yet."""
    return Project(tmp_path / "project").create()


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose whole pipeline has run; copy it before changing anything."""
    project = Project(tmp_path_factory.mktemp("finished") / "project").create()
    done = project.run()
    assert done.returncode == 0, done.stdout
    return project
