"""The citation, the container image and the entry in the workflow catalogue are up to date."""

import re
import tomllib
from pathlib import Path

from analogyqa.files import read_yaml

ROOT = Path(__file__).parents[1]


def test_the_citation_names_this_version_and_every_paper():
    citation = read_yaml(ROOT / "CITATION.cff")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for key in ("version", "license"):
        assert citation[key] == project[key]
    citations = [read_yaml(path)["citation"] for path in ROOT.glob("papers/*/paper.yaml")]
    cited = [
        (reference["title"], str(reference["year"]), reference["authors"][0]["family-names"])
        for reference in citation["references"]
    ]
    external = [text for text in citations if not text.startswith("Ours")]
    assert len(external) == len(cited)
    for text in external:
        assert any(all(part in text for part in parts) for parts in cited), text


def test_the_image_copies_existing_files_and_installs_the_packages_of_ci():
    text = (ROOT / "Dockerfile").read_text("utf-8")
    copied = [name for line in re.findall(r"(?m)^COPY (.+) \S+$", text) for name in line.split()]
    assert {"requirements.lock", "envs", "."} <= {*copied}
    assert [name for name in copied if not (ROOT / name).exists()] == []
    # Debian's packages that .ci/run installs before it does the same.
    packages = re.search(r"for tool in (.+?); do", (ROOT / ".ci/run").read_text("utf-8"))[1]
    assert f"--no-install-recommends {packages} \\" in text
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert {".git", ".venv", "results", "resources"} <= {*ignored}


def test_the_repository_has_the_files_of_the_workflow_catalogue():
    """https://snakemake.github.io/snakemake-workflow-catalog/docs/about/adding_workflows.html"""
    assert (ROOT / "config" / "README.md").is_file()
    assert "usage" in read_yaml(ROOT / ".snakemake-workflow-catalog.yml")
