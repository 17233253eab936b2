"""The fixture of all tests with files that would run code."""

import pytest


@pytest.fixture
def marker(tmp_path):
    """The file that a payload creates when it is run."""
    return tmp_path / "executed"
