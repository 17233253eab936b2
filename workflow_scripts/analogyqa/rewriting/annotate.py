"""Lemmas and named entities of a corpus, by spaCy.

A model is given as an installed package such as `en_core_web_sm`, as the folder or the wheel of a
model, or as a `.jsonl` file of patterns for spaCy's `entity_ruler`.
"""

import hashlib
import importlib.util
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from os.path import isdir, isfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pandas as pd

from analogyqa.errors import AnalogyQAError, explain_damage
from analogyqa.schemas import ENTITIES
from analogyqa.text import tokenize

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Token


PATTERNS = ".jsonl"
_WHEEL = ".whl"


def installed(model: str) -> bool:
    """Return whether the package, folder or file exists, without loading it."""
    is_package = model.isidentifier() and importlib.util.find_spec(model) is not None
    # Unlike those of `Path`, these functions take a name that is too long for a file.
    exists = isfile if Path(model).suffix in (PATTERNS, _WHEEL) else isdir
    return is_package or exists(model)


def load_model(
    model: str, choose: "Callable[[Language], Iterable[str]]", remedy: str
) -> "Language":
    """Load a model with only the components whose names `choose` returns.

    Raises AnalogyQAError, whose message ends in `remedy`, when the model cannot be loaded.
    """
    import spacy

    suffix = Path(model).suffix
    install = f"Install the package (python -m spacy download NAME), or {remedy}"
    with explain_damage(model, "spaCy cannot load this model", install):
        if suffix == PATTERNS:
            nlp = spacy.blank("en")
            ruler: Any = nlp.add_pipe("entity_ruler", config={"validate": True})
            ruler.from_disk(model)
        elif suffix == _WHEEL:
            with TemporaryDirectory() as folder, zipfile.ZipFile(model) as wheel:
                wheel.extractall(folder)  # links become files, and no path leads out of the folder
                # The pipeline of a model's package is in package/package-version/.
                (config,) = Path(folder).glob("*/*/config.cfg")
                nlp = spacy.load(config.parent)
        else:
            nlp = spacy.load(model)
        nlp.select_pipes(enable=list(choose(nlp)))
        nlp("Ada Lovelace was born in London in 1815.").to_json()  # some damage shows only here
    return nlp


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

    Raises AnalogyQAError when the model cannot be loaded, or gives no lemmas or parts of speech.
    """
    nlp = load_model(model, _lemma_components, "set lemmas.model to the folder of a model.")

    def is_content(token: "Token") -> bool:
        is_stop = token.is_stop if stop_words is None else token.lemma_.lower() in stop_words
        return token.pos_ in keep and not is_stop

    texts = list(dict.fromkeys(pd.concat([corpus[name] for name in _TEXTS])))
    words, content = {}, {}
    for text, doc in zip(texts, nlp.pipe(texts), strict=True):
        words[text] = _join_lemmas(doc)
        content[text] = _join_lemmas(filter(is_content, doc))
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


def _lemma_components(nlp: "Language") -> list[str]:
    """Leave out entities and syntax, which take most of the time."""
    slow = {"doc.ents", "token.dep"}
    return [name for name in nlp.pipe_names if not slow & {*nlp.get_pipe_meta(name).assigns}]


def _join_lemmas(tokens: "Iterable[Token]") -> str:
    lemmas = (token.lemma_.lower() for token in tokens)
    return " ".join(lemma for lemma in lemmas if any(map(str.isalnum, lemma)))


_TREEBANK = re.compile(r"``|''|-[LR][RSC]B-")
_REMEDY = (
    "set named_entities.model to the folder of a model or to a .jsonl file of patterns for spaCy's "
    "entity_ruler."
)

Labels = Mapping[str, Sequence[str]]  # entity labels of each question type, e.g. OntoNotes's


def find_entities(corpus: pd.DataFrame, model: str, labels: Labels) -> pd.DataFrame:
    """Find the entities that typed questions ask for in their candidates.

    Args:
        corpus: table with schema CORPUS.
        model: the spaCy model, as `rewriting.annotate` reads it.
        labels: the model's entity labels for each question type.

    Returns:
        A table with schema ENTITIES and one row for each mention, in the order of the corpus. Its
        texts have plain quotes and brackets.

    Raises AnalogyQAError when the model cannot be loaded or has none of the labels.
    """
    nlp, _ = _load(model, labels)
    typed = corpus.dropna(subset="question_type")
    candidates = typed["candidate"].unique()
    docs = nlp.pipe(_TREEBANK.sub(_plain, candidate) for candidate in candidates)
    mentions = {
        candidate: [(entity.text, entity.label_) for entity in doc.ents]
        for candidate, doc in zip(candidates, docs, strict=True)
    }
    rows = [
        (pair.split, pair.question_id, pair.candidate_id, text, pair.question_type)
        for pair in typed.itertuples()
        for text, label in mentions[pair.candidate]
        if label in labels.get(pair.question_type, ())
    ]
    return pd.DataFrame(rows, columns=ENTITIES.names)


def _plain(token: re.Match[str]) -> str:
    return tokenize(token[0], lowercase=False)[0]


def model_record(model: str, labels: Labels) -> dict:
    """Return the name, version (sha256 of a file of patterns) and labels of a model.

    Raises AnalogyQAError as `find_entities`.
    """
    nlp, known = _load(model, labels)
    name, version = f"{nlp.meta['lang']}_{nlp.meta['name']}", nlp.meta["version"]
    path = Path(model)
    if path.suffix == PATTERNS:
        name, version = path.name, hashlib.sha256(path.read_bytes()).hexdigest()
    by_type = {
        question_type: [label for label in type_labels if label in known]
        for question_type, type_labels in labels.items()
    }
    return {"name": name, "version": version, "labels": by_type}


def _load(model: str, labels: Labels) -> "tuple[Language, set[str]]":
    """Load a model of entities, and return it with the labels that it knows."""
    nlp = load_model(model, _entity_components, _REMEDY)
    known = {label for name in _finders(nlp) for label in nlp.pipe_labels[name]}
    all_labels = dict.fromkeys(chain.from_iterable(labels.values()))
    if not known & all_labels.keys():
        raise AnalogyQAError(
            f"{model}: the model has none of the entity labels {', '.join(all_labels)}. "
            "Set named_entities.model to a spaCy model or a file of patterns that has them."
        )
    return nlp, known


def _entity_components(nlp: "Language") -> list[str]:
    """Keep what finds entities, and a transformer or tok2vec that listens to it."""
    finders = _finders(nlp)
    return [
        name
        for name, component in nlp.pipeline
        if name in finders or finders.intersection(getattr(component, "listening_components", []))
    ]


def _finders(nlp: "Language") -> set[str]:
    return {name for name in nlp.pipe_names if "doc.ents" in nlp.get_pipe_meta(name).assigns}
