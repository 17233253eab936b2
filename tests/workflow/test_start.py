"""How Snakemake starts: errors of a configuration, and its own settings."""

import re
import sys

import pytest

from analogyqa.report.stored import read_configuration
from builders.projects import SYSTEMS

pytestmark = [pytest.mark.workflow, pytest.mark.draw]


def test_every_wrong_key_of_a_configuration_is_named_and_nothing_is_made(project):
    project.configure(trainign={}, training={"dropout": 1.5})
    done = project.run()
    assert done.returncode != 0
    assert "config.yaml: unknown key trainign; did you mean training?" in done.stdout
    assert "config.yaml: training.dropout: 1.5 is not allowed" in done.stdout
    assert "Traceback" not in done.stdout
    assert not project.results.exists()


def test_a_deleted_configuration_json_is_written_again_without_a_job(project):
    (project.results / "runs").mkdir(parents=True)
    done = project.run("--dry-run")
    assert done.returncode == 0, done.stdout
    assert read_configuration(project.results)[0].output_dir == "results"


def test_the_ranker_of_a_later_file_has_no_options_of_an_earlier_one(project):
    ranker = {"name": "analogy", "aggregate": "mean"}
    late = {"title": "L", "encoder": "mean", "vectors": "fasttext", "ranker": ranker}
    project.configure(systems=SYSTEMS | {"late": late})
    (project.folder / "over.yaml").write_text("systems: {late: {ranker: {name: cosine}}}")
    target = "results/runs/late/wikiqa/who/default/scores.parquet"
    done = project.run(target, "--dry-run", "--configfile", "config.yaml", "over.yaml")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("options", "limit"), [([], sys.maxsize), (["--max-jobs-per-timespan", "50/1s"], 50)]
)
def test_jobs_are_limited_only_if_the_user_asks_for_it(project, options, limit):
    done = project.run("results/corpora/wikiqa.parquet", "--verbose", *options)
    assert done.returncode == 0, done.stdout
    *_, last = re.findall("Resources after job selection: .*'_job_count': ([0-9]+)", done.stdout)
    assert int(last) == limit
