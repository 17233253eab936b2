"""SemEval Task 3, subtask B (Nakov et al. 2016, 2017): forum questions and related questions.

A question is the subject and body of an "original question"; its candidates are the ten related
questions that a search engine found, in its order. The release is XML and repeats the question for
each candidate. Because the official files of two parts are not available, we also read JSON lines,
in which `split` names the part. Some of their texts are lemmatised (`orgq`, `relq`) because the raw
text is incomplete.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.semeval_xml import Release
from analogyqa.corpora.table import Pair, clean_id
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import read_lines
from analogyqa.text import nfc, require_text

# The task makes no distinction between PerfectMatch and Relevant. Gold files have true and false.
LABELS = {"PerfectMatch": 1, "Relevant": 1, "Irrelevant": 0, "true": 1, "false": 0}


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of an XML file or, by its suffix, of JSON lines (`.jsonl`).

    A question keeps the text of its first pair, because the text of Q326 of 2016 changes between
    its pairs. JSON lines without an id are numbered by question. Empty lines are skipped.

    Raises:
        AnalogyQAError: for malformed XML or JSON, a missing element or key, an id that is neither
            text nor an integer, an invalid character or an unknown label.
    """
    texts: dict[str, str] = {}
    read_pairs = _read_jsonl if Path(path).suffix == ".jsonl" else _read_xml
    for pair in read_pairs(path):
        yield pair._replace(question=texts.setdefault(pair.question_id, pair.question))


def _read_xml(path: str | Path) -> Iterator[Pair]:
    release = Release(path)
    for original in release.iter("OrgQuestion"):
        question_id = release.id(original, "ORGQ_ID")
        question = release.text(original, "OrgQSubject", "OrgQBody")
        all_related = original.findall("Thread/RelQuestion")
        if not all_related:
            raise release.fail(original, f"the question {question_id} has no related question")
        for related in all_related:
            text = release.text(related, "RelQSubject", "RelQBody")
            label = release.label(related, "RELQ_RELEVANCE2ORGQ", LABELS)
            yield Pair(release.line(related), question_id, question, text, label)


def _read_jsonl(path: str | Path) -> Iterator[Pair]:
    question_number, previous = 0, None
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            question, candidate = (_text(values, name) for name in ("orgq", "relq"))
            label, part = str(values["label"]), _id(values, "split")
            question_id = None if values.get("qid") is None else _id(values, "qid")
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise AnalogyQAError(
                f"{path}, line {number}: not a pair of questions ({error!r}). Correct the line, or "
                "fetch the file again."
            ) from error
        label = label.lower() if label in ("True", "False") else label
        if label not in LABELS:
            raise AnalogyQAError(
                f"{path}, line {number}: unknown label {shown(label)}. The labels are "
                f"{', '.join(LABELS)}."
            )
        question_number += question != previous
        previous = question
        if question_id is None:
            question_id = f"{part}-{question_number}"
        yield Pair(number, question_id, question, candidate, LABELS[label], part)


def _text(values: dict, name: str) -> str:
    """Return a question with single spaces: its lemmatised text, or its raw subject and body."""
    keys = [name] if name in values else [f"{name}_subject", f"{name}_body"]
    for key in keys:
        if not isinstance(values[key], str):
            raise TypeError(f"{key}: {shown(values[key])} is not text")
        require_text(values[key])
    return nfc(" ".join(" ".join(values[key] for key in keys).split()))


def _id(values: dict, name: str) -> str:
    """Return an id, normalised by `clean_id`."""
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError(f"{name}: {shown(value)} is neither text nor an integer")
    text = str(value)
    require_text(text)
    return clean_id(text)
