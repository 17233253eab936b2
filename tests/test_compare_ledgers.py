"""The script that holds two ledgers against each other sees every digit."""

import pytest
import typer
from typer.testing import CliRunner

from real_data import compare_ledgers

HEADER = "paper,artefact,row,column,metric,hyperparameters,published,mean,sd,n_seeds\n"
ROWS = ["p,table4,Who,MRR,mrr,paper,.6,0.512345,0.01,2", "p,table4,When,MRR,mrr,paper,.6,,,2"]


@pytest.fixture
def compare(tmp_path):
    """Return what the script prints and its exit status, for the rows of a second ledger."""
    app = typer.Typer()
    app.command()(compare_ledgers.main)

    def compare(rows, declared=None):
        (tmp_path / "a.csv").write_text("# of a commit\n" + HEADER + "\n".join(ROWS) + "\n")
        (tmp_path / "b.csv").write_text(HEADER + "\n".join(rows) + "\n")
        options = []
        if declared is not None:
            (tmp_path / "d.yaml").write_text(declared)
            options = ["--declared", str(tmp_path / "d.yaml")]
        done = CliRunner().invoke(app, [str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), *options])
        return done.output.splitlines(), done.exit_code

    return compare


def test_the_same_numbers_in_another_order_are_equal(compare):
    assert compare(ROWS[::-1]) == (["equal"], 0)


def test_a_digit_that_differs_is_printed_and_fails_unless_it_is_declared(compare):
    rows = [ROWS[0].replace("0.512345", "0.512346"), ROWS[1]]
    changed = "p/table4/Who/MRR/paper: mean 0.512345 -> 0.512346, sd 0.01 -> 0.01 "
    equal = "1 of 2 numbers are equal"
    assert compare(rows) == ([f"{changed}(NOT DECLARED)", equal], 1)
    declared = "p/table4/Who/MRR/paper: the loss is read otherwise\n"
    assert compare(rows, declared) == ([f"{changed}(the loss is read otherwise)", equal], 0)


@pytest.mark.parametrize("rows", [ROWS[:1], [*ROWS, ROWS[0].replace("Who", "Where")]])
def test_a_number_that_is_gone_or_new_fails(compare, rows):
    lines, status = compare(rows)
    assert ("absent" in lines[0], status) == (True, 1)
