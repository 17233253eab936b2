"""Named entities of candidates, found by pattern files and by small models built here."""

import hashlib
import json

import pandas as pd
import pytest
import spacy
from spacy.training import Example

from analogyqa.errors import AnalogyQAError
from analogyqa.rewriting.annotate import find_entities, installed, model_record
from analogyqa.schemas import CORPUS, ENTITIES, read_table, write_table

PATTERNS = [
    {"label": "PERSON", "pattern": "Ada Lovelace"},
    {"label": "PERSON", "pattern": [{"LOWER": "babbage"}]},
    {"label": "GPE", "pattern": "London"},
    {"label": "FAC", "pattern": "the Science Museum"},
    {"label": "DATE", "pattern": [{"SHAPE": "dddd"}]},
    {"label": "ORG", "pattern": "Royal Society"},
]
LABELS = {"who": ["PERSON"], "when": ["DATE", "TIME"], "where": ["GPE", "LOC", "FAC"]}  # OntoNotes
QUESTIONS = [
    ("train", "who wrote notes ?", [("Ada Lovelace wrote in London in 1843 .", 1)]),
    ("train", "where is it ?", [("In London , in the Science Museum .", 1), ("In 1843 .", 0)]),
    ("dev", "when was it ?", [("Ada Lovelace wrote in London in 1843 .", 1)]),
    ("dev", "what did Ada Lovelace write ?", [("Ada Lovelace wrote notes .", 1)]),
    ("test", "who was it ?", [("Babbage met Ada Lovelace , and Babbage left .", 1)]),
    ("test", "who is never found ?", [("Ada Lovelace , perhaps .", 0)]),
]


def write_patterns(path, patterns=PATTERNS) -> str:
    path.write_text("".join(json.dumps(pattern) + "\n" for pattern in patterns), "utf-8")
    return str(path)


@pytest.fixture
def patterns(tmp_path) -> str:
    return write_patterns(tmp_path / "entities.jsonl")


@pytest.fixture
def corpus(make_corpus) -> pd.DataFrame:
    return make_corpus(QUESTIONS)


@pytest.fixture
def pipeline(tmp_path):
    """Save an empty pipeline with the given components, and return its folder."""

    def save(*components: tuple[str, dict]) -> str:
        nlp = spacy.blank("en")
        for name, settings in components:
            nlp.add_pipe(name, config=settings)
        if "ner" in nlp.pipe_names:
            text = nlp.make_doc("Ada left")
            example = Example.from_dict(text, {"entities": [(0, 3, "PERSON")]})
            nlp.initialize(lambda: [example])
        nlp.to_disk(tmp_path / "model")
        return str(tmp_path / "model")

    return save


def test_questions_get_entities_of_their_type(corpus, patterns):
    entities = find_entities(corpus, patterns, LABELS)
    assert entities.to_numpy().tolist() == [
        ["train", "q0", "q0-0", "Ada Lovelace", "who"],
        ["train", "q1", "q1-0", "London", "where"],
        ["train", "q1", "q1-0", "the Science Museum", "where"],
        ["dev", "q2", "q2-0", "1843", "when"],
        ["test", "q4", "q4-0", "Babbage", "who"],
        ["test", "q4", "q4-0", "Ada Lovelace", "who"],
        ["test", "q4", "q4-0", "Babbage", "who"],
    ]


def test_treebank_quotes_and_brackets_are_plain(make_corpus, tmp_path):
    model = write_patterns(
        tmp_path / "p.jsonl", [{"label": "GPE", "pattern": [{"IS_PUNCT": True}] * 2}]
    )
    text = "`` -LRB- a '' -RRB- b -LSB- '' c -LCB- -RCB-"
    corpus = make_corpus([("train", "where ?", [(text, 1)])])
    assert find_entities(corpus, model, LABELS)["entity"].tolist() == ['" (', '" )', '[ "', "{ }"]


def test_entities_round_trip_through_parquet(corpus, patterns, tmp_path):
    write_table(corpus, CORPUS, tmp_path / "corpus.parquet")
    entities = find_entities(read_table(tmp_path / "corpus.parquet", CORPUS), patterns, LABELS)
    write_table(entities, ENTITIES, tmp_path / "entities.parquet")
    restored = read_table(tmp_path / "entities.parquet", ENTITIES)
    assert restored.astype(str).equals(find_entities(corpus, patterns, LABELS).astype(str))
    write_table(entities[:0], ENTITIES, tmp_path / "entities.parquet")


def test_types_may_share_a_label(corpus, patterns):
    corpus = corpus.assign(question_type=corpus["question_type"].replace("when", "which"))
    labels = {"who": ["PERSON", "ORG"], "which": ["PERSON", "GPE"]}
    entities = find_entities(corpus, patterns, labels)
    assert entities[["question_id", "entity", "entity_type"]].to_numpy().tolist() == [
        ["q0", "Ada Lovelace", "who"],
        ["q2", "Ada Lovelace", "which"],
        ["q2", "London", "which"],
        *(["q4", name, "who"] for name in ("Babbage", "Ada Lovelace", "Babbage")),
    ]
    assert model_record(patterns, labels)["labels"] == labels


def test_the_record_of_patterns_has_their_hash(patterns, tmp_path):
    content = (tmp_path / "entities.jsonl").read_bytes()
    assert model_record(patterns, LABELS) == {
        "name": "entities.jsonl",
        "version": hashlib.sha256(content).hexdigest(),
        "labels": {"who": ["PERSON"], "when": ["DATE"], "where": ["GPE", "FAC"]},
    }


def test_the_record_of_a_model_has_its_name_and_version(pipeline):
    folder = pipeline(("sentencizer", {}), ("ner", {}))
    record = model_record(folder, LABELS)
    assert (record["name"], record["version"]) == ("en_pipeline", "0.0.0")
    assert record["labels"] == {"who": ["PERSON"], "when": [], "where": []}


@pytest.mark.parametrize("listens", [True, False])
def test_only_needed_components_run_once_on_each_candidate(pipeline, corpus, monkeypatch, listens):
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}
    shared = {"model": {"tok2vec": listener}} if listens else {}
    folder = pipeline(("tok2vec", {}), ("sentencizer", {}), ("ner", shared))
    components, texts = [], []
    pipe = spacy.language.Language.pipe

    def recording(nlp, documents):
        texts.extend(documents := list(documents))
        components.extend(nlp.pipe_names)
        return pipe(nlp, documents)

    monkeypatch.setattr(spacy.language.Language, "pipe", recording)
    find_entities(corpus, folder, LABELS)
    assert components == (["tok2vec", "ner"] if listens else ["ner"])
    typed = corpus.dropna(subset="question_type")
    assert sorted(texts) == sorted(set(typed["candidate"])) != sorted(typed["candidate"])


@pytest.mark.parametrize("model", ["no_such_package", "none.jsonl", "."])
def test_a_missing_model_is_an_error(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AnalogyQAError, match=r"spaCy cannot load .* spacy download"):
        model_record(model, LABELS)


@pytest.mark.parametrize("patterns", [[], [{"label": "ORG", "pattern": "Royal Society"}]])
def test_a_model_without_the_labels_is_refused(patterns, tmp_path):
    model = write_patterns(tmp_path / "p.jsonl", patterns)
    with pytest.raises(AnalogyQAError, match=r"p\.jsonl: .*none of the entity labels PERSON, D"):
        model_record(model, LABELS)


def test_a_model_without_entities_is_refused(pipeline):
    with pytest.raises(AnalogyQAError, match="none of the entity labels"):
        model_record(pipeline(("sentencizer", {})), LABELS)


def test_installed_accepts_packages_folders_and_pattern_files(patterns, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.jsonl").mkdir()
    assert installed("json")
    assert installed(str(tmp_path))
    assert installed(patterns)
    for model in ("en_core_web_none", "./none", "none.jsonl", "folder.jsonl", "a.b"):
        assert not installed(model), model
