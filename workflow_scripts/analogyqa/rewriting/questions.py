"""Questions whose question word is replaced by an entity (Tam et al. 2017).

The idea: a question word says little about the answer, an entity of the right kind lies near it in
the space of word vectors.
"""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import chain
from typing import Literal

import numpy as np
import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.text import Sentences, tokenize

Rewriting = Literal["entity", "prototype_word"]

_QUESTION = ["split", "question_id"]


def rewrite_questions(
    corpus: pd.DataFrame,
    entities: pd.DataFrame,
    vectors: np.ndarray,
    word_ids: dict[str, int],
    rewriting: Rewriting,
    lowercase: bool,
    question_words: Collection[str],
) -> pd.DataFrame:
    """Replace the question word of every question that has a type; labels are never looked at.

    `entity` is what section 4.3 of the CoNLL paper describes: of the entities that a question's
    candidates name, the one most similar to all of them. A question without one gets the prototype
    word of its type. `prototype_word` gives every question of a type that same word: of the words
    of the entities in the training candidates of the type, the one most similar to all of these
    entities.
    Similarity is the mean cosine between mean word vectors; the first of equals is taken. Entities
    with a word that has no vector are passed over, as is one that is a question word itself.

    Args:
        corpus: a table of schema CORPUS.
        entities: a table of schema ENTITIES, found in the corpus.
        vectors: float32 [V, d].
        word_ids: word to row of `vectors`; it has every word of the candidates.
        rewriting: which word takes the place.
        lowercase: as the vocabulary was made.
        question_words: the first words that make a question type.

    Returns:
        `corpus` with other questions; their words are in `word_ids` if those of the corpus are.

    Raises:
        AnalogyQAError: when the training candidates of a type name no entity, or
            `word_ids` lacks a word of a candidate.
    """
    split = partial(tokenize, lowercase=lowercase)
    typed = corpus.dropna(subset="question_type").astype({"split": str, "question_type": str})
    usable = [
        bool(tokens) and all(token in word_ids for token in tokens)
        for tokens in map(split, entities["entity"])
    ]
    of_question = entities["entity"].str.lower().isin(question_words)
    named = entities[np.array(usable, dtype=bool) & ~of_question].astype(
        {"split": str, "entity_type": str}
    )
    mentions = named[named["split"] == "train"].groupby("entity_type")["entity"].agg(list)
    words_of = {kind: _words(texts, split, question_words) for kind, texts in mentions.items()}
    texts = [*typed["candidate"], *named["entity"], *chain.from_iterable(words_of.values())]
    similarity = _Similarity(texts, vectors, word_ids, split)

    prototype_words = {}
    for kind in typed["question_type"].unique():
        if not words_of.get(kind):
            raise AnalogyQAError(
                f"no {kind} question can be rewritten: its training candidates name no entity "
                "whose words have word vectors. Set named_entities.model to one that finds "
                "entities of this type, or leave out the systems that have a rewriting."
            )
        prototype_words[kind] = similarity.nearest(words_of[kind], mentions[kind])

    named_by_question = dict(iter(named.groupby(_QUESTION)))
    words = {}
    for question, rows in typed.groupby(_QUESTION, sort=False):
        kind = rows["question_type"].iloc[0]
        words[question] = prototype_words[kind]
        if rewriting == "entity" and question in named_by_question:
            own = named_by_question[question]
            own = own.loc[own["entity_type"] == kind, "entity"]
            if not own.empty:
                words[question] = similarity.nearest(own, rows["candidate"])
    keys = zip(corpus["split"], corpus["question_id"], strict=True)
    questions = [
        _replace_first(question, words[key]) if key in words else question
        for key, question in zip(keys, corpus["question"], strict=True)
    ]
    return corpus.assign(question=questions)


def _words(
    entities: Iterable[str], split: Callable[[str], list[str]], question_words: Collection[str]
) -> list[str]:
    """Return the words of entities that can stand for a question word, each once."""
    tokens = dict.fromkeys(token for entity in entities for token in split(entity))
    return [
        token
        for token in tokens
        if token[0].isalnum() and split(token) == [token] and token not in question_words
    ]


def _replace_first(question: str, word: str) -> str:
    return " ".join([word, *question.split(maxsplit=1)[1:]])


class _Similarity:
    """The cosines between the mean word vectors of given texts."""

    def __init__(
        self,
        texts: Iterable[str],
        vectors: np.ndarray,
        word_ids: dict[str, int],
        split: Callable[[str], list[str]],
    ) -> None:
        self.sentences = Sentences(texts, word_ids, split)
        self.directions = np.zeros((len(self.sentences), vectors.shape[1]), dtype=np.float32)
        for number, direction in enumerate(self.directions):
            words, _ = self.sentences.batch(np.array([number]))
            mean = vectors[words[0]].mean(axis=0)
            length = np.linalg.norm(mean)
            if length:  # words without a vector may have a zero vector: its cosines are 0
                direction[:] = mean / length

    def nearest(self, entities: Iterable[str], candidates: Iterable[str]) -> str:
        """Return the first entity of the highest mean cosine to the candidates."""
        unique = list(dict.fromkeys(entities))
        centre = self.directions[self.sentences.numbers(candidates)].mean(axis=0)
        # Row by row: equal entities must not differ by the rounding of a blocked matrix product.
        cosines = (self.directions[self.sentences.numbers(unique)] * centre).sum(axis=1)
        return unique[int(cosines.argmax())]
