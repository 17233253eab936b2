"""SemEval Task 3, subtask B (Nakov et al. 2016, 2017): forum questions and related questions.

A question is an original question, its subject and body; its candidates are the ten related
questions that a search engine found, in its order. Released as XML, once for each candidate; and
here also as JSON lines, where `split` says which part of the data a pair is of, as the official
files of two parts cannot be had. There a text is lemmatised (`orgq`, `relq`) where the raw one is
not whole.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.semeval_xml import Release
from analogyqa.corpora.table import Pair, clean_id, read_lines
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.text import nfc, require_text

# "No distinction is made between PerfectMatch and Relevant"; the gold files have true and false.
LABELS = {"PerfectMatch": 1, "Relevant": 1, "Irrelevant": 0, "true": 1, "false": 0}


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of a file of XML or, if its name ends so, of JSON lines (`.jsonl`).

    The text of a question is that of its first pair: question Q326 of 2016 has another one in
    between. JSON lines without an id, or with null, are numbered by their question; empty lines are
    passed over. Raises AnalogyQAError, naming the line, for a file that is not well-formed, a
    missing part, an id that is neither a text nor a whole number, a character that no text has, or
    an unknown label.
    """
    texts: dict[str, str] = {}
    for pair in (_lines if Path(path).suffix == ".jsonl" else _elements)(path):
        yield pair._replace(question=texts.setdefault(pair.question_id, pair.question))


def _elements(path: str | Path) -> Iterator[Pair]:
    release = Release(path)
    for original in release.iter("OrgQuestion"):
        question_id = release.id(original, "ORGQ_ID")
        question = release.text(original, "OrgQSubject", "OrgQBody")
        related = original.findall("Thread/RelQuestion")
        if not related:
            raise release.fail(original, f"the question {question_id} has no related question")
        for each in related:
            text = release.text(each, "RelQSubject", "RelQBody")
            label = release.label(each, "RELQ_RELEVANCE2ORGQ", LABELS)
            yield Pair(release.line(each), question_id, question, text, label)


def _lines(path: str | Path) -> Iterator[Pair]:
    running, previous = 0, None
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
                f"{path}, line {number}: not a pair of questions ({error!r}). Correct the line or "
                "fetch the file again."
            ) from error
        label = label.lower() if label in ("True", "False") else label
        if label not in LABELS:
            known = ", ".join(LABELS)
            raise AnalogyQAError(
                f"{path}, line {number}: label {shown(label)}; take a file with the labels {known}"
            )
        running += question != previous
        previous = question
        if question_id is None:
            question_id = f"{part}-{running}"
        yield Pair(number, question_id, question, candidate, LABELS[label], part)


def _text(values: dict, name: str) -> str:
    """Return a question with single spaces: lemmatised, or its raw subject and body."""
    names = [name] if name in values else [f"{name}_subject", f"{name}_body"]
    parts = [values[each] for each in names]
    for each, part in zip(names, parts, strict=True):
        if not isinstance(part, str):
            raise TypeError(f"{each}: {shown(part)} is no text")
        require_text(part)
    return nfc(" ".join(" ".join(parts).split()))


def _id(values: dict, name: str) -> str:
    """Return an id, a text or a whole number, as `clean_id` does."""
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError(f"{name}: {shown(value)} is neither a text nor a whole number")
    text = str(value)
    require_text(text)
    return clean_id(text)
