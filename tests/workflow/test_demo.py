"""The examples in the help of the commands work on the demo, and its numbers are explained."""

import inspect
import shlex
from contextlib import suppress

import pytest

from analogyqa.cli import app
from analogyqa.report.stored import read_configuration
from analogyqa.report.trace import find_number, origin, shown_numbers
from builders.projects import run_program

pytestmark = pytest.mark.workflow

EXAMPLES = {
    command.name or command.callback.__name__: inspect.getdoc(command.callback)
    .partition("Example: `")[2]
    .partition("`")[0]
    for command in app.registered_commands
}
# It starts a server; tests/tracking/test_store.py does that.
del EXAMPLES["ui"]


# test_commands_of_pages.py draws most of the other commands.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.draw] * (name == "explain")) for name in EXAMPLES],
)
def test_the_example_of_a_command_runs(demo, name):
    with suppress(FileExistsError):
        (demo / "results" / "three").symlink_to("demo")  # which the example of `compare` names
    text = "Renzo Piano drew the plans.\nIt is in London.\n"
    assert run_program(*shlex.split(EXAMPLES[name]), checkout=demo, input=text)


@pytest.mark.draw
def test_every_filled_number_of_the_demo_is_found_by_its_names_and_explained(demo, monkeypatch):
    monkeypatch.chdir(demo)
    results = "results/demo"
    config, papers, command = read_configuration(results)
    explained = 0
    for paper in papers.values():
        for name in paper.artefacts:
            for number in shown_numbers(results, paper, name, config):
                words = [name, paper.paper, *number.names]
                assert find_number(results, config, papers, words).label == number.label
                if number.cell:
                    facts = origin(results, number, config, command)
                    assert facts["inputs"] and facts["log"], number.label
                    explained += 1
    assert explained > 60
