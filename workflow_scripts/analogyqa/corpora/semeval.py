"""SemEval Task 3 (Nakov et al. 2015 to 2017): forum questions with comments or related questions.

Subtask A: a question is the subject and body of a "related question"; its candidates are the
comments in its thread. Files that cover all subtasks repeat a thread for each question it is
related to, and mark the repetitions. We skip these, as the task asks, which leaves the threads of
the `-subtaskA` file.

Subtask B: a question is the subject and body of an "original question"; its candidates are the ten
related questions that a search engine found, in its order. The release is XML and repeats the
question for each candidate. Because the official files of two parts are not available, we also
read JSON lines, in which `split` names the part. Some of their texts are lemmatised (`orgq`,
`relq`) because the raw text is incomplete. Where only the sentence vectors of the questions are
published, the texts are the ids, by which the vectors are named.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder

from defusedxml.ElementTree import DefusedXMLParser, ParseError

from analogyqa.corpora.table import Pair, clean_id
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.files import read_bytes, read_lines
from analogyqa.text import nfc, require_text

_LINE = "#line"  # not a valid XML attribute name, so it clashes with none
COMMENT_LABELS = {"Good": 1, "PotentiallyUseful": 0, "Bad": 0}
# The task makes no distinction between PerfectMatch and Relevant. Gold files have true and false.
RELATED_LABELS = {"PerfectMatch": 1, "Relevant": 1, "Irrelevant": 0, "true": 1, "false": 0}
REPEATED = "SubtaskA_Skip_Because_Same_As_RelQuestion_ID"
# The released 2015 development split has this question without comments. It cannot be ranked, so
# we skip it; any other question without comments means a damaged file.
_RELEASED_WITHOUT_CANDIDATES = {"Q2657"}


# The number of the first original question of each part, by the names that JSON lines have.
_FIRST = {"train-part1": 1, "train-part2": 201, "dev": 268, "test2016": 318, "test2017": 388}
_QUESTION_ID = re.compile(r"Q([1-9]\d{0,8})(?:_R([1-9]\d{0,8}))?", re.ASCII)


class Release:
    """One file of a release. Its errors name the file and the line."""

    def __init__(self, path: str | Path) -> None:
        """Parse a file, or raise AnalogyQAError for malformed XML or an entity declaration."""
        self.path = path
        parser = _LinedParser(target=TreeBuilder())
        try:
            # The released files have a DTD. It is harmless as long as it declares no entity.
            parser.feed(read_bytes(path))
            self.iter = parser.close().iter
        except (ParseError, ValueError, LookupError) as error:  # the last two: encoding, entities
            cause = str(error).partition(": line")[0]
            raise AnalogyQAError(
                f"{path}, line {parser.parser.CurrentLineNumber}: malformed XML ({cause}). Fetch "
                "the file again."
            ) from error

    def fail(self, element: Element, cause: str) -> AnalogyQAError:
        """Return an error about an element."""
        line = element.attrib[_LINE]
        return AnalogyQAError(
            f"{self.path}, line {line}: {cause}. Correct the file, or fetch it again."
        )

    def attribute(self, element: Element, name: str) -> str:
        if name not in element.attrib:
            raise self.fail(element, f"a {element.tag} without {name}")
        return element.attrib[name]

    def id(self, element: Element, name: str) -> str:
        """Return the id in an attribute, normalised by `clean_id`."""
        return clean_id(self.attribute(element, name))

    def text(self, element: Element, *names: str) -> str:
        """Return the joined text of one child element of each name, with single spaces."""
        texts = []
        for name in names:
            children = element.findall(name)
            if len(children) != 1:
                cause = f"a {element.tag} with {len(children)} {name} instead of one"
                raise self.fail(element, cause)
            texts += "".join(children[0].itertext()).split()
        return nfc(" ".join(texts))

    def pair(
        self,
        element: Element,
        question: tuple[str, str],
        texts: tuple[str, ...],
        label: str,
        labels: dict[str, int],
    ) -> Pair:
        """Return a candidate of a question, which is its id and text.

        `texts` are the elements of its text. `labels` gives the numbers of the attribute `label`.
        """
        value = self.attribute(element, label)
        if value not in labels:
            cause = f"unknown label {shown(value)} (the labels are {', '.join(labels)})"
            raise self.fail(element, cause)
        line = int(element.attrib[_LINE])
        return Pair(line, *question, self.text(element, *texts), labels[value])


class _LinedParser(DefusedXMLParser):
    """Builds elements with their line number as an attribute."""

    def _start(self, tag: str, attributes: list[str]) -> Element:
        element = super()._start(tag, attributes)  # type: ignore[misc]
        element.set(_LINE, str(self.parser.CurrentLineNumber))
        return element


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file, with normalised white space.

    Raises:
        AnalogyQAError: for malformed XML or an entity declaration, a missing or unexpected element
            or attribute, an unknown label, a repeated id or a question without comments.
    """
    release = Release(path)
    seen: set[str] = set()
    for thread in release.iter("Thread"):
        if thread.get(REPEATED):
            continue
        if [child.tag for child in thread] != ["RelQuestion"] + ["RelComment"] * (len(thread) - 1):
            raise release.fail(thread, "expected a RelQuestion and then RelComments in this Thread")
        related, *comments = thread
        question_id = release.id(related, "RELQ_ID")
        if not comments and question_id not in _RELEASED_WITHOUT_CANDIDATES:
            raise release.fail(related, f"the question {question_id} has no comments")
        ids = [question_id, *(release.id(comment, "RELC_ID") for comment in comments)]
        for element, element_id in zip(thread, ids, strict=True):
            if element_id in seen:
                raise release.fail(element, f"a second element with the id {element_id}")
            seen.add(element_id)
        question = question_id, release.text(related, "RelQSubject", "RelQBody")
        for comment in comments:
            label = "RELC_RELEVANCE2RELQ"
            yield release.pair(comment, question, ("RelCText",), label, COMMENT_LABELS)


def read_related(path: str | Path) -> Iterator[Pair]:
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
        question = question_id, release.text(original, "OrgQSubject", "OrgQBody")
        all_related = original.findall("Thread/RelQuestion")
        if not all_related:
            raise release.fail(original, f"the question {question_id} has no related question")
        for related in all_related:
            texts, label = ("RelQSubject", "RelQBody"), "RELQ_RELEVANCE2ORGQ"
            yield release.pair(related, question, texts, label, RELATED_LABELS)


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
        if label not in RELATED_LABELS:
            raise AnalogyQAError(
                f"{path}, line {number}: unknown label {shown(label)}. The labels are "
                f"{', '.join(RELATED_LABELS)}."
            )
        question_number += question != previous
        previous = question
        if question_id is None:
            question_id = f"{part}-{question_number}"
        yield Pair(number, question_id, question, candidate, RELATED_LABELS[label], part)


def _text(values: dict, name: str) -> str:
    """Return a question with single spaces: its lemmatised text, or its raw subject and body."""
    texts = [
        values[key] for key in ([name] if name in values else [f"{name}_subject", f"{name}_body"])
    ]
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{name}: {shown(text)} is not text")
        require_text(text)
    return nfc(" ".join(" ".join(texts).split()))


def _id(values: dict, name: str) -> str:
    """Return an id, normalised by `clean_id`."""
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError(f"{name}: {shown(value)} is neither text nor an integer")
    require_text(str(value))
    return clean_id(str(value))


def read_ids(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of a file that has the ids of questions instead of their texts.

    It is a gold file (ids, rank, score and label on each line, with tabs), or one of sentence
    vectors in text format. The latter has no labels, so all related questions count as similar.
    Pairs are sorted by the numbers in their ids.

    Raises AnalogyQAError for another id or label.
    """
    pairs = {}
    for number, line in read_lines(path):
        *fields, label = line.split("\t")
        name = fields[1] if len(fields) == 4 else line.partition(" ")[0]
        label = label if fields else "true"
        if number == 1 and not fields and name.isdecimal():
            continue  # the number of vectors
        match = _QUESTION_ID.fullmatch(name)
        if match is None or label not in RELATED_LABELS:
            raise AnalogyQAError(
                f"{path}, line {number}: {shown(name)}, {shown(label)} are not an id (Q1_R2) and a "
                "label. Fetch the file again."
            )
        thread, related = match.groups()
        if related:
            part = [part for part, first in _FIRST.items() if first <= int(thread)][-1]
            pair = Pair(number, f"Q{thread}", f"Q{thread}", name, RELATED_LABELS[label], part)
            pairs[int(thread), int(related)] = pair
    yield from (pairs[key] for key in sorted(pairs))
