"""A running cluster for the tests, with and without accounting."""

from pathlib import Path

import pytest

from slurm.cluster import Cluster, missing


def running(folder: Path, accounting: bool):
    lacking = missing(accounting)
    if lacking:
        pytest.skip(f"no Slurm can be started here: {', '.join(lacking)} missing")
    with Cluster(folder, accounting) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    yield from running(tmp_path_factory.mktemp("slurm") / "cluster", accounting=False)


@pytest.fixture(scope="session")
def accounting_cluster(tmp_path_factory):
    yield from running(tmp_path_factory.mktemp("slurm") / "accounting", accounting=True)
