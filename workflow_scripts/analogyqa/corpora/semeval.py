"""SemEval-2016 Task 3, subtask A (Nakov et al. 2016): forum questions and their comments, in XML.

A question is a related question, its subject and body; its candidates are the comments of its
thread. Files of all subtasks hold a thread once for each question that it is related to, and mark
the repetitions, also of threads in other files. These are left out, as the task asks; what stays
are the threads of the file named `-subtaskA`.
"""

from collections.abc import Iterator
from pathlib import Path

from analogyqa.corpora.semeval_xml import Release
from analogyqa.corpora.table import Pair

LABELS = {"Good": 1, "PotentiallyUseful": 0, "Bad": 0}
REPEATED = "SubtaskA_Skip_Because_Same_As_RelQuestion_ID"

# The released development split of 2015 holds this question without a comment. It cannot be ranked
# and is left out; any other such question is a sign of a damaged file.
_RELEASED_WITHOUT_CANDIDATES = {"Q2657"}


def read(path: str | Path) -> Iterator[Pair]:
    """Yield the pairs of one split's file; the line is the comment's, white space is one space.

    Raises AnalogyQAError, naming the line, for a file that is not well-formed or declares an
    entity, a thread of other parts, a part or attribute that is missing, an unknown label, an id
    that comes twice or a question without comments.
    """
    release = Release(path)
    seen: set[str] = set()
    for thread in release.iter("Thread"):
        if thread.get(REPEATED):
            continue
        if [child.tag for child in thread] != ["RelQuestion"] + ["RelComment"] * (len(thread) - 1):
            raise release.fail(thread, "this Thread is not a RelQuestion and then RelComments")
        related, *comments = thread
        question_id = release.id(related, "RELQ_ID")
        if not comments and question_id not in _RELEASED_WITHOUT_CANDIDATES:
            raise release.fail(related, f"the question {question_id} has no comments")
        ids = [question_id, *(release.id(comment, "RELC_ID") for comment in comments)]
        for element, own_id in zip(thread, ids, strict=True):
            if own_id in seen:
                raise release.fail(element, f"a second {element.tag} {own_id}; ids must be unique")
            seen.add(own_id)
        question = release.text(related, "RelQSubject", "RelQBody")
        for comment in comments:
            label = release.label(comment, "RELC_RELEVANCE2RELQ", LABELS)
            text = release.text(comment, "RelCText")
            yield Pair(release.line(comment), question_id, question, text, label)
