"""What the page says of the runs as a whole."""

import pytest

from analogyqa.report.page.runs import Run, commits_and_machines


@pytest.mark.parametrize(
    ("commit", "shown"),
    [
        ("0123456789abcdef0123", "0123456789ab"),
        ("0123456789abcdef0123-dirty", "0123456789ab-dirty"),
        ("unknown", "unknown"),
    ],
)
def test_a_commit_is_shortened_and_changed_code_is_said(commit, shown):
    run = Run("a/b/c/d", "a b c", {"git_commit": commit, "platform": "Linux"}, "")
    assert commits_and_machines([run, run]) == f"2 runs of commit {shown} on Linux"
