"""The bundled sample keeps what sample/README.md promises."""

import re
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from analogyqa.corpora.table import build_corpus, count_questions
from analogyqa.evaluation.published import FRAME
from analogyqa.evaluation.summary import FIGURE, to_frame, write_csv
from analogyqa.rewriting.annotate import find_entities
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.paper import load_paper
from analogyqa.text import tokenize
from builders.projects import load_script

SAMPLE = Path(__file__).parent.parent / "sample"
FILES = {"wikiqa": "wikiqa/WikiQA-{0}.tsv", "trecqa": "trecqa/{1}.xml"}
QUESTION_TYPES = {name: [name] for name in ("who", "when", "where")}
VALUE = {"who": "person", "when": "year", "where": "place"}

BM25 = Coordinates(system="bm25", dataset="wikiqa", subset="comb", measure="mrr")

generate, reference = (load_script(SAMPLE / f"{name}.py") for name in ("generate", "reference"))


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
def facts(typed, things):
    """The answers that each candidate names, of the type of its question."""
    values = {name: {getattr(thing, key) for thing in things} for name, key in VALUE.items()}
    rows = zip(typed["candidate"], typed["question_type"], strict=True)
    return [
        {value for value in values[question_type] if mentions(candidate, value)}
        for candidate, question_type in rows
    ]


def mentions(text: str, name: str) -> bool:
    text, name = text.lower(), name.lower()
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def test_the_script_reproduces_the_sample_which_is_small():
    made = {name: text.encode("utf-8") for name, text in generate.generate().items()}
    assert [name for name in made if (SAMPLE / name).read_bytes() != made[name]] == []
    assert sum(map(len, made.values())) < 1.5e6


def test_check_names_a_file_that_differs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(generate, "HERE", tmp_path)
    monkeypatch.setattr(generate, "generate", lambda: {"text.txt": "a line .\n"})
    for arguments in ([], ["--check"]):
        monkeypatch.setattr(sys, "argv", ["generate.py", *arguments])
        assert generate.main() == 0
    (tmp_path / "text.txt").write_text("another line .\n")
    assert generate.main() == 1
    assert "text.txt" in capsys.readouterr().err


def test_every_split_has_questions_of_each_type_and_some_that_are_left_out(corpus):
    counts = count_questions(corpus)
    questions = corpus.drop_duplicates("question_id")
    assert not questions.question.duplicated().any()
    for split, least in {"train": 60, "dev": 15, "test": 20}.items():
        assert min(counts[split].values()) >= least, counts[split]
        untyped = questions[(questions.split == split) & questions.question_type.isna()]
        words = {*untyped.question.str.split().str[0].str.lower()}
        assert words > {"what", "how", "which"} and words & {*QUESTION_TYPES}


def test_every_question_has_four_to_ten_candidates_and_one_or_two_are_correct(corpus, typed):
    assert corpus.groupby("question_id").size().between(4, 10).all()
    labels = typed.groupby("question_id").label
    assert labels.min().eq(0).all() and {*labels.sum()} == {1, 2}
    assert not corpus.duplicated(["question_id", "candidate"]).any()


def test_no_thing_and_no_person_is_named_in_two_splits(corpus, things):
    texts = ["\n".join([*rows.question.unique(), *rows.candidate])
             for _, rows in corpus.groupby("split")]  # fmt: skip
    for thing in things:
        for name in (thing.name.removeprefix("the "), thing.person):
            assert sum(mentions(text, name) for text in texts) == 1, name


def test_answer_types_beat_word_overlap_and_with_the_thing_they_find_every_answer(
    typed, things, facts
):
    def mrr(scores) -> float:
        """Mean reciprocal rank; a tie keeps the order of the file, which is random."""
        ranked = typed.assign(score=scores).sort_values("score", ascending=False, kind="stable")
        ranked["rank"] = ranked.groupby("question_id").cumcount() + 1
        return (1 / ranked[ranked.label == 1].groupby("question_id")["rank"].min()).mean()

    overlap, of_type, of_type_and_thing = [], [], []
    for row, named in zip(typed.itertuples(), facts, strict=True):
        question, candidate = {*tokenize(row.question)}, {*tokenize(row.candidate)}
        overlap.append(len(question & candidate) / len(question | candidate))
        of_type.append(float(bool(named)))
        others = [thing for thing in things if not mentions(row.question, thing.name)]
        is_other = any(mentions(row.candidate, thing.name) for thing in others)
        of_type_and_thing.append(of_type[-1] - is_other)
    assert mrr(overlap) < 0.5
    assert max(0.65, mrr(overlap) + 0.15) < mrr(of_type) < 0.85
    assert mrr(of_type_and_thing) > 0.97


def test_the_text_is_tokenised_and_has_every_word_of_the_sample_five_times(corpus):
    lines = (SAMPLE / "text.txt").read_text(encoding="utf-8").splitlines()
    assert all(line == " ".join(tokenize(line)) for line in lines)
    text = Counter(word for line in lines for word in line.split())
    assert 15_000 < text.total() < 40_000
    sentences = {*corpus.question, *corpus.candidate}
    assert min(text[word] for sentence in sentences for word in tokenize(sentence)) >= 5


def test_the_entities_of_a_correct_candidate_include_its_fact(typed, facts):
    labels = {"who": ["PERSON"], "when": ["DATE"], "where": ["GPE"]}
    entities = find_entities(typed, str(SAMPLE / "entities.jsonl"), labels)
    by_candidate = entities.groupby("candidate_id")["entity"].agg(set)
    for row, named in zip(typed.itertuples(), facts, strict=True):
        assert not row.label or named & by_candidate[row.candidate_id], row.candidate


def test_the_reference_run_writes_its_values_into_the_paper(tmp_path):
    """The values of another run replace those of the paper, and nothing else."""
    paper = load_paper(reference.PAPER)
    text = reference.PAPER.read_text("utf-8")
    table = tmp_path / "table4.csv"
    numbers = [number._asdict() for number in paper.artefacts["table4"].numbers()]
    frame = pd.DataFrame(numbers).assign(mean=lambda rows: rows["published"])
    write_csv(to_frame(frame[["row", "column", "kind", "mean"]].to_dict("records"), FRAME), table)
    values = reference.printed_values(table)
    assert values["Comb."][0] == f"{paper.published_at(BM25):.3f}"
    assert reference.with_values(text, "table4", values) == text
    other = reference.with_values(text, "table4", values | {"Comb.": ["0.1", "0.2", "0.3", "0.4"]})
    changed = {line for line in other.splitlines() if line not in text.splitlines()}
    assert changed == {"      Comb.: [0.1, 0.2, 0.3, 0.4]"}


def test_the_best_point_of_a_figure_is_written(tmp_path):
    points = [("A", 10, 0.4), ("A", 20, 0.5), ("B", 10, 0.7), ("B", 20, 0.6)]
    rows = [{"panel": "MRR", "line": line, "x": str(x), "mean": mean} for line, x, mean in points]
    write_csv(to_frame(rows, FIGURE), tmp_path / "figure7.csv")
    assert reference.printed_values(tmp_path / "figure7.csv") == {"A": ["20"], "B": ["10"]}
