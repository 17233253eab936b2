"""From sentences to the table of a category."""

import gzip

import pandas as pd
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.analogies import induce
from analogyqa.analogies.distractors import letters
from analogyqa.analogies.induce import SentencePair, choose_pairs, induce_category, read_sentences
from analogyqa.analogies.specs import DISTRACTOR_STYLES, DISTRACTORS, RuleSpec
from analogyqa.errors import AnalogyQAError
from analogyqa.settings.data import Category
from builders.documents import UD, doc


class Parser:
    """Give every text the same hand-made parse."""

    def __call__(self, text):
        return doc(UD)

    def pipe(self, texts, batch_size):
        return (doc(UD) for text in texts)


@pytest.fixture(autouse=True)
def parser(monkeypatch):
    monkeypatch.setattr(induce, "load_parser", lambda model: Parser())


def test_unique_sentences_are_read_from_every_format(tmp_path):
    files = {
        "sick.txt": "ID\tsentence_A\tsentence_B\tscore\n1\tA man is here\tA dog runs fast\t3\n",
        "snli.txt": "a man is here\ttwo dogs , and a cat , sleep\t1\n",
        "odd.txt": "Too (odd) to read it\tone two\t0\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with gzip.open(tmp_path / "wiki.txt.gz", "wt") as file:
        file.write("the first line here .\nit did n't end well .\n")
    paths = [tmp_path / name for name in (*files, "wiki.txt.gz")]
    assert read_sentences(paths, 3, 10) == {
        "A man is here.": "sick.txt",
        "A dog runs fast.": "sick.txt",
        "Two dogs, and a cat, sleep.": "snli.txt",
        "The first line here.": "wiki.txt.gz",
        "It didn't end well.": "wiki.txt.gz",
    }


def induce_templates(tmp_path, words: str, pairs: int, *templates: str) -> pd.DataFrame:
    (tmp_path / "words.txt").write_text(f": a\n{words}\n")
    keys = {"words": [["./x"], "a"], "templates": [*templates]}
    category = Category(title="A", rule="templates", pairs=pairs, **keys)
    return induce_category(category, str(tmp_path / "words.txt"), [], {}, "", 0)


def test_a_template_category_has_at_most_the_configured_pairs(tmp_path):
    words = "Rome Italy Oslo Norway\nParis France Rome Lazio"
    frame = induce_templates(tmp_path, words, 5, "In {}.", "To {}.")
    # Only the first of Rome's two pairs is used; three pairs and two templates give six sentences.
    assert frame["first"].is_unique
    assert len(frame) == 5
    # The sentences of one pair of words have the same id before the dot.
    first_words = frame["first"].str.extract("(Rome|Oslo|Paris)")[0]
    expected = first_words.map({"Rome": "0001", "Oslo": "0002", "Paris": "0003"})
    assert (frame["pair_id"].str.split(".").str[0] == expected).all()
    assert frame["pair_id"].is_unique
    assert frame["distractors"].map(len).eq(0).all()


def test_a_bare_placeholder_gives_bare_words(tmp_path):
    frame = induce_templates(tmp_path, "Rome Italy Oslo Norway", 2, "{}")
    assert frame[["first", "second"]].to_numpy().tolist() == [["Rome", "Italy"], ["Oslo", "Norway"]]


def inferences(*rows: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["premise", "hypothesis", "label"])


def test_an_inference_category_has_each_entailed_pair_once():
    texts = ("A man plays", "A man is playing chess")
    pairs = inferences((*texts, "entailment"), (*texts, "neutral"))
    category = Category(
        title="E", rule="entailment", pairs=9, inference=[["x"]], length=[2, 9], distractors="coded"
    )
    frame = induce_category(category, "", [], {"one.txt": pairs, "two.txt": pairs}, "model", 0)
    assert frame[["first", "second", "source"]].to_numpy().tolist() == [
        ["A man is playing chess.", "A man plays.", "one.txt"]
    ]
    assert len(frame["distractors"].iloc[0]) == len(DISTRACTORS)


def test_the_answer_of_an_entailment_is_the_premise():
    # Pair 1109 of SICK, which Table 2 of Zhu and de Melo (2020) prints in this order.
    premise = "A man is singing and playing the guitar"
    hypothesis = "A man is singing a song and playing the guitar"
    other = "A guitar is played by a man who is singing"
    pairs = inferences(*((text, hypothesis, "entailment") for text in (premise, other)))
    sentences = [tuple(pair[:2]) for pair in induce.entailed(pairs, "sick.txt", 4, 20, 0)]
    assert sorted(sentences) == [(f"{hypothesis}.", f"{other}."), (f"{hypothesis}.", f"{premise}.")]
    # A hypothesis is C of only one question, whichever of its premises comes first.
    chosen = choose_pairs(induce.entailed(pairs, "sick.txt", 4, 20, 0), 9, 20, None, 0)
    assert chosen["first"].tolist() == [f"{hypothesis}."]


def test_relatedness_selects_pairs_of_their_file(tmp_path):
    file = tmp_path / "sick.txt"
    file.write_text("sentence_A\tsentence_B\trelatedness_score\na\tb\t4.5\nc\td\t4.4\n")
    pairs = inferences(("a", "b", "entailment"), ("c", "d", "entailment"))
    assert induce.related_pairs(pairs, file, 4.5).to_numpy().tolist() == [["a", "b", "entailment"]]


def test_triplets_come_before_the_pairs_of_a_rule(tmp_path, monkeypatch):
    file = tmp_path / "triplets.txt"
    file.write_text("It rains \x01There is no rain\x01It is not raining\nA\tB\tC")
    keys = {"triplets": [["x"]], "triplet_columns": [2, 1, 3], "distractors": "coded"}
    category = Category(title="N", pairs=9, texts=[["x"]], rule="negation", **keys)
    pair = SentencePair("A man is not playing chess.", "A man is playing chess.", "x", "negation")
    monkeypatch.setattr(induce, "apply_rule", lambda *_: [pair])
    frame = induce_category(category, "", [], {}, "model", 0, [file])
    assert frame[["first", "second", "source", "rule"]].to_numpy().tolist() == [
        ["There is no rain", "It rains", "triplets.txt", "triplet"],
        ["B", "A", "triplets.txt", "triplet"],
    ]
    # The rule's pair is refused, because its distractor would be its first sentence.
    assert frame["distractors"].str[0].tolist() == ["It is not raining", "C"]


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=3, max_size=4).map(" ".join)


@pytest.mark.parametrize("style", DISTRACTOR_STYLES)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=20))
def test_no_distractor_is_a_sentence_of_its_category(style, triplets):
    pairs = [SentencePair(a, b, "x", "r", not_negated=c) for a, b, c in triplets]
    frame = choose_pairs(pairs, 20, 20, spacy.blank("en"), 0, style)
    sentences = {letters(text) for text in [*frame["first"], *frame["second"]]}
    distractors = [letters(text) for texts in frame["distractors"] for text in texts]
    assert not sentences & {*distractors}


@pytest.mark.parametrize(
    ("holding", "words", "parsed"),
    [([], {}, "ABCD"), (["Two"], {}, "BC"), (["two"], {"a": "b"}, "ABC"), (["seven"], {}, "")],
)
def test_only_sentences_that_hold_one_of_the_words_are_parsed(monkeypatch, holding, words, parsed):
    texts = ("A left.", "B sold two cars.", "C, two, it seems.", "D is twofold.")
    monkeypatch.setattr(RuleSpec, "load", lambda _: lambda doc, _: [(doc.text, "B.", "")])
    sentences = dict.fromkeys(texts, "file")
    pairs = induce.apply_rule("plurals", sentences, words, holding, spacy.blank("en"), 0)
    assert sorted(pair.first[0] for pair in pairs) == [*parsed]


def test_the_number_of_pairs_with_a_word_is_limited():
    pairs = [SentencePair(f"A{n}.", f"B{n}.", "x", "r", "word") for n in range(5)]
    assert len(choose_pairs(pairs, 9, 2, None, 0)) == 2
    assert choose_pairs([SentencePair("A.", "a.", "x", "r")], 9, 2, None, 0).empty


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"rule": "templates"}, "give exactly one of: templates with words"),
        ({"rule": "plurals", "inference": [["x"]]}, "the rule plurals needs texts"),
        ({"rule": "entailment", "texts": [["x"]]}, "the rule entailment reads no texts"),
        ({"rule": "plurals", "triplets": [["x"]]}, "give exactly one of: templates with words"),
        ({"texts": [["x"]], "triplets": [["x"]]}, "rule: name one"),
        ({"triplets": [["x"]], "triplet_columns": [1, 1, 2]}, "give 1, 2 and 3 in some order"),
    ],
)
def test_a_category_must_match_its_rule(keys, message):
    with pytest.raises(ValueError, match=message):
        Category(title="A", pairs=1, **keys)


def test_a_model_that_cannot_be_loaded_is_an_error(monkeypatch, tmp_path):
    monkeypatch.undo()
    with pytest.raises(AnalogyQAError, match=f"{tmp_path}: spaCy cannot load this model"):
        induce.load_parser(str(tmp_path))
