"""The checkout may lie anywhere."""

import subprocess
import sys

import pytest

from workflow.project import clean_environment, copy_checkout

pytestmark = pytest.mark.slow

NAMES = ["two words", 'it\'s a "häuschen"\non two lines; $HOME & #1%20']
TABLE = "results/demo/tables/diallo2019/table2.md"
RUN = "results/demo/runs/random/wikiqa/who/p0/run.json"


@pytest.mark.parametrize("name", NAMES)
def test_a_checkout_of_any_name_makes_a_table_and_a_run(tmp_path, name):
    checkout = copy_checkout(tmp_path / name)
    # The targets come first: behind --config they would be taken for its values.
    command = [sys.executable, "-m", "snakemake", "--cores", "2", TABLE, RUN]
    done = subprocess.run(
        [*command, "--config", "seeds=1"],
        cwd=checkout,
        env=clean_environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| Who " in (checkout / TABLE).read_text()
    assert (checkout / RUN).is_file()
