"""Sentences parsed by hand, so that no model is needed."""

import spacy
from spacy.tokens import Doc

NLP = spacy.blank("en")


def doc(text: str) -> Doc:
    """Parse `word/TAG/POS/dependency/head/lemma`; heads count from 0, lemmas are optional."""
    rows = [word.split("/") for word in text.split()]
    return Doc(
        NLP.vocab,
        words=[row[0] for row in rows],
        tags=[row[1] for row in rows],
        pos=[row[2] for row in rows],
        deps=[row[3] for row in rows],
        heads=[int(row[4]) for row in rows],
        lemmas=[row[5] if len(row) > 5 else row[0].lower() for row in rows],
    )


PLAYING = (
    "A/DT/DET/det/1 man/NN/NOUN/nsubj/3 is/VBZ/AUX/aux/3/be playing/VBG/VERB/ROOT/3/play "
    "chess/NN/NOUN/{object}/3 ././PUNCT/punct/3"
)
UD, CLEARNLP = PLAYING.format(object="obj"), PLAYING.format(object="dobj")
