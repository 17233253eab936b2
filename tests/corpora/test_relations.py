"""Files of relations, and the corpus that they make."""

import pandas as pd
import pytest

from analogyqa.corpora.relations import read, relations_corpus, review_page
from analogyqa.corpora.table import count_corpora
from analogyqa.schemas import ANALOGIES, CORPUS, write_table


@pytest.fixture
def files(tmp_path):
    capitals = (
        "In Rome\tIn Italy\n\nIn Oslo\tIn Norway\nIn Bern\tIn Switzerland\nIn Cairo\tIn Egypt\n"
    )
    (tmp_path / "capitals.tsv").write_text(capitals)
    rows = [(f"{n}", f"A {n}", f"B {n}", "x", "r", ["C", "D"]) for n in range(3)]
    table = tmp_path / "made.parquet"
    write_table(pd.DataFrame(rows, columns=ANALOGIES.names), ANALOGIES, table)
    return {"capitals": tmp_path / "capitals.tsv", "made": table}


def test_a_pair_becomes_a_question_with_candidates(files, tmp_path):
    corpus = relations_corpus(files)
    assert corpus["question_type"].value_counts().to_dict() == {"made": 9, "capitals": 4}
    first = corpus[corpus["question_id"] == "made/0"]
    assert first[["question", "candidate", "label"]].to_numpy().tolist() == [
        ["A 0", "B 0", 1], ["A 0", "C", 0], ["A 0", "D", 0]
    ]  # fmt: skip
    path = tmp_path / "mine.parquet"
    write_table(corpus, CORPUS, path)
    counts = count_corpora([path])["mine"]
    assert counts["questions"]["test"] == {"made": 3, "capitals": 4, "all": 7}
    assert counts["analogies"]["test"] == {"made": 3, "capitals": 6, "all": 9}


def test_some_sentences_of_a_file_may_be_quoted(files):
    path = files["capitals"]
    path.write_text('"In"\t"It"\n"On"\tIt\n"At"\t"It"\n')
    assert relations_corpus({"capitals": path})["question"].tolist() == ['"In"', '"On"', '"At"']


def test_repeated_pairs_are_kept_and_reported(files, caplog):
    files["capitals"].write_text(files["capitals"].read_text() + "In Rome\tIn Italy\n" * 2)
    assert len(relations_corpus(files)) == 9 + 6
    (record,) = caplog.records
    assert record.args[1:] == (2, "0006", "0001")


def test_a_review_page_has_evenly_spaced_pairs(files):
    page = review_page({"Made": read(files["made"])}, count=2)
    assert page == (
        "# Made: 2 of 3 pairs\n\n1. A 0 | B 0\n   - C\n   - D\n2. A 1 | B 1\n   - C\n   - D\n"
    )
