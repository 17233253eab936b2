"""Sentence pairs for natural language inference: formats, splits and malformed files."""

import json
import zipfile

import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained.nli import LABELS, read_nli, without_sentences

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


FORMATS = {"snli.jsonl": snli, "SICK_train.txt": sick, "dev.txt": tabs}


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: str) -> str:
        (tmp_path / name).write_bytes(content.encode())
        return str(tmp_path / name)

    return write


def rows(*files: str, split: str = "train") -> list[tuple[str, str, str]]:
    table = read_nli(files, split)
    assert list(table.columns) == ["premise", "hypothesis", "label"]
    return list(table.itertuples(index=False, name=None))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_table(write, name, end):
    path = write(name, "\ufeff" + FORMATS[name](*PAIRS).replace("\n", end))
    assert rows(path) == rows(path, split="dev") == PAIRS


def test_several_files_are_joined_in_order(write):
    formats = zip(FORMATS.items(), PAIRS, strict=True)
    assert rows(*(write(name, to_text(pair)) for (name, to_text), pair in formats)) == PAIRS


def test_pairs_without_a_gold_label_are_skipped(write):
    undecided = ("A man .", "A woman .", "-")
    assert rows(write("a.jsonl", snli(PAIRS[0], undecided, PAIRS[1]))) == PAIRS[:2]


def test_an_archive_is_read_by_split(tmp_path):
    path = str(tmp_path / "snli_1.0.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__MACOSX/snli_1.0/._snli_1.0_train.jsonl", b"\x00\x05\x16\x07")
        archive.writestr("snli_1.0/snli_1.0_train.txt", "gold_label")
        archive.writestr("snli_1.0/snli_1.0_train.jsonl", snli(*PAIRS))
        archive.writestr("snli_1.0/snli_1.0_dev.jsonl", snli(PAIRS[0]))
    assert (rows(path), rows(path, split="dev")) == (PAIRS, PAIRS[:1])


def test_the_columns_of_sick_are_found_by_their_names(write):
    text = "entailment_judgment\tsentence_B\tsentence_A\nNEUTRAL\ttwo\tone\n"
    assert rows(write("SICK.txt", text)) == [("one", "two", "neutral")]


def test_pairs_that_share_a_sentence_with_other_texts_are_left_out(write):
    """Either sentence counts, whatever its case, spaces and punctuation."""
    pairs = read_nli([write("dev.txt", tabs(*PAIRS))])
    assert without_sentences(pairs, ["A man", "café"]).equals(pairs)
    kept = without_sentences(pairs, ["a man sleeps", "It isn't open.", "AN ANIMAL MOVES!"])
    assert kept["premise"].tolist() == ["A café ."]
    with pytest.raises(AnalogyQAError, match="disjoint_from"):
        without_sentences(pairs[:1], ["A man sleeps."])
