"""Find named entities of the type that a question asks for in its candidates (Tam et al. 2017)."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analogyqa.errors import AnalogyQAError
from analogyqa.rewriting.spacy_models import PATTERNS, check_model, load
from analogyqa.schemas import ENTITIES
from analogyqa.text import tokenize

if TYPE_CHECKING:
    from spacy.language import Language

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
        model: the spaCy model, as `spacy_models` reads it.
        labels: the model's entity labels for each question type.

    Returns:
        A table with schema ENTITIES and one row for each mention, in the order of the corpus. Its
        texts have plain quotes and brackets.

    Raises:
        AnalogyQAError: when the model cannot be loaded or has none of the labels.
    """
    nlp = _load(model, labels)
    typed = corpus.dropna(subset="question_type")
    candidates = typed["candidate"].unique()
    docs = nlp.pipe(map(_plain, candidates))
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


def model_record(model: str, labels: Labels) -> dict:
    """Return the name, version (sha256 of a file of patterns) and labels of a model.

    Raises:
        AnalogyQAError: as `find_entities`.
    """
    nlp = _load(model, labels)
    name, version = f"{nlp.meta['lang']}_{nlp.meta['name']}", nlp.meta["version"]
    path = Path(model)
    if path.suffix == PATTERNS:
        name, version = path.name, hashlib.sha256(path.read_bytes()).hexdigest()
    known = _labels(nlp)
    by_type = {
        question_type: [label for label in type_labels if label in known]
        for question_type, type_labels in labels.items()
    }
    return {"name": name, "version": version, "labels": by_type}


def _load(model: str, labels: Labels) -> "Language":
    """Load a model, and disable the components that entities do not need."""
    nlp = load(model, _REMEDY)
    finders = _finders(nlp)
    # Keep a transformer or tok2vec that a component with entities listens to.
    needed = [
        name
        for name, component in nlp.pipeline
        if name in finders or finders.intersection(getattr(component, "listening_components", []))
    ]
    nlp.select_pipes(enable=needed)
    check_model(nlp, model, _REMEDY)
    all_labels = dict.fromkeys(chain.from_iterable(labels.values()))
    if not _labels(nlp) & all_labels.keys():
        raise AnalogyQAError(
            f"{model}: the model has none of the entity labels {', '.join(all_labels)}. "
            "Set named_entities.model to a spaCy model or a file of patterns that has them."
        )
    return nlp


def _finders(nlp: "Language") -> set[str]:
    return {name for name in nlp.pipe_names if "doc.ents" in nlp.get_pipe_meta(name).assigns}


def _labels(nlp: "Language") -> set[str]:
    return {label for name in _finders(nlp) for label in nlp.pipe_labels[name]}


def _plain(sentence: str) -> str:
    return _TREEBANK.sub(lambda token: tokenize(token[0], lowercase=False)[0], sentence)
