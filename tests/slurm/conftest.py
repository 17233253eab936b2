"""A running cluster for the tests, with and without accounting."""

import pytest

from builders.cluster import Cluster, missing


def running(accounting: bool):
    def cluster(tmp_path_factory):
        if lacking := missing(accounting):
            pytest.skip(f"no Slurm can be started here: {', '.join(lacking)} missing")
        with Cluster(tmp_path_factory.mktemp("slurm") / "cluster", accounting).running() as cluster:
            yield cluster

    return pytest.fixture(cluster, scope="session")


cluster, accounting_cluster = running(accounting=False), running(accounting=True)
