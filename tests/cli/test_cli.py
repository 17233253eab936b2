"""The command line."""

import inspect
import json

import pytest
from typer.testing import CliRunner

from analogyqa import cli
from analogyqa.errors import AnalogyQAError

COMMANDS = [command.name or command.callback.__name__ for command in cli.app.registered_commands]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example_that_can_be_parsed(command):
    shown = CliRunner().invoke(cli.app, [command, "--help"])
    assert shown.exit_code == 0
    (registered,) = (
        each
        for each in cli.app.registered_commands
        if command in (each.name, each.callback.__name__)
    )
    example = inspect.getdoc(registered.callback).partition("Example: `")[2].partition("`")[0]
    program, name, *arguments = example.split()
    assert (program, name) == ("analogyqa", command)
    # The parser accepts the arguments; `--help` then ends the command.
    assert CliRunner().invoke(cli.app, [name, *arguments, "--help"]).exit_code == 0


@pytest.mark.parametrize("arguments", [["why", "table4"], ["verify"]])
def test_a_folder_without_results_is_an_error_of_one_line(tmp_path, monkeypatch, capsys, arguments):
    folder = ["--results", "none"] if arguments[0] == "why" else ["none"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["analogyqa", *arguments, *folder])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("error: none: there is no such folder")


def test_a_damaged_configuration_is_named(tmp_path):
    (tmp_path / "configuration.json").write_text(json.dumps({"values": {}}))
    with pytest.raises(AnalogyQAError, match=r"configuration\.json: cannot be read"):
        cli.verify(tmp_path)
