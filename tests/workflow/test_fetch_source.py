"""The rules that fetch and verify a source, with a mirror of its own."""

import json

import pytest

pytestmark = pytest.mark.workflow

NAME = "models/infersent2.pkl"
SIDECAR = f"resources/{NAME}.source.json"


@pytest.fixture
def paths(project):
    """The file of the source in a project, and in its mirror, where it is at first."""
    file, mirrored = (project.folder / folder / NAME for folder in ("resources", "mirror"))
    mirrored.parent.mkdir(parents=True)
    file.rename(mirrored)
    project.configure(mirrors=["mirror"])
    return file, mirrored


@pytest.mark.draw
def test_a_source_comes_from_a_mirror_which_may_then_change_or_vanish(project, paths):
    file, mirrored = paths
    project.make(SIDECAR)
    assert file.read_bytes() == mirrored.read_bytes()
    assert json.loads((project.folder / SIDECAR).read_bytes())["origin"] == "mirror"
    assert (project.results / "logs/fetch_source" / f"{NAME}.log").exists()
    mirrored.write_bytes(b"newer")
    assert "Nothing to be done" in project.run(SIDECAR, "--dry-run").stdout
    mirrored.unlink()
    assert "Nothing to be done" in project.run(SIDECAR, "--dry-run").stdout


def test_deleting_all_output_keeps_files_of_the_user_and_no_download(project, paths):
    file, mirrored = paths
    assert project.run(SIDECAR).returncode == 0
    project.run(SIDECAR, "--delete-all-output")
    assert not file.exists()
    content = mirrored.read_bytes()
    file.write_bytes(content)
    mirrored.unlink()
    assert project.run(SIDECAR).returncode == 0
    project.run(SIDECAR, "--delete-all-output")
    assert file.read_bytes() == content
    assert not (project.folder / SIDECAR).exists()
