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


@pytest.fixture
def archive(tmp_path):
    """Write an archive of the given members as SNLI was released; returns its path."""

    def write(members: dict[str, bytes]) -> str:
        path = tmp_path / "snli_1.0.zip"
        with zipfile.ZipFile(path, "w") as file:
            for name, content in members.items():
                file.writestr(name, content)
        return str(path)

    return write


SNLI = {
    "__MACOSX/snli_1.0/._snli_1.0_train.jsonl": b"\x00\x05\x16\x07",
    "snli_1.0/snli_1.0_train.txt": b"gold_label",
    "snli_1.0/snli_1.0_train.jsonl": snli(*PAIRS).encode(),
    "snli_1.0/snli_1.0_dev.jsonl": snli(PAIRS[0]).encode(),
}


@pytest.mark.parametrize(("split", "pairs"), [("train", PAIRS), ("dev", PAIRS[:1])])
def test_of_an_archive_the_member_of_the_split_is_read(archive, split, pairs):
    table = read_nli([archive(SNLI)], split)
    assert list(table.itertuples(index=False, name=None)) == pairs


def test_other_files_are_read_whole_for_any_split(write):
    path = write("dev.txt", tabs(*PAIRS))
    assert read_nli([path], "dev").equals(read_nli([path], "train"))


def test_an_archive_without_the_split_is_named(archive):
    message = r"snli_1\.0\.zip: no member of this archive ends in _dev\.jsonl"
    with pytest.raises(AnalogyQAError, match=message):
        read_nli([archive({"snli_1.0/snli_1.0_train.jsonl": b"{}"})], "dev")


def test_a_wrong_line_of_a_member_is_named_with_the_member(archive):
    message = r"snli_1\.0\.zip, a_dev\.jsonl, line 1: not a JSON object"
    with pytest.raises(AnalogyQAError, match=message):
        read_nli([archive({"a_dev.jsonl": b"{\n"})], "dev")


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
    with pytest.raises(AnalogyQAError, match=r"a\.zip: damaged"):
        read_nli([write("a.zip", "no archive")])
