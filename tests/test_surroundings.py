"""What was set for other programs reaches neither a command nor its jobs."""

import getpass
import os
import subprocess
import sys
from pathlib import Path

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.surroundings import leave_surroundings, require_cache

ROOT = Path(__file__).parents[1]
LIBRARY = str(ROOT / "workflow_scripts")


@pytest.fixture(autouse=True)
def own_copy(monkeypatch):
    """Let a test change the environment and the import path."""
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_only_the_own_folders_of_the_import_path_stay(tmp_path):
    own, site = [LIBRARY], [path for path in sys.path if path.startswith(sys.prefix)]
    foreign = [str(tmp_path), str(tmp_path / "gone"), ""]
    os.environ["PYTHONPATH"] = os.pathsep.join([*foreign, *own, *site])
    sys.path[:] = [*foreign[:2], *own, *site]
    leave_surroundings()
    assert sys.path == [*own, *site]
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [*own, *site]


def test_a_path_that_is_all_foreign_is_not_inherited(tmp_path):
    os.environ |= {"PYTHONPATH": str(tmp_path), "PYTHONHOME": "/", "MPLBACKEND": "module://none"}
    leave_surroundings()
    assert {"PYTHONPATH", "PYTHONHOME", "MPLBACKEND"}.isdisjoint(os.environ)


@pytest.mark.parametrize("error", [KeyError, OSError])  # of Python 3.11 and 3.13
def test_a_user_without_a_passwd_entry_gets_a_name_and_a_home(monkeypatch, error):
    def no_name():
        raise error("uid not found")

    os.environ.pop("HOME")
    monkeypatch.setattr(getpass, "getuser", no_name)
    monkeypatch.setattr(os.path, "expanduser", str)  # it finds no home
    leave_surroundings()
    assert (os.environ["LOGNAME"], os.environ["HOME"]) == (str(os.getuid()), "/")


def test_a_folder_for_caches_that_cannot_be_made_is_named(tmp_path):
    os.environ["XDG_CACHE_HOME"] = str(tmp_path)
    require_cache()
    (tmp_path / "file").touch()
    os.environ["XDG_CACHE_HOME"] = str(tmp_path / "file")
    with pytest.raises(AnalogyQAError, match=r"XDG_CACHE_HOME.*file is a file"):
        require_cache()


def test_a_command_runs_in_foreign_surroundings(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('of another Python')")
    foreign = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{LIBRARY}", "MPLBACKEND": "module://none"}
    command = [sys.executable, "-m", "analogyqa", "explain", "--help"]
    done = subprocess.run(command, env=os.environ | foreign, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_make_inherits_no_settings_for_other_installations():
    foreign = dict.fromkeys(("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET"), "/foreign")
    show = f"show: ; @echo [{''.join(f'$${name}' for name in foreign)}]"
    command = ["make", "--silent", "-C", ROOT, "--eval", show, "show"]
    done = subprocess.run(command, env=os.environ | foreign, capture_output=True, text=True)
    assert "[]" in done.stdout.splitlines()
