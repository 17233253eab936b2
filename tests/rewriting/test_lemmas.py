"""Lemmas of a corpus, by a small rule-based pipeline that is built here."""

import shutil
from pathlib import Path

import pytest
import spacy

from analogyqa.errors import AnalogyQAError
from analogyqa.rewriting.annotate import installed, lemmatise_corpus, load_model
from analogyqa.schemas import CORPUS, read_table, write_table

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
QUESTIONS = [
    ("train", "Old trees grew slowly !", [("trees are old", 1), ("slowly", 0)]),
    ("dev", "trees grow", [("Doha", 1)]),
    ("test", "Doha", [("trees", 1)]),
]


@pytest.fixture
def pipeline(tmp_path):
    """Save a pipeline with the given lemmas and parts of speech, and return its folder."""

    def save(rules=RULES, *components):
        nlp = spacy.blank("en")
        ruler = nlp.add_pipe("attribute_ruler")
        for text, (lemma, part_of_speech) in rules.items():
            attributes = {"LEMMA": lemma, "POS": part_of_speech}
            ruler.add([[{"LOWER": text.lower()}]], {k: v for k, v in attributes.items() if v})
        for name in components:
            nlp.add_pipe(name)
        nlp.to_disk(tmp_path / "model")
        return str(tmp_path / "model")

    return save


def texts_of(table):
    return [(row.question, row.candidate) for row in table.itertuples()]


def test_lemmas_of_all_words_and_of_content_words(make_corpus, pipeline, tmp_path):
    corpus = make_corpus(QUESTIONS)
    words, content = lemmatise_corpus(corpus, pipeline(), ["NOUN", "PROPN", "VERB", "ADJ"])
    assert texts_of(words) == [
        ("old tree grow slowly", "tree be old"),
        ("old tree grow slowly", "slowly"),
        ("tree grow", "doha"),
        ("doha", "tree"),
    ]
    assert texts_of(content) == [
        ("old tree grow", "tree old"),
        ("old tree grow", ""),
        ("tree grow", "doha"),
        ("doha", "tree"),
    ]
    for table in (words, content):
        write_table(table, CORPUS, tmp_path / "table.parquet")
        unchanged = [name for name in CORPUS.names if name not in ("question", "candidate")]
        restored = read_table(tmp_path / "table.parquet", CORPUS)[unchanged]
        assert restored.astype(str).equals(corpus[unchanged].astype(str))


def test_stop_words_of_a_file_are_compared_with_lemmas(make_corpus, pipeline):
    _, content = lemmatise_corpus(make_corpus(QUESTIONS), pipeline(), ["NOUN", "VERB"], {"grow"})
    assert texts_of(content)[0] == ("tree", "tree be")


def test_unneeded_components_are_disabled(make_corpus, pipeline, monkeypatch):
    choices = []
    select = spacy.language.Language.select_pipes

    def recording(self, **choice):
        choices.append(choice)
        return select(self, **choice)

    monkeypatch.setattr(spacy.language.Language, "select_pipes", recording)
    lemmatise_corpus(make_corpus(QUESTIONS), pipeline(RULES, "entity_ruler"), ["NOUN"])
    enabled = choices[-1]["enable"]
    assert enabled and "entity_ruler" not in enabled


@pytest.mark.parametrize(
    ("rules", "keep", "message"),
    [
        ({text: ("", part) for text, (_, part) in RULES.items()}, ["NOUN"], "gives no lemmas"),
        (RULES, ["NUM", "X"], "gives no words of NUM, X"),
    ],
)
def test_a_model_without_lemmas_or_parts_of_speech_is_refused(
    make_corpus, pipeline, rules, keep, message
):
    with pytest.raises(AnalogyQAError, match=message):
        lemmatise_corpus(make_corpus(QUESTIONS), pipeline(rules), keep)


def test_a_model_that_fails_on_first_use_is_an_error(make_corpus, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger").add_label("NN")
    nlp.initialize()
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "model" / "tagger" / "cfg").unlink()
    with pytest.raises(AnalogyQAError, match=rf"{tmp_path}/model: spaCy cannot load .*lemmas"):
        lemmatise_corpus(make_corpus(QUESTIONS), str(tmp_path / "model"), ["NOUN"])


def test_a_model_is_read_from_its_wheel(tmp_path):
    folder = tmp_path / "package/en_tiny/en_tiny-1.0"
    folder.mkdir(parents=True)
    spacy.blank("en", meta={"name": "tiny"}).to_disk(folder)
    wheel = Path(shutil.make_archive(str(tmp_path / "en_tiny"), "zip", tmp_path / "package"))
    wheel = wheel.rename(wheel.with_suffix(".whl"))
    assert installed(str(wheel))
    assert load_model(str(wheel), lambda nlp: nlp.pipe_names, "").meta["name"] == "tiny"
