"""The lock file, the dependencies and the conda environments agree, and `make` installs them."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from builders.pages import texts_of
from builders.projects import repository_files

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NEEDED = PROJECT["project"]["dependencies"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lines: list[str]) -> dict[str, str]:
    """Return the version of each package; every line must pin one."""
    return {normal(name): version for name, version in (line.split("==") for line in lines)}


def pip_lines(environment: str) -> list[str]:
    """Return the requirements of an environment for pip, without options."""
    values = yaml.safe_load((ROOT / f"envs/{environment}.yaml").read_text("utf-8"))
    pip = next(entry["pip"] for entry in values["dependencies"] if isinstance(entry, dict))
    return [line for line in pip if not line.startswith("-")]


LINES = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
LOCK = pins([line for line in LINES if not line.startswith("#")])


@pytest.mark.parametrize("dependency", NEEDED + PROJECT["dependency-groups"]["dev"])
def test_the_lock_satisfies_every_dependency(dependency):
    requirement = Requirement(dependency)
    assert LOCK[normal(requirement.name)] in requirement.specifier


@pytest.mark.parametrize("environment", ["cpu", "gpu"])
def test_a_conda_environment_has_the_pins_of_the_lock(environment):
    pinned = pins([line.removesuffix("+cpu") for line in pip_lines(environment)])
    needed = [normal(Requirement(dependency).name) for dependency in NEEDED]
    assert pinned == {name: LOCK[name] for name in needed}


def test_only_the_environment_for_training_has_cuda():
    assert f"torch=={LOCK['torch']}+cpu" in pip_lines("cpu")
    assert f"torch=={LOCK['torch']}" in pip_lines("gpu")
    rules = "\n".join(file.read_text("utf-8") for file in (ROOT / "rules").glob("*.smk"))
    environments = re.findall(
        r"^rule (\w+):(?:(?!^rule ).)*?envs/(\w+)\.yaml", rules, re.MULTILINE | re.DOTALL
    )
    gpu_rules = {rule for rule, environment in environments if environment == "gpu"}
    assert gpu_rules == {"train_encoder", "train_infersent", "measure_costs"}


# The set-up that `make` runs before each target, on a machine with fake Pythons.

FAKE_PYTHON = """\
#!/bin/sh
# It has the version $0.version says; without that file it fails, as a shim of pyenv does.
version=$(cat "$0.version") || exit 127
made=.venv/bin/python
case "$1 $2" in
  *ensurepip*) [ "$version" != 3.10 ] && [ "$version" != 3.14 ] ;;
  *version_info*|*base_prefix*) echo "$version" ;;
  "-m venv") mkdir -p .venv/bin; cp "$0" $made; cp "$0.version" $made.version ;;
  "-m pip") echo "$version: $*" >> pip.log ;;
esac
"""


class Machine:
    """A checkout on a machine with only the Pythons that a test adds."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "bin"
        self.venv = folder / ".venv"
        self.bin.mkdir()
        for tool in ("cat", "cksum", "cp", "grep", "mkdir", "rm", "sh"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        shutil.copytree(ROOT / "envs", folder / "envs")
        for name in ("requirements.lock", "pyproject.toml"):
            shutil.copyfile(ROOT / name, folder / name)

    def add(self, path: str, version: str | None) -> None:
        python = self.folder / path
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text(FAKE_PYTHON)
        python.chmod(0o755)
        if version:
            python.with_name(f"{python.name}.version").write_text(version)

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess:
        home = {"PATH": str(self.bin), "HOME": str(self.folder), "TORCH_INDEX": ""} | variables
        command = ["sh", f"envs/{script}.sh"]
        return subprocess.run(command, cwd=self.folder, env=home, text=True, capture_output=True)

    def install(self, **variables: str) -> tuple[int, str]:
        """Install; return how often the lock was installed, and the version of the environment."""
        log = self.folder / "pip.log"
        log.write_text("")
        assert self.run("install", **variables).returncode == 0
        version = (self.venv / "bin/python.version").read_text()
        return log.read_text().count("--requirement"), version


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path)
    machine.add("bin/python3.12", "3.12")
    return machine


def test_the_newest_supported_python_that_works_is_used(machine):
    machine.add("bin/python3.13", None)  # a shim of pyenv for a version that is not selected
    machine.add("bin/python3", "3.14")
    assert machine.run("find_python").stdout == "python3.12\n"


def test_a_python_that_is_not_supported_is_refused_before_anything_is_made(machine):
    machine.add("bin/python3.10", "3.10")
    done = machine.run("install", PYTHON="python3.10")
    assert done.returncode == 1
    assert "python3.10 (3.10)" in done.stderr
    assert not machine.venv.exists()


def test_the_environment_is_installed_once_and_again_for_another_python_or_lock(machine):
    assert machine.install() == (1, "3.12")
    machine.add("bin/python3.13", "3.13")  # the environment that works is kept
    assert machine.install() == (0, "3.12")
    assert machine.install(PYTHON="python3.13") == (1, "3.13")
    assert machine.install() == (0, "3.13")
    with open(machine.folder / "requirements.lock", "a") as file:
        file.write("one-more==1.0\n")
    assert machine.install() == (1, "3.13")


@pytest.mark.parametrize("old_version", [None, "3.10"], ids=["a python that is gone", "3.10"])
def test_an_environment_that_cannot_be_used_is_replaced(machine, old_version):
    machine.add(".venv/bin/python", old_version)
    assert machine.install() == (1, "3.12")


def test_an_error_names_a_cache_that_cannot_be_made_and_the_remedy(machine):
    home = str(machine.bin / "sh")  # not even root can make a folder there
    done = machine.run("install", HOME=home)
    assert done.returncode == 1
    assert f"{home}/.cache" in done.stderr and "XDG_CACHE_HOME" in done.stderr
    machine.install(HOME=home, XDG_CACHE_HOME=str(machine.bin))


def test_all_files_name_the_same_versions_of_python():
    supported = SpecifierSet(PROJECT["project"]["requires-python"])
    versions = [f"3.{minor}" for minor in range(20) if f"3.{minor}" in supported]
    script = (ROOT / "envs/find_python.sh").read_text("utf-8")
    assert re.findall(r"python(3\.\d+)", script.partition("PYTHON:-")[2])[:3] == versions[::-1]
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == versions
    classifiers = [name.rpartition(" ")[2] for name in PROJECT["project"]["classifiers"]]
    assert classifiers == versions


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    done = subprocess.run([*command, folder, ROOT], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.mark.slow
@pytest.mark.draw
def test_a_wheel_has_the_library_the_systems_of_the_papers_and_the_sample(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    carried = (
        (re.compile("workflow_scripts/((?:snakemake_logger_plugin_)?analogyqa/.*)"), r"\1"),
        (re.compile("papers/(.*)/config.yaml"), r"analogyqa/papers/\1/config.yaml"),
        (re.compile("sample/wikiqa/(.*)"), r"analogyqa/sample/\1"),
    )
    tracked = [(name, *entry) for name in repository_files() for entry in carried]
    assert names == {
        pattern.sub(place, name) for name, pattern, place in tracked if pattern.fullmatch(name)
    }


@pytest.mark.slow
@pytest.mark.draw
def test_the_notebook_runs_with_an_installed_wheel_in_an_empty_folder(wheel, tmp_path):
    venv, empty = tmp_path / "venv", tmp_path / "empty"
    empty.mkdir()
    subprocess.check_call([sys.executable, "-m", "venv", "--without-pip", venv])
    python = venv / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.check_call([sys.executable, "-m", "pip", "--python", python, *install])
    # The dependencies are those of this environment. Its editable library is not read: a path in a
    # .pth file has no .pth files of its own.
    (packages,) = venv.glob("lib/*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    cells = texts_of("{code-cell}", [ROOT / "docs" / "python.md"])
    assert len(cells) == 10
    checks = """
import analogyqa
print(analogyqa.__file__)
print(model.rank(question, answers)["candidate"][0])
print(model.evaluate().loc["mrr", "test"] > 0.6, list(ranked["system"])[0])
"""
    code = "\n".join([*cells, checks])
    environment = os.environ | {"MPLBACKEND": "agg"}
    command = [python, "-I", "-c", code]
    printed = subprocess.check_output(command, cwd=empty, text=True, env=environment)
    library = packages / "analogyqa" / "__init__.py"
    assert printed.splitlines() == [
        str(library), "Rembrandt painted it in Leiden.", "True analogy"
    ]  # fmt: skip
    assert [*empty.iterdir()] == []


@pytest.mark.slow
def test_a_wheel_compares_systems_without_a_checkout(wheel, tmp_path):
    shutil.unpack_archive(wheel, tmp_path / "installed", "zip")
    (tmp_path / "empty").mkdir()
    code = "import sys; sys.path.insert(0, '../installed'); from analogyqa import cli; cli.main()"

    def run(*arguments: str) -> str:
        command = [sys.executable, "-I", "-c", code, *arguments]
        return subprocess.check_output(command, cwd=tmp_path / "empty", text=True)

    for name, score in (("a.run", 1), ("b.run", -1)):
        lines = (f"q{q} Q0 {answer} 1 {score * answer} x\n" for q in range(9) for answer in (0, 1))
        (tmp_path / name).write_text("".join(lines))
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 1 1\n" for q in range(9)))
    table = (
        f"{name},q{q},0,{q * value}\n" for q in range(9) for name, value in (("a", 1), ("b", 2))
    )
    (tmp_path / "scores.csv").write_text("system,item,seed,value\n" + "".join(table))
    assert "map: a 1.000, b 0.500" in run("compare", "../a.run", "../b.run", "--qrels", "../qrels")
    places = json.loads(run("leaderboard", "../scores.csv", "--json"))
    assert [(place["system"], place["mean"]) for place in places] == [("b", 8), ("a", 4)]
