"""Replace the question word of a question by an entity (Tam et al. 2017).

A question word says little about the answer, but an entity of the right type is close to it in the
space of word vectors.
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


def rewrite_questions(
    corpus: pd.DataFrame,
    entities: pd.DataFrame,
    vectors: np.ndarray,
    word_ids: dict[str, int],
    rewriting: Rewriting,
    lowercase: bool,
    question_words: Collection[str],
) -> pd.DataFrame:
    """Replace the question word of every typed question, without using labels.

    With `entity` (section 4.3 of the CoNLL paper), a question gets the entity named by its
    candidates that is most similar to all candidates. If there is none, it gets the prototype word
    of its type. With `prototype_word`, every question gets the prototype word of its type: among
    the words of entities in the type's training candidates, the one most similar to all of these
    entities.

    Similarity is the mean cosine between mean word vectors; of ties, the first wins. Entities that
    are question words or have a word without a vector are ignored.

    Args:
        corpus: table with schema CORPUS.
        entities: table with schema ENTITIES, found in the corpus.
        vectors: word vectors, float32 [V, d].
        word_ids: row of each word in `vectors`; contains all words of the candidates.
        rewriting: how to choose the new word.
        lowercase: whether the vocabulary is lower-cased.
        question_words: the first words of all question types.

    Returns:
        The corpus with new questions, whose words are in `word_ids` if the corpus's words are.

    Raises AnalogyQAError when the training candidates of a type name no entity, or a word of a
    candidate is not in `word_ids`.
    """
    split = partial(tokenize, lowercase=lowercase)
    typed = corpus.dropna(subset="question_type").astype({"split": str, "question_type": str})

    def is_usable(entity: str) -> bool:
        tokens = split(entity)
        has_vectors = bool(tokens) and all(token in word_ids for token in tokens)
        return has_vectors and entity.lower() not in question_words

    usable = entities[entities["entity"].map(is_usable).astype(bool)]
    usable = usable.astype({"split": str, "entity_type": str})
    mentions = usable[usable["split"] == "train"].groupby("entity_type")["entity"].agg(list)
    type_words = {
        question_type: _unique_words(texts, split, question_words)
        for question_type, texts in mentions.items()
    }
    texts = [*typed["candidate"], *usable["entity"], *chain.from_iterable(type_words.values())]
    sentences = Sentences(texts, word_ids, split)
    directions = np.zeros((len(sentences), vectors.shape[1]), dtype=np.float32)
    for number, direction in enumerate(directions):
        words, _ = sentences.batch(np.array([number]))
        mean = vectors[words[0]].mean(axis=0)
        length = np.linalg.norm(mean)
        if length:  # zero vectors of unknown words stay zero
            direction[:] = mean / length

    def nearest(texts: Iterable[str], candidates: Iterable[str]) -> str:
        """Return the first text with the highest mean cosine to the candidates."""
        unique = list(dict.fromkeys(texts))
        centre = directions[sentences.numbers(candidates)].mean(axis=0)
        # A blocked matrix product would round equal texts differently.
        cosines = (directions[sentences.numbers(unique)] * centre).sum(axis=1)
        return unique[int(cosines.argmax())]

    prototype_words = {}
    for question_type in typed["question_type"].unique():
        if not type_words.get(question_type):
            raise AnalogyQAError(
                f"The {question_type} questions cannot be rewritten, because their training "
                "candidates name no entity with word vectors. Set named_entities.model to a model "
                "that finds entities of this type, or leave out the systems with a rewriting."
            )
        prototype_words[question_type] = nearest(type_words[question_type], mentions[question_type])

    named = dict(iter(usable.groupby(["split", "question_id", "entity_type"])["entity"]))
    new_words = {}
    for key, rows in typed.groupby(["split", "question_id", "question_type"], sort=False):
        if rewriting == "entity" and key in named:
            new_words[key[:2]] = nearest(named[key], rows["candidate"])
        else:
            new_words[key[:2]] = prototype_words[key[2]]
    keys = zip(corpus["split"], corpus["question_id"], strict=True)
    questions = [
        " ".join([new_words[key], *question.split(maxsplit=1)[1:]])
        if key in new_words
        else question
        for key, question in zip(keys, corpus["question"], strict=True)
    ]
    return corpus.assign(question=questions)


def _unique_words(
    entities: Iterable[str], split: Callable[[str], list[str]], question_words: Collection[str]
) -> list[str]:
    """Return the unique words of entities that can replace a question word."""
    tokens = dict.fromkeys(token for entity in entities for token in split(entity))
    return [
        token
        for token in tokens
        if token[0].isalnum() and split(token) == [token] and token not in question_words
    ]
