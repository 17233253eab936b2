"""SemEval-2016 Task 3, subtask A (Nakov et al. 2016): forum questions and their comments, in XML.

A question is a related question, its subject and body; its candidates are the comments of its
thread. Files of all subtasks hold a thread once for each question that it is related to, and mark
the repetitions, also of threads in other files. These are left out, as the task asks; what stays
are the threads of the file named `-subtaskA`.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax import SAXException
from xml.sax.handler import ContentHandler

from defusedxml.sax import parseString

from analogyqa.corpora.table import Pair
from analogyqa.errors import AnalogyQAError, shown

LABELS = {"Good": 1, "PotentiallyUseful": 0, "Bad": 0}
REPEATED = "SubtaskA_Skip_Because_Same_As_RelQuestion_ID"
LINE = "#line"  # no attribute of XML has such a name

# The released development split of 2015 holds this question without a comment. It cannot be ranked
# and is left out; any other such question is a sign of a damaged file.
_RELEASED_WITHOUT_CANDIDATES = {"Q2657"}


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file; the line is the comment's, white space is one space.

    Raises AnalogyQAError, naming the line, for a file that is not well-formed or declares an
    entity, a thread of other parts, a part or attribute that is missing, an unknown label, an id
    that comes twice or a question without comments.
    """

    def fail(element: Element, cause: str) -> AnalogyQAError:
        return AnalogyQAError(f"{path}, line {element.get(LINE)}: {cause}")

    def attribute(element: Element, name: str) -> str:
        if name not in element.attrib:
            raise fail(element, f"a {element.tag} without {name}. Fetch the file again.")
        return element.attrib[name]

    def text(element: Element, *names: str) -> str:
        parts = [element.findall(name) for name in names]
        for name, found in zip(names, parts, strict=True):
            if len(found) != 1:
                raise fail(element, f"a {element.tag} with {len(found)} {name}; it must have one")
        return " ".join(" ".join("".join(part.itertext()) for [part] in parts).split())

    seen: set[str] = set()
    for thread in _parse(path).iter("Thread"):
        if thread.get(REPEATED):
            continue
        if [child.tag for child in thread] != ["RelQuestion"] + ["RelComment"] * (len(thread) - 1):
            raise fail(thread, "this Thread is not a RelQuestion and then RelComments")
        related, *comments = thread
        question_id = attribute(related, "RELQ_ID")
        if not comments and question_id not in _RELEASED_WITHOUT_CANDIDATES:
            raise fail(related, f"the question {question_id} has no comments")
        ids = [question_id, *(attribute(comment, "RELC_ID") for comment in comments)]
        for element, own_id in zip(thread, ids, strict=True):
            if own_id in seen:
                raise fail(element, f"a second {element.tag} {own_id}; ids must be unique")
            seen.add(own_id)
        question = text(related, "RelQSubject", "RelQBody")
        for comment in comments:
            label = attribute(comment, "RELC_RELEVANCE2RELQ")
            if label not in LABELS:
                known = ", ".join(LABELS)
                raise fail(comment, f"label {shown(label)}; take a file with the labels {known}")
            line = int(attribute(comment, LINE))
            yield Pair(line, question_id, question, text(comment, "RelCText"), LABELS[label])


class _LinedTree(ContentHandler):
    """Builds elements that know their lines."""

    def __init__(self) -> None:
        super().__init__()
        self.builder = TreeBuilder()
        self.characters, self.endElement = self.builder.data, self.builder.end

    def startElement(self, name, attrs) -> None:
        self.builder.start(name, {**attrs, LINE: str(self._locator.getLineNumber())})

    def skippedEntity(self, name) -> None:
        raise SAXException(f"the entity {name} is not declared")


def _parse(path: str | Path) -> Element:
    tree = _LinedTree()
    try:
        # The released files have a DTD, which is harmless as long as it declares no entity.
        parseString(Path(path).read_bytes(), tree)
    except (SAXException, ValueError, LookupError) as error:  # the last two: entities, encodings
        cause = error.getMessage() if isinstance(error, SAXException) else error
        line = tree._locator.getLineNumber()
        raise AnalogyQAError(
            f"{path}, line {line}: not the XML of a release ({cause}). Fetch the file again."
        ) from error
    return tree.builder.close()
