"""Tables of questions and answers, in the formats and with the names that people have."""

import csv
import io
import json
from functools import partial

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.corpora.table import Pair
from analogyqa.corpora.tabular import find_columns, read, read_wikiqa, split_header
from analogyqa.errors import AnalogyQAError

FRAME = pd.DataFrame(
    {
        "qid": ["a", "b", "a"],
        "question": ["who is it?", "where?", "who is it?"],
        "answer": ['It is "Zoë"; yes.', "In Rome,\nItaly.", "No."],
        "label": [1, 1, 0],
    }
)
PAIRS = [
    ("a", "who is it?", 'It is "Zoë"; yes.', 1),
    ("a", "who is it?", "No.", 0),
    ("b", "where?", "In Rome, Italy.", 1),
]


@pytest.fixture
def pairs(read_file):
    return partial(read_file, read, "mine.csv")


def parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        FRAME.to_csv(index=False),
        FRAME.to_csv(index=False, sep=";").encode("utf-8-sig"),
        FRAME.to_csv(index=False, sep="\t", quoting=csv.QUOTE_ALL, lineterminator="\r\n"),
        FRAME.to_json(orient="records", lines=True),
        FRAME.assign(label=FRAME["label"] == 1).to_json(orient="records", lines=True),
        parquet(FRAME),
        FRAME.assign(label=FRAME["label"].astype(float)).to_csv(index=False) + ",,,\n\n",
    ],
)
def test_formats_are_recognised_by_their_content(pairs, content):
    assert [pair[1:5] for pair in pairs(content)] == PAIRS


def test_a_question_without_id_is_told_apart_by_its_text(pairs):
    found = pairs(FRAME.drop(columns="qid").to_csv(index=False))
    assert [pair.question_id for pair in found] == ["q1", "q1", "q2"]


def test_a_row_knows_its_first_line(pairs):
    assert [pair.line for pair in pairs(FRAME.to_csv(index=False))] == [2, 5, 3]


def test_what_excel_writes_on_windows_is_read_with_a_warning(pairs, caplog):
    content = FRAME.to_csv(index=False, sep=";").encode("cp1252")
    assert [pair[1:5] for pair in pairs(content)] == PAIRS
    assert "cp1252" in caplog.text and "Zoë" in caplog.text


def test_a_no_break_space_may_be_all_that_is_not_ascii(pairs, caplog):
    assert len(pairs(b"question,answer,label\nwho?,about\xa051,1\n")) == 1
    assert r"about\xa051" in caplog.text


def test_an_encoding_that_is_given_is_used_without_a_warning(read_file, caplog):
    content = FRAME.to_csv(index=False).encode("utf-16")
    found = read_file(partial(read, encoding="utf-16"), "mine.csv", content)
    assert [pair[1:5] for pair in found] == PAIRS and not caplog.records


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("QuestionID\tQuestion\tDocumentID\tSentenceID\tSentence\tLabel", [0, 1, 4, 5]),
        ("question_id,question,document_title,answer,label", [0, 1, 3, 4]),  # Hugging Face
        ("qid,aid,query,passage,relevance", [0, 2, 3, 4]),  # castorini, MS MARCO
        ("Question\u00a0ID;Question Text;Answer;Is\u00a0Correct", [0, 1, 2, 3]),
    ],
)  # fmt: skip
def test_usual_names_of_columns_are_found(header, found):
    positions = find_columns(split_header(header)[1], {})
    assert [positions[key] for key in ("id", "question", "candidate", "label")] == found


def test_a_name_that_is_given_replaces_the_usual_ones(read_file):
    content = "question,frage,answer,label\nx,who?,It.,1\n"
    found = read_file(partial(read, columns={"question": "Frage"}), "mine.csv", content)
    assert found == [Pair(2, "q1", "who?", "It.", 1)]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])), min_size=1))
def test_any_text_survives_csv_and_json(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("table") / "mine"
    frame = pd.DataFrame({"question": "who?", "answer": texts, "label": 1})
    records = "".join(json.dumps(row) + "\n" for row in frame.to_dict("records"))
    found = []
    for content in (frame.to_csv(index=False, quoting=csv.QUOTE_ALL), records):
        path.write_text(content, "utf-8", newline="")
        found.append([pair.candidate for pair in read(path)])
    assert found[0] == found[1] and len(found[0]) == len(texts)


@pytest.mark.parametrize(
    ("header", "can_read"),
    [
        ("question_id,question,answer,label", True),
        ("question;answer;label", True),
        ("qid,question,answer", False),  # no label
    ],
)
def test_the_reader_of_wikiqa_shows_the_header_and_names_the_reader_that_can(
    read_file, header, can_read
):
    with pytest.raises(AnalogyQAError) as error:
        read_file(read_wikiqa, "mine.tsv", f"{header}\n")
    assert f"'{header}'" in str(error.value)
    assert ("reader: table" in str(error.value)) == can_read


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_rows_of_wikiqa_become_pairs_with_literal_quotes(read_file, caplog, line_end):
    rows = ["Label\tSentence\tMore\tQuestion\tQuestionID", "1\tIt is anna .\tx\twho is it ?\tQ1"]
    rows += ['0\tIt is "bruno .\t\twho is it ?\tQ1', '1\t"It is ""Zoë""."\tx\twho?\tQ2', ""]
    assert read_file(read_wikiqa, "WikiQA.tsv", line_end.join(rows)) == [
        Pair(2, "Q1", "who is it ?", "It is anna .", 1),
        Pair(3, "Q1", "who is it ?", 'It is "bruno .', 0),
        Pair(4, "Q2", "who?", '"It is ""Zoë""."', 1),
    ]
    assert "line 4" in caplog.text  # doubled quotes
