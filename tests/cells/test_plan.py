"""What a run makes, and the patterns of the names in its files."""

import re

import pytest

from analogyqa.cells.plan import load_plan, one_of, with_overrides
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.settings.base import merge
from builders.projects import REPOSITORY


def test_folders_that_cannot_be_written_to_are_refused_before_anything_is_read(
    monkeypatch, tmp_path
):
    files = [REPOSITORY / name for name in ("config.yaml", "sample/config.yaml")]
    sample = merge(*map(read_yaml, files))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(AnalogyQAError, match=r"^output_dir: .*file is a file"):
        load_plan(sample | {"output_dir": "file/demo"}, environ={})
    (tmp_path / ".snakemake").touch()
    with pytest.raises(AnalogyQAError, match=r"^Snakemake's own files: .*snakemake is a file"):
        load_plan(sample | {"output_dir": "demo"}, environ={})


def test_patterns_match_whole_names():
    assert re.fullmatch(one_of(["a.b", "c"]), "a.b") and not re.fullmatch(one_of(["a.b"]), "axb")
    assert not re.search(one_of([]), "")
    assert re.fullmatch(with_overrides(["toy"]), "toy@fold=1of2")
    assert not re.fullmatch(with_overrides(["toy"]), "toys")
