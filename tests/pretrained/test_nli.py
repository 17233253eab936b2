import json
import zipfile

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.nli import LABELS, read_nli

PAIRS = [
    ("A man sleeps .", "A man is awake .", "contradiction"),
    ("A dog runs .", "An animal moves .", "entailment"),
    ("A café .", "It is open .", "neutral"),
]


def snli(*pairs) -> str:
    keys = ("sentence1", "sentence2", "gold_label")
    return "".join(
        json.dumps(dict(zip(keys, pair, strict=True)) | {"pairID": "1"}) + "\n" for pair in pairs
    )


def sick(*pairs) -> str:
    lines = ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"]
    lines += [f"1\t{one}\t{two}\t3.5\t{label.upper()}" for one, two, label in pairs]
    return "".join(f"{line}\n" for line in lines)


def tabs(*pairs) -> str:
    return "".join(f"{one}\t{two}\t{LABELS.index(label)}\n" for one, two, label in pairs)


FORMS = {"snli.jsonl": snli, "SICK_train.txt": sick, "dev.txt": tabs}


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: str) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode())
        return str(path)

    return write


def rows(*files: str) -> list[tuple[str, str, str]]:
    table = read_nli(files)
    assert list(table.columns) == ["premise", "hypothesis", "label"]
    return list(table.itertuples(index=False, name=None))


@pytest.mark.parametrize("name", FORMS)
def test_each_form_gives_the_same_table(write, name):
    assert rows(write(name, FORMS[name](*PAIRS))) == PAIRS


@pytest.mark.parametrize("name", FORMS)
def test_windows_line_ends_change_nothing(write, name):
    assert rows(write(name, FORMS[name](*PAIRS).replace("\n", "\r\n"))) == PAIRS


def test_files_are_read_one_after_the_other(write):
    files = [
        write(name, form(pair)) for (name, form), pair in zip(FORMS.items(), PAIRS, strict=True)
    ]
    assert rows(*files) == PAIRS


def test_a_pair_without_a_gold_label_is_left_out(write):
    undecided = ("A man .", "A woman .", "-")
    assert rows(write("a.jsonl", snli(PAIRS[0], undecided, PAIRS[1]))) == PAIRS[:2]


def test_a_member_of_an_archive_is_read(tmp_path):
    path = tmp_path / "snli_1.0.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("snli_1.0/snli_1.0_dev.jsonl", snli(*PAIRS))
    assert rows(f"{path}#snli_1.0/snli_1.0_dev.jsonl") == PAIRS
    with pytest.raises(AnalogyQAError, match=r"snli_1\.0\.zip: the archive has no member other"):
        read_nli([f"{path}#other.jsonl"])


def test_the_columns_of_sick_are_found_by_their_names(write):
    text = "entailment_judgment\tsentence_B\tsentence_A\nNEUTRAL\ttwo\tone\n"
    assert rows(write("SICK.txt", text)) == [("one", "two", "neutral")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", snli(PAIRS[0]) + "{\n", "line 2: not a JSON object with gold_label"),
        ("a.jsonl", '{"gold_label": "neutral"}\n', "line 1: not a JSON object with gold_label"),
        ("a.jsonl", "[]\n", "line 1: not a JSON object with gold_label"),
        ("a.jsonl", snli(("a", "b", "maybe")), "line 1: gold_label 'maybe' is none of"),
        ("a.txt", sick(PAIRS[0]) + "2\tone\n", "line 3: 2 fields, but the first line has 5"),
        ("a.txt", sick(("a", "b", "maybe")), "line 2: entailment_judgment 'MAYBE' is none of"),
        ("a.txt", "entailment_judgment\nNEUTRAL\n", "line 2: the first line lacks one of"),
        ("a.txt", tabs(PAIRS[0]) + "one\ttwo\n", "line 2: expected premise, hypothesis and 0"),
        ("a.txt", "one\ttwo\t3\n", "line 1: expected premise, hypothesis and 0"),
        ("a.txt", "", "line 1: expected premise"),
    ],
)
def test_a_line_of_another_form_is_named(write, name, content, message):
    path = write(name, content)
    with pytest.raises(AnalogyQAError) as caught:
        read_nli([path])
    assert f"{path}, {message}" in str(caught.value)


@pytest.mark.parametrize(("name", "content"), [("a.jsonl", ""), ("a.txt", sick())])
def test_a_file_without_pairs_is_named(write, name, content):
    with pytest.raises(AnalogyQAError, match=rf"{name}: no pair of sentences"):
        read_nli([write(name, content)])


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AnalogyQAError, match=r"a\.txt: damaged, or of another format"):
        read_nli([str(path)])


def test_an_archive_that_is_none_is_named(write):
    path = write("a.zip", "no archive")
    with pytest.raises(AnalogyQAError, match=r"a\.zip#x\.jsonl: damaged"):
        read_nli([f"{path}#x.jsonl"])
