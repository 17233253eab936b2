"""A system that fuses the runs of others."""

import pytest

from builders.projects import SYSTEMS, cells_of

pytestmark = pytest.mark.workflow
BOTH = {"title": "Both", "ranker": {"name": "fused", "parts": {"analogy": [0], "fasttext": [0, 1]}}}
TABLE = "results/tables/diallo2019/table4.md"


def test_a_fused_system_has_a_row_and_its_parts_are_not_run_again(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    project.configure(systems={**SYSTEMS, "both": BOTH})
    jobs = project.jobs(TABLE)
    assert cells_of(jobs) == set()
    fused = {output.rsplit("/", 1)[0] for rule, output in jobs if rule == "fuse_scores"}
    assert fused == {f"results/runs/both/wikiqa/{subset}/default" for subset in ("who", "comb")}
    done = project.run(TABLE)
    assert done.returncode == 0, done.stdout
    (row,) = [
        line for line in (project.folder / TABLE).read_text().splitlines() if "| Both " in line
    ]
    assert [cell.strip() for cell in row.split("|")][2] == "fused"
