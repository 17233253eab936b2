"""Who, when, where: the split of the questions (section 3.2 of the CoNLL paper)."""

from typing import Literal, get_args

QuestionType = Literal["who", "when", "where"]
QUESTION_TYPES: tuple[str, ...] = get_args(QuestionType)
COMB = "comb"
SUBSETS: tuple[str, ...] = (*QUESTION_TYPES, COMB)


def question_type(question: str, has_correct_candidate: bool) -> str | None:
    """Return `who`, `when` or `where`, or None for a question that the paper leaves out.

    The type is the first white-space token, lower-cased, and the question must have a correct
    candidate. Of the rules that were tried only this one gives all 18 counts of Table 2.
    """
    if not has_correct_candidate:
        return None
    first = question.split(maxsplit=1)[:1]
    token = first[0].lower() if first else ""
    return token if token in QUESTION_TYPES else None


def types_of(subset: str) -> tuple[str, ...]:
    """Return the question types of a subset: itself, or all of them for `comb`."""
    return QUESTION_TYPES if subset == COMB else (subset,)
