"""Named entities of the candidates, of the kind that the question asks for (Tam et al. 2017).

spaCy finds them. A model is named by one string: an installed package such as `en_core_web_sm`, the
folder of a model, or a `.jsonl` file of patterns for spaCy's `entity_ruler`.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.rewriting import spacy_models
from analogyqa.rewriting.spacy_models import check_model, load, load_error
from analogyqa.schemas import ENTITIES
from analogyqa.text import tokenize

if TYPE_CHECKING:
    from spacy.language import Language

_TREEBANK = re.compile(r"``|''|-[LR][RSC]B-")
_PATTERNS = ".jsonl"
_REMEDY = (
    "set named_entities.model to the folder of a model or to a .jsonl file of patterns for spaCy's "
    "entity_ruler."
)

# Question type to the labels of the entities that it asks for, such as those of OntoNotes.
Labels = Mapping[str, Sequence[str]]


def installed(model: str) -> bool:
    """Return whether there is such a package, folder or file of patterns; nothing is loaded."""
    path = Path(model)
    return path.is_file() if path.suffix == _PATTERNS else spacy_models.installed(model)


def find_entities(corpus: pd.DataFrame, model: str, labels: Labels) -> pd.DataFrame:
    """Find what is asked for in the candidates of each question that has a type.

    Args:
        corpus: a table of schema CORPUS.
        model: see above.
        labels: of the model, by question type.

    Returns:
        A table of schema ENTITIES in the order of the corpus, a row for each mention of the kind
        that its question asks for. Treebank quotes and brackets are plain in the texts.

    Raises:
        AnalogyQAError: when the model cannot be loaded or finds no such entities.
    """
    nlp = _load(model, labels)
    typed = corpus.dropna(subset="question_type")
    candidates = typed["candidate"].unique()
    docs = nlp.pipe(map(_plain, candidates))
    found = {
        candidate: [(entity.text, entity.label_) for entity in doc.ents]
        for candidate, doc in zip(candidates, docs, strict=True)
    }
    rows = [
        (pair.split, pair.question_id, pair.candidate_id, text, pair.question_type)
        for pair in typed.itertuples()
        for text, label in found[pair.candidate]
        if label in labels.get(pair.question_type, ())
    ]
    return pd.DataFrame(rows, columns=ENTITIES.names)


def model_record(model: str, labels: Labels) -> dict:
    """Return name, version (of a file of patterns its sha256) and labels by question type.

    Raises AnalogyQAError as `find_entities` does.
    """
    nlp = _load(model, labels)
    name, version = f"{nlp.meta['lang']}_{nlp.meta['name']}", nlp.meta["version"]
    path = Path(model)
    if path.suffix == _PATTERNS:
        name, version = path.name, hashlib.sha256(path.read_bytes()).hexdigest()
    found = _labels(nlp)
    by_type = {kind: [label for label in own if label in found] for kind, own in labels.items()}
    return {"name": name, "version": version, "labels": by_type}


def _load(model: str, labels: Labels) -> "Language":
    """Load a model and switch off what its entities do not need."""
    nlp = _of_patterns(model) if Path(model).suffix == _PATTERNS else load(model, _REMEDY)
    finders = _finders(nlp)
    # A transformer, and in some models a tok2vec, comes before the components that listen to it.
    needed = [
        name
        for name, component in nlp.pipeline
        if name in finders or finders.intersection(getattr(component, "listening_components", []))
    ]
    nlp.select_pipes(enable=needed)
    check_model(nlp, model, _REMEDY)
    wanted = dict.fromkeys(label for own in labels.values() for label in own)
    if not _labels(nlp) & wanted.keys():
        raise AnalogyQAError(
            f"{model}: finds no entities of the labels {', '.join(wanted)}. "
            "Set named_entities.model to a spaCy model or a file of patterns that does."
        )
    return nlp


def _of_patterns(path: str) -> "Language":
    import spacy

    nlp = spacy.blank("en")
    try:
        nlp.add_pipe("entity_ruler", config={"validate": True}).from_disk(path)
    except Exception as error:  # what a damaged file raises depends on the damage
        raise load_error(path, error, _REMEDY) from error
    return nlp


def _finders(nlp: "Language") -> set[str]:
    return {name for name in nlp.pipe_names if "doc.ents" in nlp.get_pipe_meta(name).assigns}


def _labels(nlp: "Language") -> set[str]:
    return {label for name in _finders(nlp) for label in nlp.pipe_labels[name]}


def _plain(sentence: str) -> str:
    return _TREEBANK.sub(lambda token: tokenize(token[0], lowercase=False)[0], sentence)
