"""The bundled sample keeps what sample/README.md promises."""

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from analogyqa.corpora.table import build_corpus, count_questions
from analogyqa.rewriting.entities import find_entities
from analogyqa.text import tokenize

SAMPLE = Path(__file__).parent.parent / "sample"
FILES = {"wikiqa": "wikiqa/WikiQA-{0}.tsv", "trecqa": "trecqa/{1}.xml"}
SPLITS = ("train", "dev", "test")
QUESTION_TYPES = {name: [name] for name in ("who", "when", "where")}
VALUE = {"who": "person", "when": "year", "where": "place"}

_spec = importlib.util.spec_from_file_location("generate", SAMPLE / "generate.py")
generate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)


@pytest.fixture(scope="module", params=FILES)
def dataset(request):
    return request.param


@pytest.fixture(scope="module")
def corpus(dataset):
    files = {each: str(SAMPLE / FILES[dataset].format(each, each.upper())) for each in SPLITS}
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
    """All that may answer a question, by its type."""
    return {kind: {getattr(thing, value) for thing in things} for kind, value in VALUE.items()}


@cache  # of more names than Python keeps patterns
def pattern_of(name: str) -> re.Pattern:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def mentions(text: str, name: str) -> bool:
    return pattern_of(name).search(text) is not None


def mrr(typed, score) -> float:
    """Mean reciprocal rank; a tie keeps the order of the file, which is random."""
    scored = typed.assign(score=[score(row) for row in typed.itertuples()])
    ranked = scored.sort_values("score", ascending=False, kind="stable")
    ranked["rank"] = ranked.groupby("question_id").cumcount() + 1
    return (1 / ranked[ranked.label == 1].groupby("question_id")["rank"].min()).mean()


def test_the_script_writes_the_same_bytes_again_and_they_are_few():
    made = {name: text.encode("utf-8") for name, text in generate.generate().items()}
    assert [name for name in made if (SAMPLE / name).read_bytes() != made[name]] == []
    sizes = [len(content) for content in made.values()]
    assert max(sizes) < 1024**2
    assert sum(sizes) < 1.5e6


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


def test_every_type_has_enough_questions_in_every_split(corpus):
    counts = count_questions(corpus)
    for split, least in {"train": 60, "dev": 15, "test": 20}.items():
        assert min(counts[split].values()) >= least, counts[split]


def test_every_question_has_four_to_ten_candidates_of_them_one_or_two_correct(corpus, typed):
    assert corpus.groupby("question_id").size().between(4, 10).all()
    assert typed.groupby("question_id").label.agg(["min", "max"]).eq([0, 1]).all(axis=None)
    assert set(typed.groupby("question_id").label.sum()) == {1, 2}
    assert not corpus.duplicated(["question_id", "candidate"]).any()


def test_every_split_has_questions_that_the_pipeline_leaves_out(corpus):
    for split, rows in corpus.groupby("split"):
        questions = rows.drop_duplicates("question_id")
        first = questions.question.str.split().str[0].str.lower()
        assert {"what", "how", "which"} <= set(first), split
        without = questions[first.isin(QUESTION_TYPES) & questions.question_type.isna()]
        assert not without.empty, split
        answers = rows[rows.question_id.isin(without.question_id)]
        assert answers.label.sum() == 0, split


def test_question_ids_are_unique(corpus):
    owners = corpus.groupby("question_id")[["split", "question"]].nunique()
    assert owners.eq(1).all(axis=None)
    assert not corpus.drop_duplicates("question_id").question.duplicated().any()


def test_the_splits_divide_the_things(dataset, things):
    splits = generate.split_things(dataset)
    assert sorted(thing for part in splits.values() for thing in part) == sorted(things)
    assert len({thing.person for thing in things}) == len(things)


def test_no_thing_and_no_person_is_named_in_two_splits(corpus, things):
    text = {
        split: "\n".join([*rows.question.unique(), *rows.candidate])
        for split, rows in corpus.groupby("split")
    }
    for thing in things:
        for name in (thing.name.removeprefix("the "), thing.person):
            assert sum(mentions(part, name) for part in text.values()) == 1, name


def test_the_data_sets_share_no_thing():
    names = [{t.name.lower() for t in generate.read_things(dataset)} for dataset in FILES]
    assert not names[0] & names[1]


def test_no_name_reveals_its_answer(things):
    for thing in things:
        for value in (*thing.person.split(), thing.year, thing.place):
            assert not mentions(thing.name, value), thing


def test_word_overlap_finds_no_answer_the_answer_type_some_and_with_the_thing_all(
    typed, things, values
):
    def overlap(row) -> float:
        question, candidate = set(tokenize(row.question)), set(tokenize(row.candidate))
        return len(question & candidate) / len(question | candidate)

    def answer_type(row) -> float:
        return float(any(mentions(row.candidate, value) for value in values[row.question_type]))

    def type_and_thing(row) -> float:
        another = any(
            mentions(row.candidate, t.name) for t in things if not mentions(row.question, t.name)
        )
        return answer_type(row) - another

    by_overlap, by_type = mrr(typed, overlap), mrr(typed, answer_type)
    assert by_overlap < 0.5
    assert by_overlap + 0.15 < by_type
    assert 0.65 < by_type < 0.85
    assert mrr(typed, type_and_thing) > 0.97


def test_correct_and_wrong_candidates_are_equally_long(typed):
    for kind in QUESTION_TYPES:
        rows = typed[typed.question_type == kind]
        mean = rows.candidate.map(lambda text: len(tokenize(text))).groupby(rows.label).mean()
        assert abs(mean[1] / mean[0] - 1) < 0.15, kind


def test_correct_candidates_come_at_every_position(typed):
    groups = typed.groupby("question_id")
    place, size = groups.cumcount(), groups.label.transform("size")
    correct = typed.label == 1
    assert abs((place / (size - 1))[correct].mean() - 0.5) < 0.05
    for at_the_edge in (place == 0, place == size - 1):
        assert abs(at_the_edge[correct].mean() - (1 / size[correct]).mean()) < 0.05


def test_the_text_is_tokenised_and_has_every_word_of_the_sample_five_times(corpus):
    lines = (SAMPLE / "text.txt").read_text(encoding="utf-8").splitlines()
    assert all(line == " ".join(tokenize(line)) for line in lines)
    text = Counter(word for line in lines for word in line.split())
    assert 15_000 < text.total() < 40_000
    words = {w for s in {*corpus.question, *corpus.candidate} for w in tokenize(s)}
    assert [word for word in words if text[word] < 5] == []


def test_the_entities_of_a_correct_candidate_hold_the_fact_that_it_tells(typed, values):
    labels = {"who": ["PERSON"], "when": ["DATE"], "where": ["GPE"]}
    entities = find_entities(typed, str(SAMPLE / "entities.jsonl"), labels)
    found = entities.groupby("candidate_id")["entity"].agg(set)
    for row in typed[typed["label"] == 1].itertuples():
        told = {value for value in values[row.question_type] if mentions(row.candidate, value)}
        assert told & found.get(row.candidate_id, set()), row.candidate
