"""The bundled sample keeps what sample/README.md promises."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from analogyqa.corpora.table import build_corpus, count_questions
from analogyqa.rewriting.annotate import find_entities
from analogyqa.text import tokenize
from builders.projects import load_script

SAMPLE = Path(__file__).parent.parent / "sample"
FILES = {"wikiqa": "wikiqa/WikiQA-{0}.tsv", "trecqa": "trecqa/{1}.xml"}
QUESTION_TYPES = {name: [name] for name in ("who", "when", "where")}
VALUE = {"who": "person", "when": "year", "where": "place"}

generate = load_script(SAMPLE / "generate.py")


@pytest.fixture(scope="module", params=FILES)
def dataset(request):
    return request.param


@pytest.fixture(scope="module")
def corpus(dataset):
    splits = ("train", "dev", "test")
    files = {name: str(SAMPLE / FILES[dataset].format(name, name.upper())) for name in splits}
    return build_corpus(dataset, dataset, files, QUESTION_TYPES, {})


@pytest.fixture(scope="module")
def typed(corpus):
    """The questions that the pipeline uses."""
    return corpus.dropna(subset="question_type")


@pytest.fixture(scope="module")
def things(dataset):
    return generate.read_things(dataset)


@pytest.fixture(scope="module")
def values(things):
    """The possible answers to questions of each type."""
    return {
        question_type: {getattr(thing, attribute) for thing in things}
        for question_type, attribute in VALUE.items()
    }


def mentions(text: str, name: str) -> bool:
    text, name = text.lower(), name.lower()
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def mrr(typed, score) -> float:
    """Mean reciprocal rank; a tie keeps the order of the file, which is random."""
    scored = typed.assign(score=[score(row) for row in typed.itertuples()])
    ranked = scored.sort_values("score", ascending=False, kind="stable")
    ranked["rank"] = ranked.groupby("question_id").cumcount() + 1
    return (1 / ranked[ranked.label == 1].groupby("question_id")["rank"].min()).mean()


def test_the_script_reproduces_the_sample_which_is_small():
    made = {name: text.encode("utf-8") for name, text in generate.generate().items()}
    assert [name for name in made if (SAMPLE / name).read_bytes() != made[name]] == []
    assert sum(map(len, made.values())) < 1.5e6


def test_check_fails_when_a_file_differs(tmp_path):
    (tmp_path / "facts").symlink_to(SAMPLE / "facts")
    (tmp_path / "generate.py").write_bytes((SAMPLE / "generate.py").read_bytes())
    command = [sys.executable, str(tmp_path / "generate.py")]
    subprocess.run(command, check=True)
    assert subprocess.run([*command, "--check"]).returncode == 0
    with open(tmp_path / "text.txt", "a") as file:
        file.write("another line .\n")
    stale = subprocess.run([*command, "--check"], capture_output=True, text=True)
    assert stale.returncode == 1
    assert "text.txt" in stale.stderr


def test_every_split_has_questions_of_each_type_and_some_that_are_left_out(corpus):
    counts = count_questions(corpus)
    for split, least in {"train": 60, "dev": 15, "test": 20}.items():
        assert min(counts[split].values()) >= least, counts[split]
    questions = corpus.drop_duplicates("question_id")
    assert not questions.question.duplicated().any()
    first = questions.question.str.split().str[0].str.lower()
    for split, words in first.groupby(questions["split"]):
        assert {"what", "how", "which"} <= set(words), split
        is_untyped = words.isin(QUESTION_TYPES) & questions.question_type[words.index].isna()
        assert is_untyped.any(), split


def test_every_question_has_four_to_ten_candidates_and_one_or_two_are_correct(corpus, typed):
    assert corpus.groupby("question_id").size().between(4, 10).all()
    assert typed.groupby("question_id").label.agg(["min", "max"]).eq([0, 1]).all(axis=None)
    assert set(typed.groupby("question_id").label.sum()) == {1, 2}
    assert not corpus.duplicated(["question_id", "candidate"]).any()


def test_no_thing_and_no_person_is_named_in_two_splits(corpus, things):
    text = {
        split: "\n".join([*rows.question.unique(), *rows.candidate])
        for split, rows in corpus.groupby("split")
    }
    for thing in things:
        for name in (thing.name.removeprefix("the "), thing.person):
            assert sum(mentions(part, name) for part in text.values()) == 1, name


def test_answer_types_beat_word_overlap_and_with_the_thing_they_find_every_answer(
    typed, things, values
):
    def overlap(row) -> float:
        question, candidate = set(tokenize(row.question)), set(tokenize(row.candidate))
        return len(question & candidate) / len(question | candidate)

    def answer_type(row) -> float:
        return float(any(mentions(row.candidate, value) for value in values[row.question_type]))

    def type_and_thing(row) -> float:
        another = any(
            mentions(row.candidate, thing.name)
            for thing in things
            if not mentions(row.question, thing.name)
        )
        return answer_type(row) - another

    by_overlap, by_type = mrr(typed, overlap), mrr(typed, answer_type)
    assert by_overlap < 0.5
    assert by_overlap + 0.15 < by_type
    assert 0.65 < by_type < 0.85
    assert mrr(typed, type_and_thing) > 0.97


def test_the_text_is_tokenised_and_has_every_word_of_the_sample_five_times(corpus):
    lines = (SAMPLE / "text.txt").read_text(encoding="utf-8").splitlines()
    assert all(line == " ".join(tokenize(line)) for line in lines)
    text = Counter(word for line in lines for word in line.split())
    assert 15_000 < text.total() < 40_000
    words = {
        word for sentence in {*corpus.question, *corpus.candidate} for word in tokenize(sentence)
    }
    assert [word for word in words if text[word] < 5] == []


def test_the_entities_of_a_correct_candidate_include_its_fact(typed, values):
    labels = {"who": ["PERSON"], "when": ["DATE"], "where": ["GPE"]}
    entities = find_entities(typed, str(SAMPLE / "entities.jsonl"), labels)
    by_candidate = entities.groupby("candidate_id")["entity"].agg(set)
    for row in typed[typed["label"] == 1].itertuples():
        facts = {value for value in values[row.question_type] if mentions(row.candidate, value)}
        assert facts & by_candidate.get(row.candidate_id, set()), row.candidate
