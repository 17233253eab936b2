"""Only what depends on a change runs again."""

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
def changed(finished, tmp_path):
    """A function that copies the finished project with changes and returns the jobs left to do."""

    def jobs(**changes):
        project = finished.copy_to(tmp_path / "project")
        project.configure(**changes)
        return project.jobs()

    return jobs


@pytest.mark.draw
def test_a_finished_run_has_nothing_to_do(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    assert "Nothing to be done" in project.run().stdout


def test_a_changed_seed_keeps_corpora_and_vectors(changed):
    jobs = changed(seeds=[0, 7])
    rules = {rule for rule, _ in jobs}
    assert {"choose_prototypes", "train_encoder"} <= rules
    assert not rules & {"build_corpus", "select_vectors", "fetch_source"}


@pytest.mark.draw
def test_a_changed_dropout_runs_the_trained_systems_again(changed):
    jobs = changed(training=OTHER_TRAINING)
    trained = {"analogy", "similarity", "tam"}
    assert {cell.split("/")[0] for cell in cells_of(jobs)} == trained
    expected = {"train_encoder", "choose_hyperparameters", "find_decisions", "explain_examples"}
    assert {rule for rule, _ in jobs} == expected | REPORTING


def test_changed_hyperparameters_run_only_their_cells_and_the_tuned_ones(changed):
    jobs = changed(
        selection={
            "systems": ["analogy"],
            "hyperparameters": {"hinge": None, "no_dropout": {"dropout": 0.1}},
        }
    )
    assert cells_of(jobs) == {
        "analogy/wikiqa/comb/dropout=0.1",
        "analogy/wikiqa/comb/hyperparameters=tuned",
        "analogy/wikiqa/who/hyperparameters=tuned",
    }


def test_another_point_of_a_figure_trains_only_that_point(changed):
    assert cells_of(changed(sweeps={"p": [1, 3]})) == {"analogy/wikiqa/comb/p=1"}


def test_another_title_trains_nothing(changed):
    jobs = changed(systems=SYSTEMS | {"analogy": {"title": "Renamed"}})
    assert jobs and {rule for rule, _ in jobs} <= REPORTING


def test_the_output_folder_may_be_spelled_in_another_way(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    for spelling in ("./results/", str(project.results)):
        project.configure(output_dir=spelling)
        assert "Nothing to be done" in project.run("--dry-run").stdout
        project.configure(output_dir=spelling, training=OTHER_TRAINING)
        assert "analogy/wikiqa/who/default" in cells_of(project.jobs())


@pytest.mark.parametrize("forgetting", ["metadata", "parameters"])
def test_a_run_with_other_settings_is_refused_if_snakemake_misses_the_change(
    finished, tmp_path, forgetting
):
    project = finished.copy_to(tmp_path / "project")
    arguments = ["--dry-run"]
    if forgetting == "metadata":
        shutil.rmtree(project.folder / ".snakemake")
    else:
        arguments += ["--rerun-triggers", "mtime"]
    assert "Nothing to be done" in project.run(*arguments).stdout
    project.configure(training=OTHER_TRAINING)
    done = project.run(*arguments)
    assert done.returncode == 1
    assert "dropout: 0.5, now 0.25" in done.stdout
    assert "Traceback" not in done.stdout
    assert project.run(*arguments, "--forceall").returncode == 0


def test_touching_runs_with_other_settings_is_refused(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    assert project.run("--touch").returncode == 0
    project.configure(training=OTHER_TRAINING)
    for arguments in (["--touch"], ["--touch", "--forceall"]):
        done = project.run(*arguments)
        assert done.returncode == 1
        assert "dropout: 0.5, now 0.25" in done.stdout
    # The refused runs have left no metadata that vouch for the old results.
    assert "train_encoder" in {rule for rule, _ in project.jobs()}


def test_metadata_do_not_vouch_for_another_file(finished, tmp_path):
    """As after `--touch`, and after results were restored from a copy."""
    project, run = finished.copy_to(tmp_path / "project"), "runs/similarity/wikiqa/who/default"
    target = f"results/{run}/run.json"
    project.configure(training=OTHER_TRAINING)
    assert project.run(target).returncode == 0
    shutil.rmtree(project.results / run)
    shutil.copytree(finished.results / run, project.results / run, copy_function=shutil.copyfile)
    for arguments in ([target], [target, "--forcerun", "write_ledger"]):
        done = project.run("--dry-run", *arguments)
        assert done.returncode == 1
        assert "dropout: 0.5, now 0.25" in done.stdout
    for forced in ("train_encoder", target):
        assert project.run("--dry-run", target, "--forcerun", forced).returncode == 0


def test_another_device_trains_nothing(changed):
    assert changed(device="cpu") == []


def test_a_further_seed_trains_no_finished_seed_again(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    project.configure(seeds=3)
    done = project.run("results/runs/similarity/wikiqa/who/default/scores.parquet")
    assert done.returncode == 0, done.stdout
    assert "train_encoder similarity wikiqa who: " in done.stdout
    log = project.results / "logs" / "train_encoder" / "similarity" / "wikiqa-who-default.log"
    assert "similarity wikiqa who seed 0: finished after epoch 2" in log.read_text()
    assert "similarity wikiqa who seed 2: epoch 1," in log.read_text()
    assert "similarity wikiqa who seed 0: epoch" not in log.read_text()


# The open choices: each is a cell of its own, run on demand and only once

FILES = [
    f"{kind}s/diallo2019/sensitivity.{suffix}"
    for kind, suffixes in {"table": ("csv", "md"), "figure": ("png", "svg")}.items()
    for suffix in suffixes
]
# The loss with the margin of analogy, which is not that of similarity.
HINGE = {"analogy/wikiqa/who/loss=hinge", "similarity/wikiqa/who/loss=hinge@margin=0.1"}


@pytest.fixture(scope="module")
def varied(finished, tmp_path_factory):
    """A project whose pipeline and sensitivity table have run; copy it before changing it."""
    project = finished.copy_to(tmp_path_factory.mktemp("varied") / "project")
    assert cells_of(project.jobs("sensitivity")) == HINGE | {
        f"{system}/wikiqa/who/drop_all_correct=train+dev+test"
        for system in ("analogy", "similarity")
    }
    done = project.run("sensitivity")
    assert done.returncode == 0, done.stdout
    return project


@pytest.fixture
def varied_again(varied, tmp_path):
    """A function that changes an override in a copy and returns the cells left to run."""

    def cells(**choices):
        project = varied.copy_to(tmp_path / "project")
        project.configure(sensitivity=SENSITIVITY | {"choices": CHOICES | choices})
        return cells_of(project.jobs("sensitivity"))

    return cells


def test_every_variation_has_a_row_for_each_system_and_measure(varied):
    assert all((varied.results / name).stat().st_size > 0 for name in FILES)
    rows = read_csv(varied.results / "tables/diallo2019/sensitivity.csv")
    keys = {(row["choice"], row["value"], row["system"], row["measure"]) for row in rows}
    assert len(keys) == len(rows) == 4 * 2 * len(RANKED)
    assert {row["choice"] for row in rows} == {"paper", "loss", "all_correct_questions", "vectors"}


def test_a_second_run_has_nothing_to_do(varied):
    assert varied.jobs("sensitivity") == []


def test_the_tables_of_the_papers_need_no_variation(finished):
    assert cells_of(finished.jobs()) == set()
    assert not any((finished.results / name).exists() for name in FILES)


def test_a_changed_value_runs_only_its_own_cells_again(varied_again):
    hinge = {"loss": "hinge", "margin": 0.3}
    others = dict.fromkeys(CHOICES["loss"])
    assert varied_again(loss={"hinge": hinge, **others}) == {
        f"{system}/wikiqa/who/loss=hinge@margin=0.3" for system in ("analogy", "similarity")
    }


# Systems and tables that are made of other runs

BOTH = {"title": "Both", "ranker": {"name": "fused", "parts": {"analogy": [0], "fasttext": [0, 1]}}}


def test_a_fused_system_has_a_row_and_its_parts_are_not_run_again(finished, tmp_path):
    project = finished.copy_to(tmp_path / "project")
    project.configure(systems={**SYSTEMS, "both": BOTH})
    table = "results/tables/diallo2019/table4.md"
    jobs = project.jobs(table)
    assert cells_of(jobs) == set()
    fused = {output.rsplit("/", 1)[0] for rule, output in jobs if rule == "fuse_scores"}
    assert fused == {f"results/runs/both/wikiqa/{subset}/default" for subset in ("who", "comb")}
    done = project.run(table)
    assert done.returncode == 0, done.stdout
    (row,) = [
        line for line in (project.folder / table).read_text().splitlines() if "| Both " in line
    ]
    assert [cell.strip() for cell in row.split("|")][2] == "fused"


INSIDE = "results/tables/hyperqa/table8.md"


@pytest.fixture(scope="module")
def looked_inside(tmp_path_factory):
    """A project that has made the table, with one of its two data sets."""
    project = Project(tmp_path_factory.mktemp("views") / "project").create(
        papers=["hyperqa"],
        systems={**SYSTEMS, "hyperqa": {"training": {"max_epochs": 2}}},
        vectors={**VECTORS, "glove": WORDS},
        **dict.fromkeys(["selection", "sensitivity", "subsets", "question_types"]),
    )
    done = project.run(INSIDE)
    assert done.returncode == 0, done.stdout
    return project


def test_substituted_questions_are_marked_in_the_table(looked_inside):
    page = (looked_inside.folder / INSIDE).read_text()
    assert "TrecQA: not run: data set trecqa is not configured." in page
    assert 'Not in these data: "founder twitter" of WikiQA' in page
    assert page.count("| Q |") == page.count("| A |") == 1


def test_a_missing_checkpoint_is_one_message(looked_inside, tmp_path):
    copy = looked_inside.copy_to(tmp_path / "project")
    for pattern in ("checkpoints/*.pt", "**/inside.parquet", "tables/**/table8.*"):
        for path in copy.results.glob(pattern):
            path.unlink()
    done = copy.run(INSIDE)
    assert done.returncode and done.stdout.count("the checkpoint of") == 1
    assert "Traceback" not in done.stdout
    next(copy.results.rglob("run.json")).unlink()  # what the message says
    again = copy.run(INSIDE)
    assert again.returncode == 0, again.stdout


# The code; tests/runs/test_depends_on.py has every plug-in


@pytest.fixture(scope="module")
def checkout(finished_checkout, tmp_path_factory):
    """A checkout in which a project has run."""
    return shutil.copytree(finished_checkout, tmp_path_factory.mktemp("code") / "checkout")


@pytest.fixture
def edited(checkout):
    """A function that edits a module of the library and returns the jobs left to do."""
    project, contents = Project(checkout / "work"), {}

    def jobs(module, old, new):
        path = checkout / "workflow_scripts" / "analogyqa" / module
        contents[path] = path.read_text()
        assert old in contents[path]
        path.write_text(contents[path].replace(old, new, 1))
        return project.jobs("--snakefile", str(checkout / "Snakefile"))

    yield jobs
    for path, content in contents.items():
        path.write_text(content)


def test_an_edited_encoder_runs_its_own_cells_and_what_follows(edited):
    jobs = edited("encoders/fixed.py", "1)", "2)")
    # These systems have the encoder `sum`, which is a subclass of the same class.
    sums = {f"{name}/wikiqa/comb/default" for name in ("mappsent-answers", "mappsent-answers-both")}
    assert cells_of(jobs) == {"fasttext/wikiqa/comb/default", *sums}
    assert {rule for rule, _ in jobs} <= {"score_candidates", *REPORTING}


def test_a_changed_sign_in_an_objective_trains_again(edited):
    jobs = edited("objectives/losses.py", "energies - margin", "energies + margin")
    assert "analogy/wikiqa/comb/default" in cells_of(jobs)
    assert "train_encoder" in {rule for rule, _ in jobs}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("objectives/losses.py", '"""', '"""Newly worded: '),
        ("training/loop.py", "the training has diverged", "the loss is infinite"),
        ("training/optimisers.py", "\n\n\n", "\n\n\n# A comment.\n"),
    ],
)
def test_an_edited_text_runs_nothing(edited, file, old, new):
    assert edited(file, old, new) == []


def test_a_new_measure_trains_and_scores_nothing(edited):
    line = '"p_at_2": RankedMeasure("Precision at 2", "P@2", P @ 2),'
    jobs = edited("measures.py", "RANKED = {\n", f"RANKED = {{\n    {line}\n")
    assert cells_of(jobs) == set()
    rules = {rule for rule, _ in jobs}
    assert rules and rules <= REPORTING


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("evaluation/claims.py", "def judge_claims(", "def judge_claims(_=1, *"),
        ("report/templates/report.html", "<", "< "),
    ],
)
def test_an_edited_report_trains_nothing(edited, file, old, new):
    rules = {rule for rule, _ in edited(file, old, new)}
    assert rules
    assert rules <= REPORTING | {"explain_examples"}


def test_an_edited_reader_reads_its_data_again(edited):
    assert edited("corpora/trecqa.py", "yield Pair(", "yield Pair(0 + ") == []
    jobs = edited("corpora/wikiqa.py", "yield Pair(", "yield Pair(0 + ")
    assert "build_corpus" in {rule for rule, _ in jobs}
