"""The rule fetch_source, run by Snakemake with a registry and a mirror of its own."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[2]
SNAKEFILE = """\
import sys

sys.path.insert(0, "workflow_scripts")
from analogyqa.sources.registry import load_registry

REGISTRY = load_registry("sources.yaml")
SOURCE_OF_FILE = {source.file: name for name, source in REGISTRY.items()}
RESOURCES, RESULTS = "resources", "results"


def one_of(names):
    return "|".join(names)


include: "rules/sources.smk"
"""
CONTENT = b"the file\n"
REGISTRY = f"""\
it:
  title: a test file
  file: data/file.txt
  sha256: {hashlib.sha256(CONTENT).hexdigest()}
  bytes: {len(CONTENT)}
  licence: CC0
  citation: nobody
"""
FILE = "resources/data/file.txt"
SIDECAR = f"{FILE}.source.json"


@pytest.fixture
def workflow(tmp_path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "workflow_scripts", tmp_path / "workflow_scripts", ignore=ignored)
    (tmp_path / "rules").mkdir()
    shutil.copy(ROOT / "rules/sources.smk", tmp_path / "rules")
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs/cpu.yaml").write_text("dependencies: []\n", encoding="utf-8")
    (tmp_path / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    (tmp_path / "sources.yaml").write_text(REGISTRY, encoding="utf-8")
    (tmp_path / "mirror/data").mkdir(parents=True)
    (tmp_path / "mirror/data/file.txt").write_bytes(CONTENT)
    return tmp_path


def snakemake(folder: Path, *arguments: str, mirror: str = "mirror") -> tuple[int, str]:
    environment = {**os.environ, "ANALOGYQA_MIRROR": mirror}
    command = [sys.executable, "-m", "snakemake", "--cores", "1", FILE, SIDECAR, *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def test_a_source_is_fetched_from_the_mirror_with_its_provenance(workflow):
    code, output = snakemake(workflow)
    assert code == 0, output
    assert (workflow / FILE).read_bytes() == CONTENT
    assert json.loads((workflow / SIDECAR).read_bytes())["origin"] == "mirror"
    assert (workflow / "results/logs/fetch_source/data/file.txt.log").exists()


def test_a_mirror_that_changes_or_vanishes_makes_nothing_run_again(workflow):
    assert snakemake(workflow)[0] == 0
    (workflow / "mirror/data/file.txt").write_bytes(b"newer")
    for mirror in ("mirror", "elsewhere"):
        assert "Nothing to be done" in snakemake(workflow, "--dry-run", mirror=mirror)[1]


def test_a_mirror_of_the_config_is_used(workflow):
    code, output = snakemake(workflow, "--config", "mirrors=['mirror']", mirror="")
    assert code == 0, output


def test_a_dropped_in_file_survives_the_job_that_verifies_it(workflow):
    (workflow / FILE).parent.mkdir(parents=True)
    (workflow / FILE).write_bytes(CONTENT)
    before = (workflow / FILE).stat().st_ino
    code, output = snakemake(workflow, mirror="")
    assert code == 0, output
    assert (workflow / FILE).stat().st_ino == before
    assert json.loads((workflow / SIDECAR).read_bytes())["origin"] == "drop-in"


def test_a_wrong_dropped_in_file_fails_the_job_and_is_left_in_place(workflow):
    (workflow / FILE).parent.mkdir(parents=True)
    (workflow / FILE).write_bytes(b"wrong")
    code, output = snakemake(workflow)
    assert code != 0
    assert "it: resources/data/file.txt is not a test file" in output
    assert "Traceback" not in output
    assert (workflow / FILE).read_bytes() == b"wrong"


def test_a_source_that_cannot_be_had_fails_with_its_one_message_and_no_file(workflow):
    code, output = snakemake(workflow, mirror="")
    assert code != 0
    assert "it: cannot get a test file" in output
    assert "Traceback" not in output
    assert not (workflow / FILE).exists()
