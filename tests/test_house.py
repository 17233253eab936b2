"""The packages of the library have one order, that of the data, and files are small."""

import ast
import re
from pathlib import Path

import yaml

from analogyqa.corpora.specs import READERS
from analogyqa.measures import MEASURES, RANKED
from analogyqa.runs.depends_on import imported_names, run_time_nodes
from analogyqa.settings.systems import Training

LIBRARY = Path(__file__).parents[1] / "workflow_scripts" / "analogyqa"
LONGEST = 350  # lines of a file
PAPERS = LIBRARY.parents[1] / "papers"

# A package imports only what stands before it. CONTRIBUTING.md says what each is for. The
# specifications of plug-ins are the modules `specs` of several packages.
PACKAGES = (
    *("errors", "text", "memory", "files", "folders", "schemas", "plugin"),
    *("settings.base", "settings.options", "specs", "measures"),
    *("settings", "sources", "corpora", "vectors", "analogies", "rewriting", "encoders"),
    *("pretrained", "rankers", "objectives", "tasks", "plan", "availability", "examples"),
    *("training", "runs", "experiments", "report", "tracking", "planning", "job"),
)


def package_of(path: Path) -> str:
    return package_of_module(".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts))


def package_of_module(name: str) -> str:
    parts = name.split(".")
    module = ".".join(parts[1:3])
    return "specs" if "specs" in parts else module if module in PACKAGES else parts[1]


def files() -> list[Path]:
    return [path for path in sorted(LIBRARY.rglob("*.py")) if path.parent != LIBRARY
            or path.name != "__init__.py"]  # fmt: skip


def test_every_package_has_its_place():
    assert {package_of(path) for path in files()} == set(PACKAGES)


def test_an_import_goes_to_a_package_that_stands_before():
    backwards = [
        f"{path.relative_to(LIBRARY)} imports {name}"
        for path in files()
        for node in run_time_nodes(ast.parse(path.read_bytes()))
        for name in imported_names(node)
        if "." in name
        and PACKAGES.index(package_of_module(name)) > PACKAGES.index(package_of(path))
    ]
    assert backwards == []


def test_the_library_knows_nothing_of_snakemake_and_of_the_scripts():
    outside = re.compile(r"(?m)^\s*(?:from|import) (snakemake|slurm_patience)\b")
    assert outside.search("import snakemake\n")
    assert [path.name for path in files() if outside.search(path.read_text("utf-8"))] == []


def test_a_script_imports_no_module_beside_it():
    """One of the same name on PYTHONPATH, such as a user's job.py, would be taken for it."""
    scripts = [*LIBRARY.parent.glob("*.py")]
    imports = {
        (script.name, name.partition(".")[0])
        for script in scripts
        for node in ast.walk(ast.parse(script.read_bytes()))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert ("train_encoder.py", "analogyqa") in imports
    assert not {name for _, name in imports} & {script.stem for script in scripts}


def test_a_file_has_one_subject():
    too_long = {
        str(path.relative_to(LIBRARY)): count
        for path in files()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST
    }
    assert too_long == {}


def test_no_name_of_a_paper_a_subset_or_a_measure_stands_in_the_code():
    """But for where they are said: the measures themselves, and the defaults of a training."""
    papers = [folder.name for folder in (LIBRARY.parents[1] / "papers").iterdir()]
    config = yaml.safe_load((LIBRARY.parents[1] / "papers/diallo2019/config.yaml").read_bytes())
    # `where` is a word of ours as well: the place of a number.
    subsets = {*config["subsets"], *config["question_types"], *config["datasets"]} - {"where"}
    assert {"who", "comb", "trecqa"} < subsets
    names = {*papers, *subsets, *MEASURES} - {*READERS}
    said = {
        (str(path.relative_to(LIBRARY)), node.value)
        for path in files()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant) and node.value in names
    }
    of_measures = {("measures.py", name) for name in RANKED}
    assert said == of_measures | {("settings/systems.py", Training().select_by)}


def test_only_a_ranker_asks_which_ranker_there_is():
    asked = re.compile(r"ranker (==|!=|in) ")
    assert asked.search('if system.ranker == "cosine":')
    places = [path for path in files() if asked.search(path.read_text("utf-8"))]
    assert [path for path in places if package_of(path) != "rankers"] == []


def test_no_title_has_a_comma():
    """Titles are joined by commas in footers, in captions and in MLflow."""
    found = [
        f"{path.parent.name}: {title}"
        for path in PAPERS.glob("*/*.yaml")
        for title in titles(yaml.safe_load(path.read_text(encoding="utf-8")))
        if "," in title
    ]
    assert found == []


def titles(values: object) -> list[str]:
    """Return every title below a section."""
    if not isinstance(values, dict):
        return []
    below = [title for value in values.values() for title in titles(value)]
    return below + ([values["title"]] if isinstance(values.get("title"), str) else [])
