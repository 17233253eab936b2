"""The name of a fold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from analogyqa.settings.data import Dataset, fold_name, fold_numbers

FILES = {"title": "T", "reader": "wikiqa", "train": "a/b", "dev": "a/b", "test": "a/b"}


@given(st.integers(2, 99).flatmap(lambda folds: st.tuples(st.integers(1, folds), st.just(folds))))
def test_a_fold_is_read_as_it_was_named(numbers):
    name = fold_name(*numbers)
    assert fold_numbers(name) == numbers
    assert Dataset(**FILES, fold=name).fold == name


@pytest.mark.parametrize(
    "fold",
    ["0of5", "6of5", "1of1", "x", "1of", "of5", "", "1", "1of5of5", "-1of5", "1.0of5", "1/5"],
)
def test_what_names_no_fold_is_refused(fold):
    with pytest.raises(ValueError, match="give a fold as 1of5"):
        fold_numbers(fold)
    with pytest.raises(ValidationError, match="give a fold as 1of5"):
        Dataset(**FILES, fold=fold)


def test_a_data_set_is_no_fold_unless_it_says_so():
    assert Dataset(**FILES).fold is None
