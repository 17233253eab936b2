"""A target that a user types is a file that a run makes, under that very name."""

from pathlib import Path

import pytest

from analogyqa.cells import load_papers, reported_cells, sensitivity_cells
from analogyqa.cells.made import is_made
from analogyqa.cells.targets import require_target
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.settings.load import load_config
from analogyqa.settings.run import leave_out
from builders.papers import CONFIG, PAPER, Papers

ROOT = Path(__file__).parents[2]

# A target below the output folder, and what the message names.
WRONG = {
    "runs/analogy/toy/who/dropuot=0/run.json": "did you mean dropout",
    "runs/analogy/toy/who/hyperparameters=nope/run.json": "hyperparameters=tuned",
    "runs/baseline/toy/who/hyperparameters=tuned/run.json": "selection",
    "runs/analogy/toy/who/fold=0of5/run.json": "fold as 1of5",
    "runs/analogy/toy/who/dropout/run.json": "name=value",
    "runs/analgy/toy/who/default/run.json": "did you mean analogy",
    "runs/analogy/toy/whi/default/run.json": "did you mean who",
    # A run records its overrides, so each has its one spelling, and none that does nothing.
    "runs/analogy/toy/who/dropout=0.0/run.json": "out/runs/analogy/toy/who/dropout=0",
    "runs/analogy/toy/who/dropout=0.25/run.json": "out/runs/analogy/toy/who/default",
    "runs/analogy/toy/who/loss=hinge@dropout=0/run.json": "out/runs/analogy/toy/who/dropout=0@loss",
    "runs/baseline/toy/who/aggregate=mean/run.json": "aggregate has no effect",
    "corpora/toys.parquet": "did you mean toy",
    "corpora/toy@dropout=0.parquet": "'dropout' is not known",
    "entities/toy@fold=1of5.json": "out/entities/toy.json",
    "vectors/toy/som.npy": "did you mean some",
    "vectors/toy/some@dmi=3.npy": "did you mean dim",
    "vectors/toy/some@dim=many.npy": "dim",
    "tables/small/table99.csv": "did you mean table1",
    "tables/small/cross_validation.csv": "table1",
    "figures/small/figure2.png": "did you mean figure1",
}
RIGHT = [
    "runs/analogy/toy/who/default/run.json",
    "runs/analogy/toy/both/hyperparameters=tuned/scores.parquet",
    "runs/analogy/toy/who/dropout=0@loss=hinge/metrics.parquet",
    "corpora/toy@fold=1of5-partition3.parquet",
    "runs/analogy/toy/who/fold=1of5-shift1/run.json",
    "entities/toy@drop_all_correct=dev.parquet",
    "vectors/toy/some.words.txt",
    "vectors/trained/some.bin",
    "corpora",  # a folder, which Snakemake refuses
    "tables/small/sensitivity.csv",
    "figures/small/figure1.svg",
    "figures/small/verdicts.svg",
    "ledger.csv",
]


@pytest.mark.parametrize("target", WRONG)
def test_a_target_that_no_run_makes_is_refused(papers: Papers, target):
    config = papers.load()
    with pytest.raises(AnalogyQAError) as caught:
        require_target(f"out/{target}", config, load_papers(config, papers.folder))
    assert str(caught.value).startswith(f"out/{target}: ")
    assert WRONG[target] in str(caught.value)


@pytest.mark.parametrize(
    ("target", "missing"),
    [
        ("runs/mean/toy/who/default/run.json", "mean"),
        ("runs/baseline/toy/who/default/run.json", "baseline toy"),
        ("runs/analogy/toy/who/loss=hinge/run.json", "analogy loss=hinge"),
        ("runs/analogy/toy/who/default/run.json", "toy"),
        ("corpora/toy.parquet", "toy"),
        ("runs/analogy/toy/who/vectors=cased/run.json", "vectors.cased"),
        ("runs/stored/toy/who/default/run.json", "sentence_vectors.means"),
        ("vectors/toy/cased.npy", "vectors.cased"),
        ("sentence_vectors/toy/means.npy", "sentence_vectors.means"),
    ],
)
def test_a_target_that_cannot_run_here_is_refused_with_the_reason(papers, target, missing):
    reasons = {missing: "no room"}
    with pytest.raises(AnalogyQAError, match=r"no room$"):
        require_target(f"out/{target}", leave_out(papers.load(), reasons), {}, reasons)


@pytest.mark.parametrize("target", RIGHT)
def test_a_target_that_a_run_makes_is_accepted(papers: Papers, target):
    config = papers.load()
    require_target(f"out/{target}", config, load_papers(config, papers.folder))
    require_target("out", config, {})


@pytest.mark.parametrize("left_out", [["toy"], ["analogy toy", "baseline toy"]])
def test_the_table_of_a_study_without_cells_is_no_target(papers, left_out):
    folds = "cross_validation: {subset: who, datasets: null, systems: [analogy, baseline]}"
    papers.write("small", CONFIG + folds, PAPER)
    config, all_papers = papers.load(), load_papers(papers.load(), papers.folder)
    remaining = leave_out(config, dict.fromkeys(left_out, "no room"))
    for name in ("sensitivity", "cross_validation"):
        target = f"out/tables/small/{name}.csv"
        require_target(target, config, all_papers)
        with pytest.raises(AnalogyQAError):
            require_target(target, remaining, all_papers)


@pytest.mark.parametrize("target", ["./out/ledger.csv", f"{Path.cwd()}/out/ledger.csv"])
def test_a_target_in_another_spelling_is_refused_with_its_own(papers, target):
    with pytest.raises(AnalogyQAError, match=r"ask for out/ledger\.csv$"):
        require_target(target, papers.load(), {})


def test_every_planned_cell_is_a_target():
    names = ["diallo2019", "beyond", "hyperqa", "sentence_analogies"]
    config = load_config(read_yaml(ROOT / "config.yaml") | {"papers": names})
    papers = load_papers(config)
    varied = [cell for name in names for cell in sensitivity_cells(config, name).values()]
    for cell in [*reported_cells(config, papers), *varied]:
        name = f"runs/{cell.with_run(config).path}/run.json"
        require_target(f"{config.output_dir}/{name}", config, papers)
        assert is_made(name)
