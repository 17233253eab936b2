"""The lock file, the dependencies and the conda environment say the same."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DEPENDENCIES = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lines: list[str]) -> dict[str, str]:
    """Package to version; every line must pin one."""
    parts = [line.split("==") for line in lines]
    assert all(len(part) == 2 for part in parts), lines
    return {normal(name): version for name, version in parts}


LOCK = pins(
    [
        line
        for line in (ROOT / "requirements.lock").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
)


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_the_lock_satisfies_every_dependency(dependency):
    requirement = Requirement(dependency)
    assert LOCK[normal(requirement.name)] in requirement.specifier


def test_the_conda_environment_pins_what_the_lock_pins():
    environment = yaml.safe_load((ROOT / "envs/cpu.yaml").read_text("utf-8"))
    pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    pinned = pins(pip)
    assert pinned == {name: LOCK[name] for name in pinned}
    needed = {normal(Requirement(name).name) for name in PROJECT["project"]["dependencies"]}
    assert set(pinned) == needed
