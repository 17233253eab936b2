"""Tokens, and sentences as word ids."""

import numpy as np
import pytest

from analogyqa.errors import AnalogyQAError
from analogyqa.text import Sentences, tokenize

IDS = {"who": 0, "wrote": 1, "it": 2, "?": 3}


def test_punctuation_is_split_off():
    assert tokenize("who wrote it?") == ["who", "wrote", "it", "?"]


def test_case_is_kept_on_request():
    assert tokenize("Who Wrote", lowercase=False) == ["Who", "Wrote"]
    assert tokenize("Who Wrote") == ["who", "wrote"]


def test_quotes_and_brackets_come_out_plain():
    assert tokenize("`` a '' -LRB- b -RRB-") == ['"', "a", '"', "(", "b", ")"]
    assert tokenize('"a" (b)') == ['"', "a", '"', "(", "b", ")"]


def test_a_tokenised_sentence_keeps_its_tokens():
    sentence = "Mr. Smith , who did n't go , is 3.5 years old in the U.S. today ."
    assert tokenize(sentence, lowercase=False) == sentence.split()


def test_white_space_has_no_tokens():
    assert tokenize(" \t ") == []


def test_a_repeated_sentence_is_kept_once():
    sentences = Sentences(["who wrote", "it", "who wrote"], IDS, True)
    assert len(sentences) == 2
    assert sentences.numbers(["it", "who wrote"]).tolist() == [1, 0]


def test_a_batch_is_padded_behind_the_end():
    sentences = Sentences(["who wrote it ?", "it"], IDS, True)
    words, lengths = sentences.batch(np.array([1, 0]))
    assert words.tolist() == [[2, 0, 0, 0], [0, 1, 2, 3]]
    assert lengths.tolist() == [1, 4]


def test_a_batch_without_words_has_one_column():
    words, lengths = Sentences([" "], IDS, True).batch(np.array([0]))
    assert words.shape == (1, 1)
    assert lengths.tolist() == [0]


def test_without_word_ids_lengths_are_kept():
    assert Sentences(["who wrote it ?"], None, True).lengths.tolist() == [4]


def test_a_word_without_a_vector_is_named():
    with pytest.raises(AnalogyQAError, match="'read' .*made for another corpus"):
        Sentences(["who read it ?"], IDS, True)
