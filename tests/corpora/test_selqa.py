"""Questions on sections of articles, as SelQA has them."""

import json

from analogyqa.corpora.selqa import read
from analogyqa.corpora.table import Pair, build_corpus
from analogyqa.schemas import CORPUS

QUESTIONS = [
    {
        "question": "Where is  it?",
        "article": "Cafe\u0301",
        "section": "History",
        "candidates": ["", "It is\u00a0here. ", "It was there."],
        "answers": [1],
    },
    {"question": "Who?", "article": "Oslo", "candidates": ["Ada.", "Bo."], "answers": [0, 1]},
]


def test_each_sentence_of_a_section_is_a_candidate_unless_it_is_empty(read_file):
    assert read_file(read, "dev.json", json.dumps(QUESTIONS)) == [
        Pair(1, "1", "Where is it?", "It is here.", 1, article="Café"),
        Pair(1, "1", "Where is it?", "It was there.", 0, article="Café"),
        Pair(2, "2", "Who?", "Ada.", 1, article="Oslo"),
        Pair(2, "2", "Who?", "Bo.", 1, article="Oslo"),
    ]


def test_the_folds_of_dev_and_test_are_disjoint_by_article(tmp_path):
    files = {}
    for split in ("dev", "test"):
        questions = [
            QUESTIONS[1] | {"question": f"Who is {article} in {split}?", "article": article}
            for article in "abcdef"
        ]
        files[split] = str(tmp_path / f"{split}.json")
        (tmp_path / f"{split}.json").write_text(json.dumps(questions))
    tested = []
    for number in (1, 2, 3):
        folded = build_corpus("toy", "selqa", files, {"who": ["who"]}, fold=f"{number}of3")
        assert list(folded.columns) == CORPUS.names
        articles = folded["question"].str.split().str[2].groupby(folded["split"]).agg(set)
        assert articles.map(len).to_dict() == {"train": 3, "dev": 1, "test": 2}
        assert set.union(*articles) == {*"abcdef"}
        tested += folded.loc[folded["split"] == "test", "question_id"].unique().tolist()
    assert sorted(tested) == sorted(f"{split}:{n}" for split in files for n in range(1, 7))
