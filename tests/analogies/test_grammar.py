"""The spelling of sentences, and pairs of words in templates."""

import pytest

from analogyqa.analogies.grammar import article_before, finish_sentence, join_words, with_articles
from analogyqa.analogies.induce import from_templates, persons, read_word_pairs


def test_words_become_a_sentence():
    words = ["the", "dog", "'s", "owner", ",", "", "i", "think", ",", "does", "n't", "care", "."]
    assert join_words(words) == "The dog's owner, I think, doesn't care."


@pytest.mark.parametrize("text", ["a dog", " a  dog ,", "A dog."])
def test_finish_sentence_is_idempotent(text):
    assert finish_sentence(text) == "A dog." == finish_sentence(finish_sentence(text))


@pytest.mark.parametrize(
    ("word", "article"),
    [("apple", "an"), ("dog", "a"), ("hour", "an"), ("university", "a"), ("unimpressive", "an"),
     ("European", "a"), ("uncertain", "an"), ("one", "a")],
)  # fmt: skip
def test_articles_follow_the_first_sound(word, article):
    assert article_before(word) == article
    assert with_articles(["A", word])[0] == article.capitalize()


WORDS = """: places
Rome Italy Oslo Norway
Oslo Norway Rome Italy
: people
he she king queen
his her son daughter
"""


@pytest.fixture
def word_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(WORDS)
    return path


def test_word_pairs_are_unique(word_file):
    assert read_word_pairs(word_file, "places") == [("Rome", "Italy"), ("Oslo", "Norway")]


def test_a_template_has_a_sentence_for_each_word_of_a_pair(word_file):
    word_pairs = read_word_pairs(word_file, "places")
    pairs = from_templates(word_pairs, [("To {}.", "In {}.")], {"Norway": "the North"}, "words.txt")
    assert [(pair.first, pair.second, pair.rule) for pair in pairs] == [
        ("To Rome.", "In Italy.", "template 1"),
        ("To Oslo.", "In the North.", "template 1"),
    ]


def test_persons_get_the_right_determiner(word_file):
    pairs = persons(
        read_word_pairs(word_file, "people"), [("{} slept.", "{} slept.")], {}, "words.txt"
    )
    assert [(pair.first, pair.second) for pair in pairs] == [
        ("He slept.", "She slept."),
        ("The king slept.", "The queen slept."),
        ("My son slept.", "My daughter slept."),
    ]
