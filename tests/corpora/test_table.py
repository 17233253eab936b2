"""The corpus table, which is built in the same way for all data sets."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.corpora.table import (
    build_corpus,
    clean_id,
    count_corpora,
    count_questions,
    require_types,
)
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import CORPUS, SPLITS, write_table

HEADER = "QuestionID\tQuestion\tSentence\tLabel\n"
DEV = "1\twhen is it ?\ta\t1\n"
TYPES = {"who": ["who"], "when": ["when"], "where": ["where"]}


@pytest.fixture
def build(tmp_path):
    """Build a corpus from the rows of one or more training files."""

    def build(*train: str, dev=DEV, test=DEV, expected=None, drop_all_correct=()):
        rows = {"train": train, "dev": [dev], "test": [test]}
        files = {split: [] for split in SPLITS}
        for split in SPLITS:
            for number, content in enumerate(rows[split]):
                files[split].append(str(tmp_path / f"{split}{number}.tsv"))
                Path(files[split][-1]).write_text(HEADER + content)
        return build_corpus("toy", "wikiqa", files, TYPES, expected or {}, drop_all_correct)

    return build


def test_the_table_has_the_columns_of_its_schema(build):
    corpus = build("1\twho is it ?\tanna .\t1\n1\twho is it ?\tnobody .\t0\n")
    assert list(corpus.columns) == CORPUS.names
    assert corpus.iloc[0].tolist() == ["train", "1", "who is it ?", "1-0", "anna .", 1, "who"]
    assert corpus.iloc[1].tolist() == ["train", "1", "who is it ?", "1-1", "nobody .", 0, "who"]
    assert corpus["split"].tolist() == ["train", "train", "dev", "test"]


COUNTED = (  # with two correct candidates, none and one, and two questions of no type
    "1\twho is it ?\ta\t1\n1\twho is it ?\tb\t1\n2\twho is this ?\ta\t0\n"
    "3\twhere is it ?\ta\t1\n4\twhat is it ?\ta\t1\n5\twhat is this ?\ta\t0\n"
)


def test_answerable_questions_are_counted_by_split_and_type(build, tmp_path):
    corpus = build(COUNTED)
    counts = count_questions(corpus)
    assert counts["train"] == {"who": 1, "where": 1, "all": 3}
    assert counts["dev"] == counts["test"] == {"when": 1, "all": 1}
    write_table(corpus, CORPUS, tmp_path / "toy.parquet")
    dev_and_test = {split: {"all": 1} for split in ("dev", "test")}
    analogies = {"train": {"who": 0, "where": 0, "all": 0}}
    analogies |= {split: {"when": 0, "all": 0} for split in ("dev", "test")}
    assert count_corpora([str(tmp_path / "toy.parquet")]) == {
        "toy": {
            "questions": counts,
            "all_questions": {"train": {"all": 5}, **dev_and_test},
            "pairs": {"train": {"all": 6}, **dev_and_test},
            "analogies": analogies,
        }
    }


def test_a_train_split_of_several_files_drops_questions_of_dev_and_test(build, caplog):
    first = "1\twho is it ?\ta\t1\n2\twhen is it ?\ta\t1\n2\twhen is it ?\tb\t0\n"
    second = "3\twho was it ?\ta\t1\n4\twhere is it ?\ta\t0\n"
    others = {"dev": "d\twhen is it ?\ta\t1\n", "test": "t\tWho was it ?\ta\t1\n"}
    corpus = build(first, second, **others)
    assert corpus["candidate_id"].tolist() == ["1-0", "4-0", "d-0", "t-0"]
    assert "toy: 2 training questions are also in dev or test and are dropped: 2, 3" in caplog.text
    # A single file is read as it was released.
    assert build(first, **others)["question_id"].tolist() == ["1", "2", "2", "d", "t"]
    message = r"train1\.tsv: the question 1 is also in .*train0\.tsv\. Use each id"
    with pytest.raises(AnalogyQAError, match=message):
        build(first, first)


def test_require_types_names_missing_types_and_splits(build):
    counts = count_questions(build(COUNTED + "6\twhen is it ?\ta\t1\n"))
    require_types("toy", counts, ["when"])
    require_types("toy", counts | {"train": {"all": 0}}, ["when"])  # only cross-validated
    message = r"^data set toy: .* type who \(dev\), who \(test\)\. "
    with pytest.raises(AnalogyQAError, match=message):
        require_types("toy", counts, ["when", "who"])


def test_repeated_candidates_are_kept_and_reported(build, caplog):
    build("1\twho ?\ta\t1\n2\twhen ?\ta\t0\n")  # the same text for two questions
    assert not caplog.records
    corpus = build("1\twho ?\ta\t1\n1\twho ?\tb\t0\n1\twho ?\ta\t0\n1\twho ?\ta\t1\n")
    assert corpus.loc[corpus["split"] == "train", "candidate_id"].nunique() == 4
    (record,) = caplog.records
    assert record.args[1:] == (2, 1, 4, 2)


# A no-break space, a space and a byte-order mark of no width, and a decomposed letter.
SPELLINGS = ["é 1", " é 1", "é 1 ", "é\u00a01", "é\u200b 1", "\ufeffé  1", "e\u0301 1"]


def test_ids_that_look_the_same_are_one_question(build):
    rows = "".join(f"{spelling}\twho ?\t{n}\t0\n" for n, spelling in enumerate(SPELLINGS))
    corpus = build(rows)
    train = corpus[corpus["split"] == "train"]
    assert train["question_id"].unique().tolist() == ["é 1"]
    assert train["candidate_id"].tolist() == [f"é 1-{n}" for n in range(len(SPELLINGS))]


@given(st.text(max_size=10))
def test_clean_id_is_idempotent(text):
    assert clean_id(clean_id(text)) == clean_id(text) == clean_id(f" {text}\u200b ")


@pytest.mark.parametrize(
    ("name", "count"), [("who", 1), ("when", 0), ("where", 1), ("all", 3), ("other", 0)]
)
def test_unexpected_counts_are_an_error(build, name, count):
    build(COUNTED, expected={"train": {name: count}})
    message = rf"train0\.tsv: {count} {name} questions .* expects 9 \(datasets\.toy\.questions"
    with pytest.raises(AnalogyQAError, match=message):
        build(COUNTED, expected={"train": {name: 9}})


MIXED = "1\twho is it ?\ta\t1\n1\twho is it ?\tb\t0\n"
ALL_CORRECT = "2\twho is all ?\ta\t1\n2\twho is all ?\tb\t1\n"
ALL_WRONG = "3\twho is none ?\ta\t0\n"


@pytest.mark.parametrize(
    ("rows", "dropped", "remaining"),
    [
        (MIXED + ALL_CORRECT + ALL_WRONG, [], (["1", "2", "3"], ["1"], ["1"])),
        (MIXED + ALL_CORRECT + ALL_WRONG, ["train"], (["1", "3"], ["1"], ["1"])),
        (MIXED + ALL_CORRECT, ["test"], (["1", "2"], ["1"], [])),
        (MIXED, ["train"], (["1"], ["1"], ["1"])),  # the question 1 of dev is all correct
    ],
)
def test_questions_whose_candidates_are_all_correct_are_dropped_on_request(
    build, rows, dropped, remaining
):
    expected = {"train": {"all": len(remaining[0]) - ("3" in remaining[0])}}  # without dropped ones
    corpus = build(rows, expected=expected, drop_all_correct=dropped)
    by_split = corpus.groupby("split")["question_id"].unique()
    assert tuple(list(by_split.get(split, [])) for split in SPLITS) == remaining
    assert corpus.index.tolist() == list(range(len(corpus)))
    assert corpus["candidate_id"].tolist()[:2] == ["1-0", "1-1"]
