"""The packages of the library have one order, that of the data, and files are small."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from analogyqa.corpora.specs import READERS
from analogyqa.files import read_yaml
from analogyqa.measures import MEASURES, OF_ANALOGIES, OF_SCORES, RANKED
from analogyqa.runs.depends_on import run_time_nodes
from analogyqa.settings.systems import Training
from builders.projects import repository_files

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "workflow_scripts" / "analogyqa"
PAPERS = ROOT / "papers"

# A package imports only packages before it. CONTRIBUTING.md describes each. The
# specifications of plug-ins are the modules `specs` of several packages.
PACKAGES = (
    *("errors", "text", "files", "folders", "surroundings", "arithmetic", "schemas"),
    "plugin",
    *("settings.base", "specs", "measures"),
    *("settings", "sources", "corpora", "vectors", "rewriting", "analogies", "encoders"),
    *("pretrained", "rankers", "objectives", "tasks", "cells"),
    *("training", "runs", "evaluation", "report", "model", "tracking", "planning", "job"),
    *("workflow", "restore", "cli", "__main__"),
)


def package_of(path: Path) -> str:
    return package_of_module(".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts))


def package_of_module(name: str) -> str:
    parts = name.split(".")
    module = ".".join(parts[1:3])
    return "specs" if "specs" in parts else module if module in PACKAGES else parts[1]


def files() -> list[Path]:
    return sorted({*LIBRARY.rglob("*.py")} - {LIBRARY / "__init__.py"})


def test_every_package_is_in_the_order():
    assert {package_of(path) for path in files()} == set(PACKAGES)


def imported_names(node: ast.AST) -> Iterator[str]:
    """Yield the library names in an import statement: modules, or what may be in one."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        names = [node.module, *(f"{node.module}.{name}" for name in names)]
    yield from (name for name in names if name.partition(".")[0] == "analogyqa")


def test_imports_follow_the_order():
    backwards = [
        f"{path.relative_to(LIBRARY)} imports {name}"
        for path in files()
        for node in run_time_nodes(ast.parse(path.read_bytes()))
        for name in imported_names(node)
        if "." in name
        and PACKAGES.index(package_of_module(name)) > PACKAGES.index(package_of(path))
    ]
    assert backwards == []


# Code that the library does not have, an example of it, and the package that may have it.
SNAKEMAKE = r"(?m)^\s*(?:from|import) (snakemake|slurm_patience)\b"
PYPLOT = r"import.* pyplot|matplotlib\.(pyplot|use)\b"
FORBIDDEN = {
    "Snakemake": (SNAKEMAKE, "import snakemake\n", "workflow"),
    # It loads the backend of the user, and importing it could replace that of a notebook. Only
    # `Explanation.plot` wants that.
    "pyplot": (PYPLOT, "from matplotlib import pyplot", "report"),
    "names of rankers": (r"ranker (==|!=|in) ", 'if system.ranker == "cosine":', "rankers"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_the_library_has_no(name):
    pattern, example, allowed = FORBIDDEN[name]
    assert re.search(pattern, example)
    found = [path for path in files() if re.search(pattern, path.read_text("utf-8"))]
    assert [path.name for path in found if package_of(path) != allowed] == []


def test_no_script_imports_another():
    """A module of the same name on PYTHONPATH, such as a user's job.py, would shadow it."""
    scripts = [*LIBRARY.parent.glob("*.py")]
    names = "|".join(script.stem for script in scripts)
    script_import = re.compile(rf"(?m)^\s*(?:from|import) ({names})\b")
    assert script_import.search("import run_script\n")
    assert [script.name for script in scripts if script_import.search(script.read_text())] == []


def test_no_file_is_longer_than_600_lines():
    scripts = [*LIBRARY.parent.glob("*.py"), *ROOT.glob("rules/*.smk"), ROOT / "Snakefile"]
    counts = {path: path.read_bytes().count(b"\n") for path in [*files(), *scripts]}
    assert {path: count for path, count in counts.items() if count > 600} == {}


# Terms that the glossary of CONTRIBUTING.md has replaced, as far as they have no other meaning.
REPLACED = re.compile(
    r"(?i)stand-ins?\b|cross-?fit|cannot tell|one further run|told from|setting: (paper|chosen)"
    r"|\ba training\b(?! (run|step|split|question|pair|set|job|loop))"
)


def test_replaced_terms_are_gone():
    assert REPLACED.search("A training that ends") and not REPLACED.search("a training run")
    suffixes = (".py", ".smk", ".md", ".yaml", ".rst", ".toml", ".sh", ".html", ".css", "Snakefile")
    skipped = ("CHANGELOG.md", "sample/", "tests/test_house.py")
    uses = [
        f"{name}: {match[0]}"
        for name in repository_files()
        if name.endswith(suffixes) and not name.startswith(skipped) and (ROOT / name).is_file()
        for match in REPLACED.finditer((ROOT / name).read_text("utf-8"))
    ]
    assert uses == []


def test_the_code_names_no_paper_subset_or_measure():
    """Except for the definitions of measures, and the default of `select_by`."""
    papers = {folder.name for folder in PAPERS.iterdir()} - {"sample"}  # a folder, too
    config = read_yaml(PAPERS / "diallo2019/config.yaml")
    # `where` is also a key of ours.
    subsets = {*config["subsets"], *config["question_types"], *config["datasets"]} - {"where"}
    assert {"who", "comb", "trecqa"} < subsets
    names = {*papers, *subsets, *MEASURES} - {*READERS}
    uses = {
        (str(path.relative_to(LIBRARY)), node.value)
        for path in files()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant) and node.value in names
    }
    definitions = {("measures.py", name) for name in (*RANKED, *OF_ANALOGIES, *OF_SCORES)}
    assert uses == definitions | {("settings/systems.py", Training().select_by)}


def test_no_title_has_a_comma():
    """Titles are joined by commas in footers, in captions and in MLflow."""
    paper_titles = [title for path in PAPERS.glob("*/*.yaml") for title in titles(read_yaml(path))]
    assert len(paper_titles) > 100 and [title for title in paper_titles if "," in title] == []


def titles(values: object) -> list[str]:
    """Return every title below a section."""
    if not isinstance(values, dict):
        return []
    nested = [title for value in values.values() for title in titles(value)]
    return nested + ([values["title"]] if isinstance(values.get("title"), str) else [])
