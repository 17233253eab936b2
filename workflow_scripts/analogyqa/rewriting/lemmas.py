"""The lemmas of a corpus: of all words, and of the content words alone (Hazem et al. 2017, 3)."""

from collections.abc import Collection
from typing import TYPE_CHECKING

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.rewriting.spacy_models import check_model, load

if TYPE_CHECKING:
    from spacy.tokens import Token

_TEXTS = ["question", "candidate"]


def lemmatise_corpus(
    corpus: pd.DataFrame, model: str, keep: Collection[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put lemmas, lower-cased and with single spaces, in the place of the texts of a corpus.

    Args:
        corpus: a table of schema CORPUS.
        model: a spaCy model, see `spacy_models`.
        keep: the parts of speech (UPOS) of content words; stop words are none.

    Returns:
        The corpus with the lemmas of all words, and that with those of the content words alone, of
        which a sentence may have none. A token without a letter or digit is no word.

    Raises:
        AnalogyQAError: when the model cannot be loaded, or gives no lemmas or no parts of speech.
    """
    remedy = "set lemmas.model to the folder of a model."
    nlp = load(model, remedy)
    # Names and syntax are not needed, and take most of the time.
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
    for text, doc in zip(texts, nlp.pipe(texts), strict=True):
        words[text] = _joined(list(doc))
        content[text] = _joined([each for each in doc if each.pos_ in keep and not each.is_stop])
    for what, found in (("lemmas", words), (f"words of {', '.join(keep)}", content)):
        if not any(found.values()):
            raise AnalogyQAError(
                f"{model}: finds no {what}. Set lemmas.model to a spaCy model with a tagger and a "
                "lemmatizer."
            )
    return _replaced(corpus, words), _replaced(corpus, content)


def _joined(tokens: "list[Token]") -> str:
    lemmas = (token.lemma_.lower() for token in tokens)
    return " ".join(lemma for lemma in lemmas if any(map(str.isalnum, lemma)))


def _replaced(corpus: pd.DataFrame, texts: dict[str, str]) -> pd.DataFrame:
    return corpus.assign(**{name: corpus[name].map(texts) for name in _TEXTS})
