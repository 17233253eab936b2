"""Bad input ends in one message that names the place."""

import resource

import pytest
import torch

from builders.projects import copy_checkout

pytestmark = pytest.mark.workflow

CORPUS = "results/corpora/wikiqa.parquet"
VECTORS = "results/vectors/wikiqa/fasttext.npy"
RUN = "results/runs/similarity/wikiqa/who/default/scores.parquet"


def test_a_config_file_that_is_no_mapping_is_named(project, tmp_path):
    checkout = copy_checkout(tmp_path / "checkout")
    for content in ("", "- a\n", "a: [1\n"):
        (checkout / "config.yaml").write_text(content)
        done = project.run("--snakefile", str(checkout / "Snakefile"), RUN)
        assert done.returncode != 0
        assert f"{checkout / 'config.yaml'}: " in done.stdout
        assert "Traceback" not in done.stdout


def missing_column(project):
    file = project.data / "train.tsv"
    text = file.read_text()
    assert "Sentence\tLabel" in text
    file.write_text(text.replace("Sentence\tLabel", "Text\tLabel", 1))


def cuda(project):
    (project.folder / RUN).unlink()
    project.configure(device="cuda")


# A function that damages the project, the target, and parts of the message.
DAMAGED = {
    "missing column": (missing_column, CORPUS, ["data/train.tsv, line 1", "no column Sentence"]),
    "cuda without a GPU": (cuda, RUN, ["device: cuda is requested", "set device: auto"]),
}


def check_failed(done, parts):
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    assert [part for part in parts if part not in done.stdout] == [], done.stdout
    assert done.stdout.count("Error: ") == 1, done.stdout


@pytest.mark.draw
@pytest.mark.parametrize("case", DAMAGED)
def test_damage_ends_in_one_message(finished, tmp_path, case):
    if case == "cuda without a GPU" and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    damage, target, parts = DAMAGED[case]
    project = finished.copy_to(tmp_path / "project")
    damage(project)
    check_failed(project.run(target), parts)


def test_a_disk_without_space_ends_in_one_message_and_leaves_no_file(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    (project.data / "words.vec").write_text("1 20000\nada" + " 1.5" * 20000 + "\n")
    # A limit on the size of files causes the same OSError as a full disk.
    limit = (500_000, 500_000)
    done = project.run(VECTORS, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    check_failed(done, [f"{VECTORS}: cannot be written", "Free some disk space"])
    assert not (project.folder / VECTORS).exists()


def test_an_output_folder_that_cannot_be_written_is_named(project):
    (project.folder / "results").write_text("a file where the folder should be")
    check_failed(project.run(RUN), ["output_dir: 'results' cannot be written", "is a file."])
    assert (project.folder / "results").read_text() == "a file where the folder should be"
