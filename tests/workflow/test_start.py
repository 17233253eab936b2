"""How Snakemake starts, and how bad input ends: in one message that names the place."""

import re
import resource
import sys

import pytest

from analogyqa.report.stored import read_configuration
from builders.projects import SYSTEMS, copy_checkout

pytestmark = pytest.mark.workflow

CORPUS = "results/corpora/wikiqa.parquet"


def assert_one_message(done, *parts):
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stdout
    assert [part for part in parts if part not in done.stdout] == [], done.stdout


@pytest.mark.draw
def test_every_wrong_key_of_a_configuration_is_named_and_nothing_is_made(project):
    project.configure(trainign={}, training={"dropout": 1.5})
    unknown = "config.yaml: unknown key trainign; did you mean training?"
    assert_one_message(project.run(), unknown, "config.yaml: training.dropout: 1.5 is not allowed")
    assert not project.results.exists()


def test_a_broken_configuration_of_the_checkout_is_named(project, tmp_path):
    checkout = copy_checkout(tmp_path / "checkout")
    (checkout / "config.yaml").write_text("a: [1\n")
    done = project.run("--snakefile", str(checkout / "Snakefile"))
    assert_one_message(done, f"{checkout / 'config.yaml'}: ")


@pytest.mark.draw
def test_a_missing_column_is_named(project):
    file = project.data / "train.tsv"
    file.write_text(file.read_text().replace("Sentence\tLabel", "Text\tLabel", 1))
    done = project.run(CORPUS)
    assert_one_message(done, "Error: ", "data/train.tsv, line 1", "no column Sentence")


@pytest.mark.draw
def test_a_disk_without_space_ends_in_one_message_and_leaves_no_file(project):
    vectors = "results/vectors/wikiqa/fasttext.npy"
    (project.data / "words.vec").write_text("1 20000\nada" + " 1.5" * 20000 + "\n")
    # A limit on the size of files causes the same OSError as a full disk.
    limit = (500_000, 500_000)
    done = project.run(vectors, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert_one_message(done, "Error: ", f"{vectors}: cannot be written", "Free some disk space")
    assert not (project.folder / vectors).exists()


def test_an_output_folder_that_cannot_be_written_is_named(project):
    project.results.write_text("a file where the folder should be")
    assert_one_message(project.run(), "output_dir: 'results' cannot be written", "is a file.")
    assert project.results.read_text() == "a file where the folder should be"


def test_a_deleted_configuration_json_is_written_again_without_a_job(project):
    (project.results / "runs").mkdir(parents=True)
    project.make("--dry-run")
    assert read_configuration(project.results)[0].output_dir == "results"


def test_the_ranker_of_a_later_file_has_no_options_of_an_earlier_one(project):
    ranker = {"name": "analogy", "aggregate": "mean"}
    late = {"title": "L", "encoder": "mean", "vectors": "fasttext", "ranker": ranker}
    project.configure(systems=SYSTEMS | {"late": late})
    (project.folder / "over.yaml").write_text("systems: {late: {ranker: {name: cosine}}}")
    target = "results/runs/late/wikiqa/who/default/scores.parquet"
    project.make(target, "--dry-run", "--configfile", "config.yaml", "over.yaml")


@pytest.mark.parametrize(
    ("options", "limit"), [([], sys.maxsize), (["--max-jobs-per-timespan", "50/1s"], 50)]
)
def test_jobs_are_limited_only_if_the_user_asks_for_it(project, options, limit):
    printed = project.make(CORPUS, "--verbose", *options)
    *_, last = re.findall("Resources after job selection: .*'_job_count': ([0-9]+)", printed)
    assert int(last) == limit
