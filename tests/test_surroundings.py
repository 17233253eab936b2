"""What processes inherit: variables, and streams that are closed, full or of another encoding."""

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


FULL = "/dev/full"  # each write to it fails as on a full disk


@pytest.fixture
def run():
    """Run Python code in a shell that redirects its streams; return the exit code and stderr."""

    def in_shell(code: str, redirections: str, **variables: str) -> tuple[int, str]:
        command = f'exec "$0" -c "$1" {redirections}'
        done = subprocess.run(
            ["sh", "-c", command, sys.executable, code],
            env=os.environ | {"PYTHONUNBUFFERED": ""} | variables,  # buffered, as for a user
            stderr=subprocess.PIPE,
            text=True,
        )
        return done.returncode, done.stderr

    return in_shell


PREPARE = "from analogyqa.surroundings import prepare_streams; prepare_streams(); "
# The command line, whose command is replaced by one that prints.
MAIN = PREPARE + "from analogyqa import cli; cli.app = lambda **_: {}; cli.main()"


def test_output_that_cannot_be_written_is_an_error_and_not_a_failed_check(run):
    code, message = run(MAIN.format("print('1 difference') or exit(1)"), f">{FULL}")
    assert code == 2 and message.startswith("error: the output cannot be written")
    assert message.count("\n") == 1


def test_a_reader_that_closes_the_pipe_ends_the_command_quietly():
    reader, writer = os.pipe()
    os.close(reader)
    code = MAIN.format("print('1 difference') or exit(1)")
    command = [sys.executable, "-c", code]
    environment = os.environ | {"PYTHONUNBUFFERED": ""}
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("redirections", [f"2>{FULL}", "2>&-", "<&- >&- 2>&-"])
def test_an_error_that_nobody_can_read_has_its_exit_code(run, redirections):
    code = MAIN.format("(_ for _ in ()).throw(cli.AnalogyQAError('no such folder'))")
    assert run(code, redirections)[0] == 2


def test_a_defect_is_not_a_failed_check(run):
    code, message = run(MAIN.format("1 / 0"), "")
    assert code == 2 and message.endswith("ZeroDivisionError: division by zero\n")


def test_a_file_does_not_get_the_number_of_a_closed_stream(run):
    check = "import sys; sys.exit(open('/dev/zero').fileno() < 3 or bool(sys.stdin.read()))"
    assert run(PREPARE + check, "<&- >&- 2>&-")[0] == 0


def test_characters_that_a_terminal_cannot_show_are_escaped(run):
    show = "import sys; print('caf\\xe9 \\udce9', file=sys.stdout)"
    assert run(PREPARE + show, ">&2", PYTHONIOENCODING="ascii") == (0, "caf\\xe9 \\udce9\n")


def test_a_terminal_that_is_gone_does_not_fail_a_job(run):
    code = (
        "import sys; from types import SimpleNamespace as Job; from analogyqa.job import job\n"
        "sys.stderr.write('not shown yet')\n"
        "with job(Job(log=['/dev/null'], params={}, wildcards=[], rule='fuse_scores')): pass"
    )
    assert run(code, f">{FULL} 2>{FULL}") == (0, "")
