"""The rule fetch_source, run by Snakemake with a registry and a mirror of its own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from builders.projects import clean_environment
from builders.servers import entry

pytestmark = [pytest.mark.workflow, pytest.mark.draw]

ROOT = Path(__file__).parents[2]
SNAKEFILE = """\
from types import SimpleNamespace

from analogyqa.cells.plan import one_of
from analogyqa.sources.registry import load_registry
from analogyqa.sources.verify import is_placed_by_hand

SOURCES = load_registry("sources.yaml")
FILES = {source.file: name for name, source in SOURCES.items()}
RESOURCES, RESULTS = "resources", "results"
BY_HAND = {source.file for source in SOURCES.values() if is_placed_by_hand(source, RESOURCES)}
PATTERNS = {"file by hand": one_of(BY_HAND), "fetched file": one_of(FILES.keys() - BY_HAND)}
AVAILABLE = SimpleNamespace(source_names=FILES)


include: "rules/sources.smk"
"""
CONTENT = b"the file\n"
FILE = "resources/data/file.txt"
SIDECAR = f"{FILE}.source.json"


@pytest.fixture
def folder(tmp_path) -> Path:
    for part in ("workflow_scripts", "rules", "envs"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    (tmp_path / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    (tmp_path / "sources.yaml").write_text(yaml.safe_dump({"it": entry(CONTENT)}))
    for name in ("mirror/data", "resources/data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "mirror/data/file.txt").write_bytes(CONTENT)
    return tmp_path


def snakemake(folder: Path, *arguments: str, mirror: str = "") -> tuple[bool, str]:
    """Ask for the record of the file; return whether it was made, and what was printed."""
    command = [sys.executable, "-m", "snakemake", "--cores", "1", SIDECAR, *arguments]
    environment = {**clean_environment(folder), "ANALOGYQA_MIRROR": mirror}
    done = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
    return done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "mirror"), [((), "mirror"), (("--config", "mirrors=['mirror']"), "")]
)
def test_a_source_comes_from_a_mirror_which_may_then_change_or_vanish(folder, arguments, mirror):
    made, output = snakemake(folder, *arguments, mirror=mirror)
    assert made, output
    assert (folder / FILE).read_bytes() == CONTENT
    assert json.loads((folder / SIDECAR).read_bytes())["origin"] == "mirror"
    assert (folder / "results/logs/fetch_source/data/file.txt.log").exists()
    (folder / "mirror/data/file.txt").write_bytes(b"newer")
    for mirror in ("mirror", "elsewhere"):
        assert "Nothing to be done" in snakemake(folder, "--dry-run", mirror=mirror)[1]


def test_deleting_all_output_keeps_files_of_the_user_and_no_download(folder):
    assert snakemake(folder, mirror="mirror")[0]
    snakemake(folder, "--delete-all-output")
    assert not (folder / FILE).exists()
    (folder / FILE).write_bytes(CONTENT)
    assert snakemake(folder)[0]
    snakemake(folder, "--delete-all-output")
    assert (folder / FILE).read_bytes() == CONTENT
    assert not (folder / SIDECAR).exists()
