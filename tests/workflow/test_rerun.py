"""Only what depends on a change runs again."""

import re
import shutil

import pytest

from analogyqa.measures import RANKED
from builders.projects import (
    CHOICES,
    SENSITIVITY,
    SYSTEMS,
    TRAINING,
    VECTORS,
    WORDS,
    Project,
    cells_of,
    read_csv,
)

pytestmark = pytest.mark.workflow

REPORTING = {
    *("write_ledger", "judge_claims", "render_table", "draw_figure", "write_report"),
    "import_to_mlflow",
}
OTHER_TRAINING = {**TRAINING, "dropout": 0.25}


@pytest.fixture
def project(finished, tmp_path):
    """A copy of the finished project."""
    return finished.copy_to(tmp_path / "project")


@pytest.mark.draw
def test_a_finished_run_has_nothing_to_do(project):
    assert "Nothing to be done" in project.run().stdout


# A change, the cells that it runs, and the rules that follow beside those of the reports.
TUNED = {f"analogy/wikiqa/{subset}/hyperparameters=tuned" for subset in ("comb", "who")}
CHANGES = {
    "another device": ({"device": "cpu"}, set(), set()),
    "another title": ({"systems": SYSTEMS | {"analogy": {"title": "Renamed"}}}, set(), set()),
    "another point of a figure": (
        {"sweeps": {"p": [1, 3]}},
        {"analogy/wikiqa/comb/p=1"},
        {"build_training_quadruples", "build_evaluation_quadruples", "train_encoder"},
    ),
    "other hyperparameters": (
        {"selection": {"systems": ["analogy"],
                       "hyperparameters": {"hinge": None, "no_dropout": {"dropout": 0.1}}}},
        TUNED | {"analogy/wikiqa/comb/dropout=0.1"},
        {"train_encoder", "choose_hyperparameters"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_runs_only_the_cells_that_depend_on_it(project, name):
    changes, cells, rules = CHANGES[name]
    project.configure(**changes)
    jobs = project.jobs()
    assert cells_of(jobs) == cells
    assert {rule for rule, _ in jobs} - REPORTING == rules


TRAINED_RULES = {
    *("train_encoder", "choose_hyperparameters", "find_decisions", "explain_examples"),
}


@pytest.mark.draw
def test_a_changed_dropout_runs_the_trained_systems_again(project):
    project.configure(training=OTHER_TRAINING)
    jobs = project.jobs()
    assert {cell.split("/")[0] for cell in cells_of(jobs)} == {"analogy", "similarity", "tam"}
    assert {rule for rule, _ in jobs} - REPORTING == TRAINED_RULES


def test_another_seed_is_trained_alone(project):
    """A finished seed, the corpora and the vectors stay."""
    project.configure(seeds=[0, 7])
    rules = {rule for rule, _ in project.jobs()}
    assert {"choose_prototypes", "train_encoder"} <= rules
    assert not rules & {"build_corpus", "select_vectors", "fetch_source"}
    printed = project.make("results/runs/similarity/wikiqa/who/default/scores.parquet")
    assert "train_encoder similarity wikiqa who: " in printed
    log = project.results / "logs" / "train_encoder" / "similarity" / "wikiqa-who-default.log"
    assert "similarity wikiqa who seed 0: finished after epoch 2" in log.read_text()
    assert "similarity wikiqa who seed 7: epoch 1," in log.read_text()
    assert "similarity wikiqa who seed 0: epoch" not in log.read_text()


def test_the_output_folder_may_be_spelled_in_another_way(project):
    for spelling in ("./results/", str(project.results)):
        project.configure(output_dir=spelling)
        assert "Nothing to be done" in project.run("--dry-run").stdout
        project.configure(output_dir=spelling, training=OTHER_TRAINING)
        assert "analogy/wikiqa/who/default" in cells_of(project.jobs())


# Results with other settings that Snakemake would keep


def assert_refused(project, *arguments):
    done = project.run(*arguments)
    assert done.returncode == 1
    assert "dropout: 0.5, now 0.25" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("forgetting", ["metadata", "parameters"])
def test_other_settings_are_refused_if_snakemake_misses_the_change(project, forgetting):
    arguments = ["--dry-run"]
    if forgetting == "metadata":
        shutil.rmtree(project.folder / ".snakemake")
    else:
        arguments += ["--rerun-triggers", "mtime"]
    assert "Nothing to be done" in project.run(*arguments).stdout
    project.configure(training=OTHER_TRAINING)
    assert_refused(project, *arguments)
    assert project.run(*arguments, "--forceall").returncode == 0


def test_touching_runs_with_other_settings_is_refused(project):
    assert project.run("--touch").returncode == 0
    project.configure(training=OTHER_TRAINING)
    assert_refused(project, "--touch")
    assert_refused(project, "--touch", "--forceall")
    # The refused runs have left no metadata that vouch for the old results.
    assert "train_encoder" in {rule for rule, _ in project.jobs()}


def test_metadata_do_not_vouch_for_another_file(finished, project):
    """As after `--touch`, and after results were restored from a copy."""
    run = "runs/similarity/wikiqa/who/default"
    target = f"results/{run}/run.json"
    project.configure(training=OTHER_TRAINING)
    assert project.run(target).returncode == 0
    shutil.rmtree(project.results / run)
    shutil.copytree(finished.results / run, project.results / run, copy_function=shutil.copyfile)
    assert_refused(project, "--dry-run", target)
    assert_refused(project, "--dry-run", target, "--forcerun", "write_ledger")
    for forced in ("train_encoder", target):
        assert project.run("--dry-run", target, "--forcerun", forced).returncode == 0


# The open choices: each is a cell of its own, run on demand and only once

FILES = [
    *(f"tables/diallo2019/sensitivity.{suffix}" for suffix in ("csv", "md")),
    *(f"figures/diallo2019/sensitivity.{suffix}" for suffix in ("png", "svg")),
]


def test_the_open_choices_run_on_demand_and_only_once(project):
    """A margin of the loss that is not the configured one is another override."""
    systems = ("analogy", "similarity")
    dropped = {f"{name}/wikiqa/who/drop_all_correct=train+dev+test" for name in systems}
    hinge = {"analogy/wikiqa/who/loss=hinge", "similarity/wikiqa/who/loss=hinge@margin=0.1"}
    assert cells_of(project.jobs()) == set()
    assert not any((project.results / name).exists() for name in FILES)
    assert cells_of(project.jobs("sensitivity")) == hinge | dropped
    project.make("sensitivity")
    assert project.jobs("sensitivity") == []
    assert all((project.results / name).stat().st_size > 0 for name in FILES)
    rows = read_csv(project.results / FILES[0])
    keys = {(row["choice"], row["value"], row["system"], row["measure"]) for row in rows}
    assert len(keys) == len(rows) == 4 * 2 * len(RANKED)
    assert {row["choice"] for row in rows} == {"paper", "loss", "all_correct_questions", "vectors"}
    loss = dict.fromkeys(CHOICES["loss"]) | {"hinge": {"loss": "hinge", "margin": 0.3}}
    project.configure(sensitivity=SENSITIVITY | {"choices": CHOICES | {"loss": loss}})
    changed = {f"{name}/wikiqa/who/loss=hinge@margin=0.3" for name in systems}
    assert cells_of(project.jobs("sensitivity")) == changed


# Systems and tables that are made of other runs


def test_a_fused_system_has_a_row_and_its_parts_are_not_run_again(project):
    parts = {"analogy": [0], "fasttext": [0, 1]}
    both = {"title": "Both", "ranker": {"name": "fused", "parts": parts}}
    project.configure(systems={**SYSTEMS, "both": both})
    table = "results/tables/diallo2019/table4.md"
    jobs = project.jobs(table)
    assert cells_of(jobs) == set()
    fused = {output.rsplit("/", 1)[0] for rule, output in jobs if rule == "fuse_scores"}
    assert fused == {f"results/runs/both/wikiqa/{subset}/default" for subset in ("who", "comb")}
    project.make(table)
    assert re.search(r"\| Both +\| fused +\|", (project.folder / table).read_text())


def test_a_table_looks_inside_the_runs_of_its_papers(tmp_path):
    """One of its two data sets is configured, and lacks some of the questions of the paper."""
    project = Project(tmp_path / "project").create(
        papers=["hyperqa"],
        systems={**SYSTEMS, "hyperqa": {"training": {"max_epochs": 2}}},
        vectors={**VECTORS, "glove": WORDS},
        **dict.fromkeys(["selection", "sensitivity", "subsets", "question_types"]),
    )
    table = "results/tables/hyperqa/table8.md"
    project.make(table)
    page = (project.folder / table).read_text()
    assert "TrecQA: not run: data set trecqa is not configured." in page
    assert 'Not in these data: "founder twitter" of WikiQA' in page
    assert page.count("| Q |") == page.count("| A |") == 1

    for pattern in ("checkpoints/*.pt", "**/inside.parquet", "tables/**/table8.*"):
        for path in project.results.glob(pattern):
            path.unlink()
    project.make(table)  # trains the cell again, and keeps its record
    assert (project.folder / table).read_text() == page


# The code; tests/runs/test_depends_on.py has every plug-in

SUMS = {f"{name}/wikiqa/comb/default" for name in ("mappsent-answers", "mappsent-answers-both")}
P_AT_2 = 'RANKED = {\n    "p_at_2": RankedMeasure("Precision at 2", "P@2", P @ 2),\n'
# An edit, rules that it runs, and whether it runs rules of the reports.
EDITS = {
    # The encoder `sum` is a subclass of the same class.
    "an encoder": ("encoders/fixed.py", "1)", "2)", {"score_candidates"}, True),
    "the sign of a loss": (
        "objectives/losses.py", "energies - margin", "energies + margin",
        TRAINED_RULES, True,
    ),
    "a docstring": ("objectives/losses.py", '"""', '"""Newly worded: ', set(), False),
    "a comment": ("training/optimisers.py", "\n\n\n", "\n\n\n# A comment.\n", set(), False),
    "a new measure": ("measures.py", "RANKED = {\n", P_AT_2, set(), True),
    "claims": ("evaluation/claims.py", "def judge_claims(", "def judge_claims(_=1, *", set(), True),
    "a template": ("report/templates/report.html", "<", "< ", {"explain_examples"}, True),
    "a reader that is not used": (
        "corpora/trecqa.py", "yield Pair(", "yield Pair(0 + ", set(), False,
    ),
    "a reader": ("corpora/tabular.py", "yield Pair(", "yield Pair(0 + ", {"build_corpus"}, True),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_the_code_runs_what_depends_on_it(finished_checkout, tmp_path, name):
    file, old, new, rules, reports = EDITS[name]
    checkout = shutil.copytree(finished_checkout, tmp_path / "checkout")
    path = checkout / "workflow_scripts" / "analogyqa" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    jobs = Project(checkout / "work").jobs("--snakefile", str(checkout / "Snakefile"))
    rerun = {rule for rule, _ in jobs}
    assert bool(rerun & REPORTING) == reports
    assert rules <= rerun if "build_corpus" in rules else rerun - REPORTING == rules
    if name == "an encoder":
        assert cells_of(jobs) == SUMS | {"fasttext/wikiqa/comb/default"}
