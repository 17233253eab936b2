"""The name of a fold, and the files of a folder of relations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.data import Dataset, fold_numbers, relation_files

FILES = {"title": "T", "reader": "wikiqa", "train": "a/b", "dev": "a/b", "test": "a/b"}


@given(
    st.integers(2, 99).flatmap(lambda folds: st.tuples(st.integers(1, folds), st.just(folds))),
    st.integers(0, 99),
)
def test_the_name_of_a_fold_gives_its_numbers(numbers, partition):
    name = "{}of{}".format(*numbers)
    assert fold_numbers(name) == (*numbers, 0)
    assert fold_numbers(f"{name}-partition{partition}") == (*numbers, partition)
    assert Dataset(**FILES, fold=name).fold == name


MALFORMED = ["0of5", "6of5", "1of1", "x", "1of", "of5", "", "1of5of5", "-1of5", "1.0of5", "1/5",
             "1of5-partition", "1of5-partition1-shift1", "1of5-3"]  # fmt: skip


@pytest.mark.parametrize("fold", MALFORMED)
def test_a_malformed_fold_is_refused(fold):
    with pytest.raises(ValueError, match="give a fold as 1of5"):
        fold_numbers(fold)
    with pytest.raises(ValidationError, match="give a fold as 1of5"):
        Dataset(**FILES, fold=fold)


BACKUPS = ["capital.txt~", "capital.txt.bak", "#capital.txt#", ".capital.txt.swp", "capital.orig"]


@pytest.mark.parametrize("backup", BACKUPS)
def test_backups_and_folders_are_ignored(tmp_path, backup):
    for name in ("capital.txt", "family.tsv", backup):
        (tmp_path / name).write_text("")
    (tmp_path / "folder").mkdir()
    assert [path.name for path in relation_files(tmp_path)] == ["capital.txt", "family.tsv"]


@pytest.mark.parametrize("other", ["capital.tsv", "capital", "capital.parquet"])
def test_two_files_of_one_relation_are_refused(tmp_path, other):
    for name in ("capital.txt", other):
        (tmp_path / name).write_text("")
    with pytest.raises(AnalogyQAError, match=f"(?=.*{other})(?=.*capital.txt)"):
        relation_files(tmp_path)
