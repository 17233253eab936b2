"""SemEval-2016 Task 3, subtask A (Nakov et al. 2016): forum questions and their comments, in XML.

A question is the subject and body of a "related question"; its candidates are the comments in its
thread. Files that cover all subtasks repeat a thread for each question it is related to, and mark
the repetitions. We skip these, as the task asks, which leaves the threads of the `-subtaskA` file.
"""

from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.semeval_xml import Release
from analogyqa.corpora.table import Pair

LABELS = {"Good": 1, "PotentiallyUseful": 0, "Bad": 0}
REPEATED = "SubtaskA_Skip_Because_Same_As_RelQuestion_ID"

# The released 2015 development split has this question without comments. It cannot be ranked, so
# we skip it; any other question without comments means a damaged file.
_RELEASED_WITHOUT_CANDIDATES = {"Q2657"}


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
        question = release.text(related, "RelQSubject", "RelQBody")
        for comment in comments:
            label = release.label(comment, "RELC_RELEVANCE2RELQ", LABELS)
            text = release.text(comment, "RelCText")
            yield Pair(release.line(comment), question_id, question, text, label)
