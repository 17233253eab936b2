"""Questions on sections of articles, as SelQA has them."""

import json

from analogyqa.corpora.selqa import read
from analogyqa.corpora.table import Pair

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
