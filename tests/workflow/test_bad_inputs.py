"""Bad input ends in one message that names the place, and leaves earlier results as they were."""

import gzip
import resource

import pytest
import torch

from workflow.project import VECTORS as WORD_VECTORS
from workflow.project import copy_checkout

pytestmark = pytest.mark.workflow

CORPUS = "results/corpora/wikiqa.parquet"
VECTORS = "results/vectors/wikiqa/fasttext.npy"
PROTOTYPES = "results/prototypes/wikiqa/who/seed0.parquet"
RUN = "results/runs/similarity/wikiqa/who/default/scores.parquet"


def dataset(**changes):
    files = {split: f"data/{split}.tsv" for split in ("train", "dev", "test")}
    wikiqa = {"title": "Tiny", **files, "questions": None, **changes}
    return {"wikiqa": wikiqa, "trecqa": None}


def vectors(**fasttext):
    return WORD_VECTORS | {"fasttext": fasttext}


def test_a_config_file_that_is_no_mapping_is_named(project, tmp_path):
    checkout = copy_checkout(tmp_path / "checkout")
    for content in ("", "- a\n", "a: [1\n"):
        (checkout / "config.yaml").write_text(content)
        done = project.run("--snakefile", str(checkout / "Snakefile"), RUN)
        assert done.returncode != 0
        assert f"{checkout / 'config.yaml'}: " in done.stdout
        assert "Traceback" not in done.stdout


OPENED = "<QApairs id='7'>\n<question>\nWho\t?\n</question>\n"
# Each: the damaged file made of the text of a good one, its suffix, the parts of the message. The
# tests of the readers have further cases.
CORPORA = {
    "missing-column": (
        lambda text: text.replace("Sentence\tLabel", "Text\tLabel"),
        ".tsv",
        ["line 1", "no column Sentence"],
    ),
    "cut-off": (lambda text: OPENED, ".xml", ["ends inside the question 7"]),
}
VECTOR_FILES = {
    "nan": (lambda text: text.replace(" 0.126", " nan", 1), ".vec", ["line 2", "not finite"]),
    "cut-gzip": (
        lambda text: gzip.compress(text.encode(), mtime=0)[:-40],
        ".vec.gz",
        ["damaged or truncated"],
    ),
}


def write_damaged(folder, good, cases):
    """Write a damaged copy of a good file for each case; return case to path."""
    folder.mkdir()
    paths = {}
    for case, (damage, suffix, _) in cases.items():
        content = damage(good.read_text())
        paths[case] = folder / f"{case}{suffix}"
        paths[case].write_bytes(content if isinstance(content, bytes) else content.encode())
    return paths


def relative(path, project):
    return str(path.relative_to(project.folder))


@pytest.fixture(scope="module")
def damaged_inputs(finished, tmp_path_factory):
    """Every damaged corpus and vectors file in one run that keeps going: output and project."""
    project = finished.copy_to(tmp_path_factory.mktemp("damaged") / "project")
    before = project.products()
    corpora = write_damaged(project.folder / "corpora", project.data / "train.tsv", CORPORA)
    files = write_damaged(project.folder / "vectors", project.data / "words.vec", VECTOR_FILES)
    datasets = dataset(reader="wikiqa")
    good = datasets["wikiqa"]
    datasets["counts-differ"] = {**good, "questions": {"dev": {"who": 4}}}
    for case, path in corpora.items():
        reader = "trecqa" if path.suffix == ".xml" else "wikiqa"
        datasets[case] = {**good, "reader": reader, "train": relative(path, project)}
    project.configure(datasets=datasets)
    corpus_jobs = [f"results/corpora/{case}.parquet" for case in [*corpora, "counts-differ"]]
    first = project.run(*corpus_jobs, "--keep-going")
    project.configure(
        vectors=vectors(source="data/words.vec")
        | {case: {"source": relative(path, project)} for case, path in files.items()}
    )
    second = project.run(*[f"results/vectors/wikiqa/{case}.npy" for case in files], "--keep-going")
    assert first.returncode != 0
    assert second.returncode != 0
    assert project.products() == before
    return first.stdout + second.stdout


def error_about(name, output):
    """The one message that names a file."""
    messages = [line for line in output.splitlines() if line.startswith("Error: ") and name in line]
    assert len(messages) == 1, output
    return messages[0]


@pytest.mark.parametrize(
    ("kind", "cases"), [("corpora", CORPORA), ("vectors", VECTOR_FILES)], ids=["corpora", "vectors"]
)
def test_a_damaged_file_ends_in_one_message_that_names_the_place(damaged_inputs, kind, cases):
    for case, (_, suffix, parts) in cases.items():
        message = error_about(f"{kind}/{case}{suffix}", damaged_inputs)
        assert [part for part in parts if part not in message] == []
    assert "Traceback" not in damaged_inputs


def test_counts_that_differ_from_the_configuration_are_named(damaged_inputs):
    message = error_about("expects 4", damaged_inputs)
    assert "data/dev.tsv: 3 who questions" in message
    assert "(datasets.counts-differ.questions)" in message


def wrong_drop_in(project):
    path = project.folder / "resources" / "wikiqa" / "WikiQA-dev.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("not the released file\n")
    project.configure(datasets=dataset(dev="wikiqa-dev"))


def damaged_corpus(project):
    (project.folder / CORPUS).write_bytes(b"PAR1 but not really PAR1")


def damaged_vectors(project):
    (project.folder / VECTORS).write_bytes(b"not numpy")


def damaged_checkpoints(project):
    (project.folder / RUN).unlink()
    for path in (project.results / "checkpoints").iterdir():
        path.write_bytes(path.read_bytes()[:100])


def p_above_the_questions(project):
    project.configure(prototypes={"p": 7}, sweeps={"p": [7]})


def cuda(project):
    (project.folder / RUN).unlink()
    project.configure(device="cuda")


# Each: what damages the project, the file asked for, and the parts that the message must have.
DAMAGED = {
    "wrong hash": (
        wrong_drop_in,
        CORPUS,
        ["resources/wikiqa/WikiQA-dev.tsv", "c44fb3a52182b95f0c48e49ae1f63b6159047cb5"],
    ),
    "damaged Parquet": (damaged_corpus, PROTOTYPES, [CORPUS, "damaged Parquet file", "Delete it"]),
    "damaged vectors": (damaged_vectors, RUN, [VECTORS, "damaged", "Delete the file"]),
    "damaged checkpoint": (
        damaged_checkpoints,
        RUN,
        ["results/checkpoints/", "damaged checkpoint"],
    ),
    "p above the questions": (
        p_above_the_questions,
        RUN,
        ["seed0.parquet: only 6 who prototypes", "1 to 6"],
    ),
    "cuda without a GPU": (cuda, RUN, ["device: cuda is requested", "set device: auto"]),
}


def check_failed(done, parts):
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    for part in parts:
        assert part in done.stdout, done.stdout
    assert done.stdout.count("Error: ") == 1, done.stdout


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_ends_in_one_message_and_keeps_earlier_results(finished, tmp_path, case):
    if case == "cuda without a GPU" and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    damage, target, parts = DAMAGED[case]
    project = finished.copy_to(tmp_path / "project")
    damage(project)
    before = project.products()
    done = project.run(target)
    check_failed(done, parts)
    assert project.products() == before


def test_a_disk_without_space_keeps_earlier_results(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    (project.data / "words.vec").write_text("1 20000\nada" + " 1.5" * 20000 + "\n")
    before = project.products()
    # A limit on the size of files causes the same OSError as a full disk.
    limit = (500_000, 500_000)
    done = project.run(VECTORS, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    check_failed(done, [f"{VECTORS}: cannot be written", "Free some disk space"])
    assert not (project.folder / VECTORS).exists()
    assert project.products() == before


def test_an_output_folder_that_cannot_be_written_is_named(project):
    (project.folder / "results").write_text("a file where the folder should be")
    done = project.run(RUN)
    assert done.returncode != 0
    assert "output_dir: 'results' cannot be written" in done.stdout
    assert "is a file." in done.stdout
    assert "Traceback" not in done.stdout
    assert "site-packages" not in done.stdout
    assert (project.folder / "results").read_text() == "a file where the folder should be"
