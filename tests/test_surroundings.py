"""What processes inherit: variables, and streams that are closed, full or of another encoding."""

import getpass
import os
import re
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


PREPARE = "from analogyqa.surroundings import prepare_streams; prepare_streams(); "
# The command line, whose command is replaced by one that prints.
MAIN = PREPARE + "from analogyqa import cli; cli.app = lambda **_: {}; cli.main()"
PRINT = MAIN.format("print('1 difference') or exit(1)")
REFUSE = MAIN.format("(_ for _ in ()).throw(cli.AnalogyQAError('no such folder'))")
OPEN = "import sys; sys.exit(open('/dev/zero').fileno() < 3 or bool(sys.stdin.read()))"
SHOW = "import sys; print('caf\\xe9 \\udce9', file=sys.stdout)"
JOB = """
import sys; from types import SimpleNamespace as Job; from analogyqa.job import job
sys.stderr.write('not shown yet')
with job(Job(log=['/dev/null'], params={}, wildcards=[], rule='fuse_scores')): pass
"""
# Code, redirections of a shell, the exit code, and a pattern for what is written to stderr. Each
# write to /dev/full fails as on a full disk.
STREAMS = {
    "output on a full disk": (PRINT, ">/dev/full", 2, "error: the output cannot be written.*\n"),
    "an error on a full disk": (REFUSE, "2>/dev/full", 2, ""),
    "an error without a stream": (REFUSE, "2>&-", 2, ""),
    "an error without any stream": (REFUSE, "<&- >&- 2>&-", 2, ""),
    "a defect": (MAIN.format("1 / 0"), "", 2, "(?s).*ZeroDivisionError: division by zero\n"),
    # It must not get the number of a closed stream.
    "a file": (PREPARE + OPEN, "<&- >&- 2>&-", 0, ""),
    "a terminal for ASCII": (PREPARE + SHOW, ">&2", 0, r"caf\\xe9 \\udce9\n"),
    "a terminal that is gone": (JOB, ">/dev/full 2>/dev/full", 0, ""),
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams_may_be_closed_full_or_of_another_encoding(name):
    code, redirections, status, message = STREAMS[name]
    variables = {"PYTHONUNBUFFERED": ""}  # buffered, as for a user
    if name == "a terminal for ASCII":
        variables["PYTHONIOENCODING"] = "ascii"
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {redirections}', sys.executable, code],
        env=os.environ | variables, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert done.returncode == status
    assert re.fullmatch(message, done.stderr), done.stderr


def test_a_reader_that_closes_the_pipe_ends_the_command_quietly():
    reader, writer = os.pipe()
    os.close(reader)
    environment = os.environ | {"PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-c", PRINT]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
