"""Tokens, and sentences as word ids."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.errors import AnalogyQAError
from analogyqa.text import Sentences, nfc, require_text, tokenize

IDS = {"who": 0, "wrote": 1, "it": 2, "?": 3}


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("who wrote it?", "who wrote it ?"),
        ("`` a '' -LRB- b -RRB-", '" a " ( b )'),
        ('"a" (b)', '" a " ( b )'),
        ("he didn't go", "he did n't go"),
        ("it's Anna's", "it 's Anna 's"),
        ("they'll, we've", "they 'll , we 've"),
        ("DON'T", "DO N'T"),
        ("O'Brien", "O'Brien"),
        ("in the U.S. today", "in the U.S. today"),
        ("3.5 or 1,000 at 10:30", "3.5 or 1,000 at 10:30"),
        ("twenty-one (21)...", "twenty-one ( 21 ) ..."),
        ("so -- what?!", "so -- what ? !"),
        ("Zürich.", "Zürich ."),
        ("cafe\u0301s, n\u0303ot", "cafés , ñot"),
        ("दिल्ली कहाँ है?", "दिल्ली कहाँ है ?"),
        ("أَيْنَ تَقَعُ؟", "أَيْنَ تَقَعُ ؟"),
        ("מִי כָּתַב אֶת זֶה?", "מִי כָּתַב אֶת זֶה ?"),
        ("کتاب\u200cها کجا می\u200cروند؟", "کتاب\u200cها کجا می\u200cروند ؟"),
        ("x\u0304y\u0304.", "x\u0304ȳ ."),
        (" \t ", ""),
    ],
)
def test_tokenize_is_idempotent_and_keeps_the_case_on_request(sentence, tokens):
    assert tokenize(sentence) == [token.lower() for token in tokens.split()]
    assert tokenize(sentence, lowercase=False) == tokens.split()
    assert tokenize(tokens, lowercase=False) == tokens.split()


@given(st.text(st.characters(exclude_characters="`'-"), max_size=30))
def test_no_character_is_lost(sentence):
    assert "".join(tokenize(sentence, lowercase=False)) == "".join(nfc(sentence).split())


MARKED = st.text("aeounÅ é\u0301\u0308\u0328\u0323ी्\u064e\u05b4가각ᄀ.,'-?", max_size=20)


@given(MARKED)
def test_tokens_do_not_depend_on_the_unicode_form(sentence):
    forms = [unicodedata.normalize(form, sentence) for form in ("NFC", "NFD")]
    assert tokenize(forms[0]) == tokenize(forms[1])
    assert all(nfc(token) == token for token in tokenize(sentence))


@given(st.text("aé ीक्\u064eب", max_size=20))
def test_tokens_start_with_marks_only_where_words_do(sentence):
    starts = {token[0] for token in tokenize(sentence)}
    words = {word[0] for word in nfc(sentence).split()}
    assert set(filter(unicodedata.combining, starts)) <= words


def test_require_text_refuses_surrogates_and_nul():
    require_text("an emoji 😀 and a line\n")
    for text in ("half \ud83d", "\ude00", "a\0b"):
        with pytest.raises(ValueError):
            require_text(text)


def test_sentences_are_unique():
    sentences = Sentences(["who wrote", "it", "who wrote"], IDS, tokenize)
    assert len(sentences) == 2
    assert sentences.numbers(["it", "who wrote"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("texts", "chosen", "words", "lengths"),
    [
        (["who wrote it ?", "it"], [1, 0], [[2, 0, 0, 0], [0, 1, 2, 3]], [1, 4]),
        ([" "], [0], [[0]], [0]),
    ],
)
def test_a_batch_is_padded(texts, chosen, words, lengths):
    batch = Sentences(texts, IDS, tokenize).batch(np.array(chosen))
    assert [rows.tolist() for rows in batch] == [words, lengths]
    without_ids = Sentences(texts, None, tokenize)
    assert without_ids.lengths[chosen].tolist() == lengths


def test_a_missing_word_is_an_error():
    with pytest.raises(AnalogyQAError, match=r"'read' .*not in the word vectors"):
        Sentences(["who read it ?"], IDS, tokenize)
