"""A run goes on from an archive: it trains nothing again, and ends with the same numbers."""

import shutil
from functools import partial

import pytest

from builders.projects import run_program

pytestmark = [pytest.mark.workflow, pytest.mark.draw]

MAKING = ("train_encoder", "score_candidates", "fuse_scores")
SAME = ("ledger.csv", "claims.csv", "comparisons.csv", "tables/sample/cross_validation.csv")


def test_a_lost_folder_is_restored_and_finished_without_training(demo, tmp_path):
    """One run is lost from the archive, too; it alone is made again."""
    ignored = shutil.ignore_patterns(".snakemake", "mlflow.db", "mlflow-artifacts", "checkpoints")
    checkout = shutil.copytree(demo, tmp_path / "checkout", ignore=ignored)
    results, run = checkout / "results" / "demo", partial(run_program, checkout=checkout)
    before = {name: (results / name).read_bytes() for name in SAME}
    shutil.rmtree(results / "runs" / "bm25")
    run("analogyqa", "archive", "results/demo")
    shutil.rmtree(results)
    printed = run("analogyqa", "restore", "results/demo.crate.zip", "--cores", "2")
    assert "0 are not restored" in printed
    snakemake = ("python", "-m", "snakemake", "--configfile", "sample/config.yaml", "--cores", "2")
    planned = run(*snakemake, "--dry-run", "--quiet", "rules").splitlines()
    counts = dict(line.split()[:2] for line in planned if len(line.split()) == 2)
    assert {rule for rule in MAKING if rule in counts} == {"score_candidates"}
    run(*snakemake, "--quiet", "rules")
    assert {name: (results / name).read_bytes() for name in SAME} == before
    assert "no differences" in run("analogyqa", "verify", "results/demo")
