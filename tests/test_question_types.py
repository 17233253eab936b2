"""The rule that gives Table 2."""

import pytest

from analogyqa.question_types import question_type, types_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("who wrote it ?", "who"),
        ("Who wrote it ?", "who"),
        ("WHEN was it ?", "when"),
        (" \twhere is it ?", "where"),
        ("where", "where"),
    ],
)
def test_the_first_token_in_lower_case_is_the_type(question, kind):
    assert question_type(question, has_correct_candidate=True) == kind


@pytest.mark.parametrize(
    "question",
    [
        "Who's there ?",
        "whose is it ?",
        "who? me",
        "In when was it ?",
        "what did who say ?",
        "what is it ?",
        "",
        " ",
    ],
)
def test_anything_else_as_the_first_token_is_no_type(question):
    assert question_type(question, has_correct_candidate=True) is None


def test_a_question_without_a_correct_candidate_has_no_type():
    assert question_type("who wrote it ?", has_correct_candidate=False) is None


def test_comb_is_the_union_of_the_types():
    assert types_of("comb") == ("who", "when", "where")
    assert types_of("when") == ("when",)
