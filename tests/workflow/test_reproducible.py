"""The same seed gives the same bytes, in another folder and on another day."""

import pytest

from builders.projects import Project

pytestmark = pytest.mark.workflow


def test_two_runs_give_byte_identical_tables_and_figures(finished, tmp_path):
    second = Project(tmp_path / "elsewhere").create()
    done = second.run()
    assert done.returncode == 0, done.stdout
    first_products, second_products = finished.products(), second.products()
    assert len(first_products) == 36
    assert first_products.keys() == second_products.keys()
    differing = [name for name in first_products if first_products[name] != second_products[name]]
    assert differing == []
