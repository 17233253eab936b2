"""Bad input ends in one message that names the place, and leaves earlier results as they were."""

import gzip
import resource
import subprocess
import zipfile

import pytest
import torch
from conftest import clean_environment

CORPUS = "results/corpora/wikiqa.parquet"
VECTORS = "results/vectors/fasttext.npy"
RUN = "results/runs/similarity/wikiqa/who/p3/scores.parquet"
TRAINING = {"sentence_dim": 8, "max_epochs": 2, "batch_size": 4}


def dataset(**changes):
    files = {split: f"data/{split}.tsv" for split in ("train", "dev", "test")}
    wikiqa = {"title": "Tiny", **files, "questions": None, **changes}
    return {"wikiqa": wikiqa, "trecqa": None}


def vectors(**fasttext):
    return {"fasttext": fasttext, "word2vec": None, "glove": None}


# Each: changes of the configuration, and the parts that the message must have.
WRONG_CONFIG = {
    "unknown key": ({"trainign": {}}, ["unknown key trainign", "did you mean training?"]),
    "misspelt nested key": (
        {"training": {"dropuot": 0.1}},
        ["unknown key training.dropuot", "did you mean dropout?"],
    ),
    "wrong type": ({"seeds": "three"}, ["seeds: 'three' is not allowed"]),
    "no seeds": ({"seeds": 0}, ["seeds: 0 is not allowed", "at least 1 seed"]),
    "equal seeds": ({"seeds": [1, 1]}, ["seeds: [1, 1] is not allowed", "must differ"]),
    "dropout of 1.5": ({"training": {"dropout": 1.5}}, ["training.dropout: 1.5", "less than 1"]),
    "unknown loss": ({"training": {"loss": "softmax"}}, ["training.loss: 'softmax'", "'hinge'"]),
    "vectors that are not configured": (
        {"vectors": {"fasttext": None, "word2vec": None, "glove": None}},
        ["models.analogy.vectors: 'fasttext' is not configured"],
    ),
    "vectors of two origins": (
        {"vectors": vectors(source="data/words.vec", train_on="data/train.tsv")},
        ["vectors.fasttext", "either source (a file) or train_on"],
    ),
    "subword from a text file": (
        {"vectors": vectors(source="data/words.vec", out_of_vocabulary="subword")},
        ["vectors.fasttext", "subword needs a fastText .bin file"],
    ),
    "p above the declared questions": (
        {
            "prototypes": {"p": 7, "curve": []},
            "datasets": dataset(questions={"train": {"who": 6, "when": 6, "where": 6}}),
        },
        ["prototypes.p: 7", "6 training questions of type", "allowed: 1 to 6"],
    ),
    "a file that is not there": (
        {"datasets": dataset(dev="data/missing.tsv")},
        ["data/missing.tsv: no such file"],
    ),
    "a source that is not registered": (
        {"datasets": dataset(dev="wikiqa-dve")},
        ["wikiqa-dve", "did you mean wikiqa-dev?"],
    ),
}


@pytest.mark.parametrize("case", WRONG_CONFIG)
def test_a_wrong_configuration_stops_before_any_job(project, case):
    changes, parts = WRONG_CONFIG[case]
    project.configure(**changes)
    done = project.run(RUN)
    assert done.returncode != 0
    assert "Traceback" not in done.stdout
    for part in parts:
        assert part in done.stdout
    assert not project.results.exists()


def edited(path, edit):
    lines = path.read_text().splitlines()
    edit(lines)
    path.write_text("\n".join(lines) + "\n")


def replace_in_line(number, old, new):
    def edit(lines):
        assert old in lines[number - 1]
        lines[number - 1] = lines[number - 1].replace(old, new)

    return edit


def set_field(number, field, value):
    def edit(lines):
        fields = lines[number - 1].split("\t")
        fields[field] = value
        lines[number - 1] = "\t".join(fields)

    return edit


def train(edit):
    return lambda project: edited(project.data / "train.tsv", edit)


def words(edit):
    return lambda project: edited(project.data / "words.vec", edit)


def not_utf8(project):
    path = project.data / "test.tsv"
    path.write_bytes(path.read_bytes().replace(b"the ", b"th\xe9 ", 1))


def empty(project):
    (project.data / "dev.tsv").write_bytes(b"")


def only_a_header(project):
    edited(project.data / "dev.tsv", lambda lines: lines.__delitem__(slice(1, None)))


def cut_in_a_row(project):
    path = project.data / "test.tsv"
    path.write_bytes(path.read_bytes()[:-20])


def counts_differ(project):
    project.configure(datasets=dataset(questions={"dev": {"who": 4}}))


def jacana(text):
    def damage(project):
        (project.data / "train.xml").write_text(text)
        project.configure(datasets=dataset(reader="trecqa", train="data/train.xml"))

    return damage


def vectors_file(name, write):
    def damage(project):
        write(project.data / name, (project.data / "words.vec").read_bytes())
        project.configure(vectors=vectors(source=f"data/{name}"))

    return damage


def write_cut_gzip(path, content):
    path.write_bytes(gzip.compress(content)[:-40])


def write_cut_zip(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("words.vec", content)
    path.write_bytes(path.read_bytes()[:-60])


def write_zip_of_two(path, content):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("one.vec", content)
        archive.writestr("two.vec", content)


def write_not_binary(path, content):
    path.write_bytes(content.replace(b" ", b"_"))


def foreign_vectors(project):
    (project.data / "words.vec").write_text("1 6\nzzz 1 2 3 4 5 6\n")


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
    project.configure(prototypes={"p": 7, "curve": []})


def cuda(project):
    (project.folder / RUN).unlink()
    project.configure(device="cuda")


# Each: what damages the project, the file asked for, and the parts that the message must have.
DAMAGED = {
    "missing column": (
        train(replace_in_line(1, "Sentence\tLabel", "Text\tLabel")),
        CORPUS,
        ["data/train.tsv, line 1", "no column Sentence"],
    ),
    "not UTF-8": (not_utf8, CORPUS, ["data/test.tsv, line 2", "not UTF-8"]),
    "empty file": (empty, CORPUS, ["data/dev.tsv, line 1", "no column"]),
    "no questions": (only_a_header, CORPUS, ["data/dev.tsv", "no questions"]),
    "label 2": (train(set_field(3, 6, "2")), CORPUS, ["train.tsv, line 3", "label '2'"]),
    "a field too many": (
        train(replace_in_line(4, "the ", "the\t")),
        CORPUS,
        ["train.tsv, line 4", "fields, the header has 7"],
    ),
    "cut in a row": (cut_in_a_row, CORPUS, ["data/test.tsv, line 49"]),
    "duplicate question id": (
        train(set_field(10, 0, "train-who-0")),
        CORPUS,
        ["train.tsv, line 10", "train-who-0 was complete already"],
    ),
    "another text of a question": (
        train(set_field(3, 1, "who else ?")),
        CORPUS,
        ["train.tsv, line 3", "another text"],
    ),
    "empty question": (train(set_field(2, 1, "")), CORPUS, ["train.tsv, line 2", "empty question"]),
    "empty candidate": (
        train(set_field(5, 5, " ")),
        CORPUS,
        ["train.tsv, line 5", "an empty candidate"],
    ),
    "counts that differ": (
        counts_differ,
        CORPUS,
        ["data/dev.tsv", "3 who questions", "expects 4 (datasets.wikiqa.questions)"],
    ),
    "question without candidates": (
        jacana("<QApairs id='7'>\n<question>\nWho\t?\n</question>\n</QApairs>\n"),
        CORPUS,
        ["train.xml, line 5", "question 7 has no candidates"],
    ),
    "block that is not closed": (
        jacana("<QApairs id='7'>\n<question>\nWho\t?\n<positive>\nx\n</positive>\n</QApairs>\n"),
        CORPUS,
        ["train.xml, line 7", "<question> of line 2 is not closed"],
    ),
    "file cut off": (
        jacana("<QApairs id='7'>\n<question>\nWho\t?\n</question>\n"),
        CORPUS,
        ["train.xml", "ends inside the question 7"],
    ),
    "NaN vector": (
        words(replace_in_line(2, " 0.126", " nan")),
        VECTORS,
        ["data/words.vec, line 2", "not finite"],
    ),
    "vector of another length": (
        words(lambda lines: lines.__setitem__(3, lines[3] + " 0.5")),
        VECTORS,
        ["data/words.vec, line 4", "a vector of 7 numbers, not 6"],
    ),
    "vector that is no number": (
        words(replace_in_line(2, " 0.126", " zero")),
        VECTORS,
        ["data/words.vec, line 2", "zero"],
    ),
    "fewer vectors than said": (
        words(lambda lines: lines.pop()),
        VECTORS,
        ["data/words.vec", "its first line says"],
    ),
    "vectors of other words": (foreign_vectors, VECTORS, ["data/words.vec", "none of the"]),
    "truncated gzip": (
        vectors_file("words.vec.gz", write_cut_gzip),
        VECTORS,
        ["data/words.vec.gz", "damaged or cut off"],
    ),
    "truncated zip": (
        vectors_file("words.vec.zip", write_cut_zip),
        VECTORS,
        ["data/words.vec.zip", "damaged or cut off"],
    ),
    "zip of two files": (
        vectors_file("words.vec.zip", write_zip_of_two),
        VECTORS,
        ["data/words.vec.zip", "expected one file inside"],
    ),
    "binary vectors that are none": (
        vectors_file("words.bin", write_not_binary),
        VECTORS,
        ["data/words.bin", "neither a fastText nor a word2vec binary"],
    ),
    "wrong hash": (
        wrong_drop_in,
        CORPUS,
        ["resources/wikiqa/WikiQA-dev.tsv", "c44fb3a52182b95f0c48e49ae1f63b6159047cb5"],
    ),
    "damaged Parquet": (damaged_corpus, RUN, [CORPUS, "damaged Parquet file", "Delete it"]),
    "damaged vectors": (damaged_vectors, RUN, [VECTORS, "damaged word vectors", "Delete the file"]),
    "damaged checkpoint": (
        damaged_checkpoints,
        RUN,
        ["results/checkpoints/", "damaged checkpoint"],
    ),
    "p above the questions": (
        p_above_the_questions,
        "results/runs/similarity/wikiqa/who/p7/scores.parquet",
        ["seed0.parquet: only 6 who prototypes", "allowed: 1 to 6"],
    ),
    "cuda without a GPU": (cuda, RUN, ["device: cuda is asked for", "Use device: auto"]),
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
    (project.folder / VECTORS).unlink()
    before = project.products()
    done = subprocess.run(
        project.command(VECTORS),
        cwd=project.folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A limit on the size of files stands in for a full disk: the same OSError while writing.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)),
    )
    check_failed(done, ["File too large"])
    assert not (project.folder / VECTORS).exists()
    assert project.products() == before


def test_an_output_folder_that_cannot_be_written_is_named(project):
    (project.folder / "results").write_text("a file where the folder should be")
    done = project.run(RUN)
    assert done.returncode != 0
    assert "results" in done.stdout
    assert (project.folder / "results").read_text() == "a file where the folder should be"
