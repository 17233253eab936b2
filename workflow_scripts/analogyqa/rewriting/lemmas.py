"""Lemmatise a corpus (Hazem et al. 2017, section 3)."""

from collections.abc import Collection
from typing import TYPE_CHECKING

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.rewriting.spacy_models import check_model, load

if TYPE_CHECKING:
    from spacy.tokens import Token

_TEXTS = ["question", "candidate"]


def lemmatise_corpus(
    corpus: pd.DataFrame,
    model: str,
    keep: Collection[str],
    stop_words: Collection[str] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Replace the texts of a corpus by their lower-cased lemmas, with single spaces.

    Tokens without a letter or digit are dropped.

    Args:
        corpus: table with schema CORPUS.
        model: package or folder of a spaCy model.
        keep: parts of speech (UPOS) of content words; stop words never count.
        stop_words: lower-cased lemmas that are stop words; None for those of the model.

    Returns:
        The corpus with the lemmas of all words, and the corpus with those of content words only,
        in which texts may be empty.

    Raises:
        AnalogyQAError: when the model cannot be loaded, or gives no lemmas or parts of speech.
    """
    remedy = "set lemmas.model to the folder of a model."
    nlp = load(model, remedy)
    # Entities and syntax are not needed, and take most of the time.
    nlp.select_pipes(
        disable=[
            name
            for name in nlp.pipe_names
            if {"doc.ents", "token.dep"} & {*nlp.get_pipe_meta(name).assigns}
        ]
    )
    check_model(nlp, model, remedy)
    texts = list(dict.fromkeys(pd.concat([corpus[name] for name in _TEXTS])))
    words, content = {}, {}

    def is_stop(token: "Token") -> bool:
        return token.is_stop if stop_words is None else token.lemma_.lower() in stop_words

    for text, doc in zip(texts, nlp.pipe(texts), strict=True):
        words[text] = _join_lemmas(list(doc))
        content[text] = _join_lemmas(
            [token for token in doc if token.pos_ in keep and not is_stop(token)]
        )
    for description, lemmas in (("lemmas", words), (f"words of {', '.join(keep)}", content)):
        if not any(lemmas.values()):
            raise AnalogyQAError(
                f"{model}: the model gives no {description}. Set lemmas.model to a spaCy model "
                "with a tagger and a lemmatizer."
            )
    return tuple(
        corpus.assign(**{column: corpus[column].map(lemmas) for column in _TEXTS})
        for lemmas in (words, content)
    )


def _join_lemmas(tokens: "list[Token]") -> str:
    lemmas = (token.lemma_.lower() for token in tokens)
    return " ".join(lemma for lemma in lemmas if any(map(str.isalnum, lemma)))
