"""The lock file, the dependencies and the conda environments say the same."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NEEDED = PROJECT["project"]["dependencies"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lines: list[str]) -> dict[str, str]:
    """Package to version; every line must pin one."""
    parts = [line.split("==") for line in lines]
    assert all(len(part) == 2 for part in parts), lines
    return {normal(name): version for name, version in parts}


def pip_of(environment: str) -> list[str]:
    """The lines of an environment for pip, but for its options."""
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
def test_a_conda_environment_pins_what_the_lock_pins(environment):
    pinned = pins([line.removesuffix("+cpu") for line in pip_of(environment)])
    needed = [normal(Requirement(dependency).name) for dependency in NEEDED]
    assert pinned == {name: LOCK[name] for name in needed}


def test_only_the_environment_of_the_trainings_has_cuda():
    assert f"torch=={LOCK['torch']}+cpu" in pip_of("cpu")
    assert f"torch=={LOCK['torch']}" in pip_of("gpu")
    rules = "\n".join(file.read_text("utf-8") for file in (ROOT / "rules").glob("*.smk"))
    of_rules = re.findall(r"^rule (\w+):.*?envs/(\w+)\.yaml", rules, re.MULTILINE | re.DOTALL)
    of_gpu = {rule for rule, environment in of_rules if environment == "gpu"}
    assert of_gpu == {"train_encoder", "train_infersent", "measure_costs"}
