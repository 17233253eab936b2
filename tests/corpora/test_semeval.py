"""SemEval: questions with comments, and related questions as XML and as JSON lines."""

import json
from functools import partial

import pytest

from analogyqa.corpora.semeval import read, read_ids, read_related
from analogyqa.corpora.table import Pair, build_corpus
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import SPLITS
from builders.damaged import CQA, RELATED, RELATED_GOLD, THREAD

PAIRS = [
    Pair(13, "Q1_R2", "a tree which one & where ?", "an oak", 1),
    Pair(14, "Q1_R2", "a tree which one & where ?", "a <b> c", 0),
    Pair(15, "Q1_R2", "a tree which one & where ?", "ask", 0),
]


@pytest.fixture
def pairs(read_file):
    return partial(read_file, read, "cqa.xml")


@pytest.mark.parametrize("text", ["an oak", "an<i> oak</i>"])
def test_comments_become_pairs(pairs, text):
    assert pairs(CQA.replace("an oak", text)) == PAIRS


def test_repeated_threads_and_original_questions_are_skipped(pairs):
    mark = ' SubtaskA_Skip_Because_Same_As_RelQuestion_ID="Q7_R7">'
    repeated = THREAD.replace('_SEQUENCE="Q1_R2">', f'_SEQUENCE="Q1_R2"{mark}')
    original = '<OrgQuestion ORGQ_ID="Q1"><OrgQSubject>x</OrgQSubject><OrgQBody>y</OrgQBody>'
    other = THREAD.replace("Q1_R2", "Q1_R4")
    content = f"<xml>{original}{repeated}{other}</OrgQuestion></xml>"
    assert [pair.question_id for pair in pairs(content)] == ["Q1_R4"] * 3


def test_the_released_question_without_comments_is_skipped(pairs):
    empty = f"<Thread>{RELATED.replace('Q1_R2', 'Q2657')}</Thread>"
    assert pairs(CQA.replace("</xml>", f"{empty}</xml>")) == PAIRS


def test_deep_nesting_does_not_crash(pairs):
    deep = "<i>" * 30_000 + "oak" + "</i>" * 30_000
    assert pairs(CQA.replace("an oak", deep))[0].candidate == "oak"
    assert pairs("<a>" * 30_000 + "</a>" * 30_000) == []


ORIGINAL = "<OrgQSubject>a tree</OrgQSubject>\n<OrgQBody>which  one &amp; where?</OrgQBody>"


def original(related, label, question="Q1", text=ORIGINAL):
    return f"""<OrgQuestion ORGQ_ID="{question}">
{text}
<Thread THREAD_SEQUENCE="{question}_{related}">
<RelQuestion RELQ_ID="{question}_{related}" RELQ_RELEVANCE2ORGQ="{label}">
<RelQSubject>{related}</RelQSubject><RelQBody></RelQBody></RelQuestion>
<RelComment RELC_ID="{question}_{related}_C1"><RelCText>not read</RelCText></RelComment>
</Thread></OrgQuestion>
"""


XML = "<xml>\n" + original("R1", "PerfectMatch") + original("R9", "Irrelevant")
XML += original("R2", "Relevant", "Q2", ORIGINAL.replace("a tree", "an oak")) + "</xml>"
XML_PAIRS = [
    Pair(6, "Q1", "a tree which one & where?", "R1", 1),
    Pair(14, "Q1", "a tree which one & where?", "R9", 0),
    Pair(22, "Q2", "an oak which one & where?", "R2", 1),
]
LINES = [
    {"split": "a", "label": "Irrelevant", "orgq": "be tree", "relq": "oak ", "orgq_body": "Trees"},
    {"split": "a", "label": "Relevant", "orgq": "be tree", "relq": "elm"},
    {"split": "a", "label": "PerfectMatch", "orgq": "other", "relq": "elm"},
    {"split": "b", "label": True, "qid": "Q7", "rid": "Q7_R1", "rank": 1, "orgq_subject": "Oak",
     "orgq_body": " where", "relq_subject": "Ash", "relq_body": ""},
    {"split": "b", "label": False, "qid": "Q7", "orgq": "another wording", "relq": "beech"},
]  # fmt: skip
RELATED_PAIRS = [
    Pair(1, "a-1", "be tree", "oak", 0, "a"),
    Pair(2, "a-1", "be tree", "elm", 1, "a"),
    Pair(3, "a-2", "other", "elm", 1, "a"),
    Pair(4, "Q7", "Oak where", "Ash", 1, "b"),
    Pair(5, "Q7", "Oak where", "beech", 0, "b"),
]


@pytest.fixture
def related_pairs(read_file):
    return lambda content, name="b.xml": read_file(read_related, name, content)


def jsonl(lines=LINES):
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_original_and_related_questions_become_pairs(related_pairs):
    assert related_pairs(XML) == XML_PAIRS


def test_a_question_keeps_its_first_text(related_pairs):
    reworded = ORIGINAL.replace("a tree", "a plant")
    repeated = original("R1", "Relevant") + original("R2", "Relevant", text=reworded)
    questions = {pair.question for pair in related_pairs(f"<xml>{repeated}</xml>")}
    assert questions == {"a tree which one & where?"}


def test_json_lines_become_pairs_with_parts_and_ids(related_pairs):
    assert related_pairs(jsonl(), "b.jsonl") == RELATED_PAIRS


def test_empty_lines_are_skipped_and_ids_normalised(related_pairs):
    lines = [LINES[3], LINES[4] | {"qid": " Q7\u200b"}, LINES[3] | {"qid": 0}, LINES[0]]
    pairs = related_pairs(jsonl(lines) + "\n \n", "b.jsonl")
    assert [pair.question_id for pair in pairs] == ["Q7", "Q7", "0", "a-4"]


def test_a_split_selects_parts_of_its_file(tmp_path):
    path = tmp_path / "b.jsonl"
    path.write_text(jsonl())
    parts = {"train": ["a"], "dev": ["b"], "test": ["b", "a"]}
    arguments = "toy", "semeval_related", dict.fromkeys(SPLITS, str(path)), {}, {}, ()
    corpus = build_corpus(*arguments, parts)
    assert corpus["split"].value_counts().to_dict() == {"train": 3, "dev": 2, "test": 5}
    with pytest.raises(AnalogyQAError, match="no questions in this file"):
        build_corpus(*arguments, parts | {"dev": ["c"]})


def test_ids_of_a_gold_file_become_pairs(read_file):
    assert read_file(read_ids, "a.relevancy", RELATED_GOLD.decode()) == [
        Pair(1, "Q388", "Q388", "Q388_R14", 0, "test2017"),
        Pair(2, "Q388", "Q388", "Q388_R21", 1, "test2017"),
    ]


def test_ids_of_sentence_vectors_are_sorted_and_tell_the_part(read_file):
    names = ["Q268_R1", "Q201_R3", "Q201", "Q200_R10", "Q387_R1", "Q268", "Q200_R9"]
    content = "7 2\n" + "".join(f"{name} 0 1\n" for name in names)
    pairs = [(pair[1:4], pair.label, pair.part) for pair in read_file(read_ids, "a.txt", content)]
    assert pairs == [
        (("Q200", "Q200", "Q200_R9"), 1, "train-part1"),
        (("Q200", "Q200", "Q200_R10"), 1, "train-part1"),
        (("Q201", "Q201", "Q201_R3"), 1, "train-part2"),
        (("Q268", "Q268", "Q268_R1"), 1, "dev"),
        (("Q387", "Q387", "Q387_R1"), 1, "test2016"),
    ]
