"""Named entities and lemmas, found by pattern files and by small models built here."""

import hashlib
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import spacy
from spacy.training import Example

from analogyqa.errors import AnalogyQAError
from analogyqa.rewriting.annotate import (
    find_entities,
    installed,
    lemmatise_corpus,
    load_model,
    model_record,
)
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


@pytest.fixture
def save(tmp_path):
    def save(nlp: spacy.language.Language) -> str:
        nlp.to_disk(tmp_path / "model")
        return str(tmp_path / "model")

    return save


# Models


@pytest.mark.parametrize("model", ["no_such_package", "none.jsonl", "."])
def test_a_missing_model_is_an_error(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AnalogyQAError, match=r"spaCy cannot load .* spacy download"):
        model_record(model, LABELS)


def test_a_model_that_fails_on_first_use_is_an_error(tmp_path, save):
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger").add_label("NN")
    nlp.initialize()
    folder = save(nlp)
    Path(folder, "tagger", "cfg").unlink()
    with pytest.raises(AnalogyQAError, match=rf"{folder}: spaCy cannot load .*a remedy"):
        load_model(folder, lambda nlp: nlp.pipe_names, "a remedy")


def test_a_model_is_read_from_its_wheel(tmp_path):
    folder = tmp_path / "package/en_tiny/en_tiny-1.0"
    folder.mkdir(parents=True)
    spacy.blank("en", meta={"name": "tiny"}).to_disk(folder)
    wheel = Path(shutil.make_archive(str(tmp_path / "en_tiny"), "zip", tmp_path / "package"))
    wheel = wheel.rename(wheel.with_suffix(".whl"))
    assert installed(str(wheel))
    assert load_model(str(wheel), lambda nlp: nlp.pipe_names, "").meta["name"] == "tiny"


def test_installed_accepts_packages_folders_and_pattern_files(patterns, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.jsonl").mkdir()
    assert all(map(installed, ("json", str(tmp_path), patterns)))
    for model in ("en_core_web_none", "./none", "none.jsonl", "folder.jsonl", "a.b"):
        assert not installed(model), model


# Entities


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
def ner_model(save):
    """Save a model of named entities that may listen to a shared layer, and return its folder."""

    def build(listens: bool = False) -> str:
        nlp = spacy.blank("en")
        listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}
        nlp.add_pipe("tok2vec")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("ner", config={"model": {"tok2vec": listener}} if listens else {})
        entities = {"entities": [(0, 3, "PERSON")]}
        nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("Ada left"), entities)])
        return save(nlp)

    return build


def test_questions_get_entities_of_their_type(corpus, patterns, tmp_path):
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
    # The same from and to Parquet, also without an entity.
    path = tmp_path / "table.parquet"
    write_table(corpus, CORPUS, path)
    stored = find_entities(read_table(path, CORPUS), patterns, LABELS)
    write_table(stored, ENTITIES, path)
    assert read_table(path, ENTITIES).astype(str).equals(entities.astype(str))
    write_table(entities[:0], ENTITIES, path)


def test_treebank_quotes_and_brackets_are_plain(make_corpus, tmp_path):
    pattern = {"label": "GPE", "pattern": [{"IS_PUNCT": True}] * 2}
    model = write_patterns(tmp_path / "p.jsonl", [pattern])
    text = "`` -LRB- a '' -RRB- b -LSB- '' c -LCB- -RCB-"
    corpus = make_corpus([("train", "where ?", [(text, 1)])])
    assert find_entities(corpus, model, LABELS)["entity"].tolist() == ['" (', '" )', '[ "', "{ }"]


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


def test_the_record_has_name_version_and_labels_of_the_model(patterns, ner_model):
    assert model_record(patterns, LABELS) == {
        "name": "entities.jsonl",
        "version": hashlib.sha256(Path(patterns).read_bytes()).hexdigest(),
        "labels": {"who": ["PERSON"], "when": ["DATE"], "where": ["GPE", "FAC"]},
    }
    labels = {"who": ["PERSON"], "when": [], "where": []}
    expected = {"name": "en_pipeline", "version": "0.0.0", "labels": labels}
    assert model_record(ner_model(), LABELS) == expected


@pytest.mark.parametrize("listens", [True, False])
def test_only_needed_components_run_once_on_each_candidate(ner_model, corpus, monkeypatch, listens):
    folder, components, texts = ner_model(listens), [], []
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


@pytest.mark.parametrize("patterns", [[], PATTERNS[-1:]])
def test_a_model_without_the_labels_is_refused(patterns, tmp_path):
    model = write_patterns(tmp_path / "p.jsonl", patterns)
    with pytest.raises(AnalogyQAError, match=r"p\.jsonl: .*none of the entity labels PERSON, D"):
        model_record(model, LABELS)


# Lemmas

RULES = {
    "trees": ("tree", "NOUN"),
    "grow": ("grow", "VERB"),
    "grew": ("grow", "VERB"),
    "old": ("old", "ADJ"),
    "are": ("be", "VERB"),  # a stop word
    "slowly": ("slowly", "ADV"),
    "Doha": ("Doha", "PROPN"),
    "!": ("!", "NOUN"),
}
TREES = [
    ("train", "Old trees grew slowly !", [("trees are old", 1), ("slowly", 0)]),
    ("dev", "trees grow", [("Doha", 1)]),
    ("test", "Doha", [("trees", 1)]),
]


@spacy.language.Language.component("entities", assigns=["doc.ents"])
def find_no_entities(doc):
    pytest.fail("this takes time, and lemmas do not need it")


@pytest.fixture
def tagger(save):
    """Save a pipeline with the given lemmas and parts of speech, and return its folder."""

    def build(rules=RULES) -> str:
        nlp = spacy.blank("en")
        nlp.add_pipe("entities")
        ruler = nlp.add_pipe("attribute_ruler")
        for text, (lemma, part_of_speech) in rules.items():
            lemmas = {"LEMMA": lemma} if lemma else {}
            ruler.add([[{"LOWER": text.lower()}]], {"POS": part_of_speech} | lemmas)
        return save(nlp)

    return build


def list_texts(table):
    return [(row.question, row.candidate) for row in table.itertuples()]


def test_lemmas_of_all_words_and_of_content_words(make_corpus, tagger, tmp_path):
    corpus = make_corpus(TREES)
    words, content = lemmatise_corpus(corpus, tagger(), ["NOUN", "PROPN", "VERB", "ADJ"])
    rest = [("tree grow", "doha"), ("doha", "tree")]
    question = "old tree grow slowly"
    assert list_texts(words) == [(question, "tree be old"), (question, "slowly"), *rest]
    assert list_texts(content) == [("old tree grow", "tree old"), ("old tree grow", ""), *rest]
    for table in (words, content):
        write_table(table, CORPUS, tmp_path / "table.parquet")
        unchanged = [name for name in CORPUS.names if name not in ("question", "candidate")]
        restored = read_table(tmp_path / "table.parquet", CORPUS)[unchanged]
        assert restored.astype(str).equals(corpus[unchanged].astype(str))
    # Stop words of a file are compared with lemmas.
    _, content = lemmatise_corpus(corpus, tagger(), ["NOUN", "VERB"], {"grow"})
    assert list_texts(content)[0] == ("tree", "tree be")


@pytest.mark.parametrize(
    ("rules", "keep", "message"),
    [
        ({text: ("", part) for text, (_, part) in RULES.items()}, ["NOUN"], "gives no lemmas"),
        (RULES, ["NUM", "X"], "gives no words of NUM, X"),
    ],
)
def test_a_model_without_lemmas_or_parts_of_speech_is_refused(
    make_corpus, tagger, rules, keep, message
):
    with pytest.raises(AnalogyQAError, match=message):
        lemmatise_corpus(make_corpus(TREES), tagger(rules), keep)
