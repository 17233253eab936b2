"""Input files for the readers."""

import pytest


@pytest.fixture
def read_file(tmp_path):
    """Write a file, and return the pairs that a reader yields from it."""

    def read_file(read, name, content: str | bytes) -> list:
        encoded = content if isinstance(content, bytes) else content.encode("utf-8")
        (tmp_path / name).write_bytes(encoded)
        return list(read(tmp_path / name))

    return read_file
