"""Training jobs on Slurm: their requests, and their survival of lost nodes, limits and kills."""

import re

import pytest
import yaml

from builders.kills import Run, assert_identical, demo_run
from builders.projects import REPOSITORY, SMALL_RUN, SNAKEMAKE, TRAINING, Project, products_of

pytestmark = pytest.mark.slurm

CELL = "analogy/wikiqa/comb/default"
SCORES = f"results/runs/{CELL}/scores.parquet"
SIMILARITY = "results/runs/similarity/wikiqa/comb/default/scores.parquet"
LOG = "results/logs/train_encoder/analogy/wikiqa-comb-default.log"
LONG = {**TRAINING, "max_epochs": 100, "patience": 100}


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A project that only has to train one cell, which takes a while."""
    project = Project(tmp_path_factory.mktemp("prepared") / "project").create(**SMALL_RUN)
    project.make(SCORES)
    (project.folder / LOG).unlink()
    project.configure(**SMALL_RUN, training=LONG)
    return project


@pytest.fixture(scope="session")
def undisturbed(prepared, tmp_path_factory) -> dict[str, bytes]:
    """The scores of a run on one machine that nothing disturbs, by their path."""
    project = prepared.copy_to(tmp_path_factory.mktemp("undisturbed") / "project")
    project.make(SCORES, SIMILARITY)
    return {path: (project.folder / path).read_bytes() for path in (SCORES, SIMILARITY)}


@pytest.fixture
def project(prepared, tmp_path):
    return prepared.copy_to(tmp_path / "project")


class Submission(Run):
    """Snakemake submitting the training job to a cluster, in the background."""

    def __init__(self, project, cluster, *arguments: str, targets=(SCORES,), profile=None) -> None:
        self.cluster = cluster
        self.before = {job["JobId"] for job in cluster.jobs()}
        command = [*SNAKEMAKE, *targets, "--configfile", "config.yaml", "--cores", "8"]
        command += ["--profile", profile or str(REPOSITORY / "slurm")]
        # Look often: the time between two looks grows only while no job ends.
        command += ["--slurm-init-seconds-before-status-checks", "1", *arguments]
        environment = {**cluster.environment, "ANALOGYQA_MIRROR": ""}
        super().__init__(project.folder, command, project.results, **environment)
        self.start()

    def slurm_jobs(self) -> list[dict[str, str]]:
        """Return the Slurm jobs of this run, in the order of their submission."""
        jobs = [job for job in self.cluster.jobs() if job["JobId"] not in self.before]
        return sorted(jobs, key=lambda job: int(job["JobId"]))

    def wait_for_epoch(self, epoch: int) -> str:
        """Wait for the log to report an epoch; return the id of the job."""
        self.wait_for(lambda: f"epoch {epoch}," in self.training_log())
        return self.slurm_jobs()[-1]["JobId"]

    def end(self, succeeds: bool = True) -> str:
        """Wait for the end; return what was printed."""
        status = self.process.wait(timeout=300)
        assert (status == 0) == succeeds, self.output()
        return self.output()


# Commands of Slurm that disturb the training job, patterns of the states of the run's jobs, and
# facts of the last job. The state of a killed job may be one of several.
DISTURBED = {
    "killed": (["scancel --signal=KILL --full {job}"], [".*", "COMPLETED"], {}),
    # It gets twice as much time.
    "out of time": (
        ["scontrol update JobId={job} EndTime=now"],
        ["TIMEOUT", "COMPLETED"],
        {"TimeLimit": "04:00:00"},
    ),
    "requeued": (["scontrol requeue {job}"], [".*"], {"Restarts": "1"}),
    "node down": (
        ["scontrol update NodeName={host} State=DOWN Reason=test",
         "scontrol update NodeName={host} State=RESUME"],
        [".*"],
        {"Restarts": "1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DISTURBED)
def test_a_disturbed_training_run_resumes_and_gives_the_same_bytes(
    project, cluster, undisturbed, report_count, case
):
    commands, states, facts = DISTURBED[case]
    submission = Submission(project, cluster)
    job = submission.wait_for_epoch(5)
    for command in commands:
        cluster.run(*command.format(job=job, host=cluster.host).split())
    submission.end()
    # Until Slurm finds that a job is out of time, it may have trained all epochs.
    how = "(resumed|finished)" if case == "out of time" else "resumed"
    assert re.search(f"{how} after epoch", submission.training_log())
    assert (project.folder / SCORES).read_bytes() == undisturbed[SCORES]
    jobs = submission.slurm_jobs()
    ended = " then ".join(f"{job['JobState']} (restarts {job['Restarts']})" for job in jobs)
    report_count(f"{ended}; scores identical")
    assert len(jobs) == len(states)
    for job, state in zip(jobs, states, strict=True):
        assert re.fullmatch(state, job["JobState"])
    assert facts.items() <= jobs[-1].items()


@pytest.mark.parametrize("seconds", [15, 90])
def test_an_outage_of_the_controller_loses_no_job(
    project, cluster, undisturbed, report_count, seconds
):
    """During the outage, one training job ends and the next has to be submitted."""
    targets = (SCORES, SIMILARITY)
    submission = Submission(project, cluster, "--jobs", "1", targets=targets)
    submission.wait_for_epoch(5)
    with cluster.without_controller(seconds):
        submission.wait_for(lambda: "Slurm does not answer" in submission.output())
    output = submission.end()
    assert output.count("Slurm does not answer") == output.count("Slurm answers again.") == 1
    assert "sacct" not in output
    assert "account" not in output
    assert {path: (project.folder / path).read_bytes() for path in targets} == undisturbed
    jobs = submission.slurm_jobs()
    assert [job["JobState"] for job in jobs] == ["COMPLETED"] * 2
    report_count(f"controller away for {seconds} s: 2 jobs COMPLETED, once each; scores identical")


@pytest.mark.draw
def test_with_an_unusable_gpu_a_job_warns_once_and_uses_the_cpu(project, cluster):
    submission = Submission(project, cluster)
    submission.end()
    (job,) = submission.slurm_jobs()
    assert job["TresPerJob"] == "gres:gpu:1"
    log = submission.training_log()
    assert log.count("Warning: PyTorch") == 1
    assert "given GPU 0" in log
    record = (project.folder / SCORES).with_name("run.json").read_text()
    assert f'"slurm_job": "{job["JobId"]}"' in record
    assert '"device": "cpu"' in record


def test_an_unusable_gpu_that_is_required_is_an_explained_error(project, cluster):
    project.configure(training=LONG, device="cuda")
    submission = Submission(project, cluster, "--retries", "0")
    output = submission.end(succeeds=False)
    assert "device: cuda is requested, but PyTorch" in output
    assert "although this job was given GPU 0" in output
    assert "Traceback" in submission.training_log()


def test_a_run_on_cpus_requests_no_gpu(project, cluster):
    project.configure(training=LONG, device="cpu")
    submission = Submission(project, cluster)
    submission.end()
    assert "TresPerJob" not in submission.slurm_jobs()[-1]


@pytest.fixture
def site(tmp_path):
    """A function that writes the profile as a site edits it and returns its folder."""
    profile = yaml.safe_load((REPOSITORY / "slurm" / "config.yaml").read_text())

    def write(default_resources: list[str] = (), **changes) -> str:
        profile["default-resources"] += default_resources
        names = {name.replace("_", "-"): value for name, value in changes.items()}
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(profile | names))
        return str(tmp_path)

    return write


def test_a_site_may_ask_for_gpus_by_gres(project, cluster, site):
    as_gres = ["train_encoder:gpu=0", "train_encoder:gres=gpu:1"]
    submission = Submission(project, cluster, profile=site(set_resources=as_gres))
    submission.end()
    assert submission.slurm_jobs()[-1]["TresPerNode"] == "gres:gpu:1"


@pytest.mark.parametrize("status_command", ["squeue", "sacct"])
def test_with_accounting_a_job_has_the_configured_account(
    project, accounting_cluster, site, status_command
):
    profile = site(["slurm_account=research"], slurm_status_command=status_command)
    submission = Submission(project, accounting_cluster, profile=profile)
    submission.end()
    job = submission.slurm_jobs()[-1]
    assert job["Account"] == "research"
    listed = accounting_cluster.run(
        "sacct", "-X", "-n", "-P", f"--jobs={job['JobId']}", "--format=Account,State"
    )
    assert listed.strip() == "research|COMPLETED"


@pytest.mark.timeout(3600)  # without `make demo` before it runs the demo twice
def test_the_demo_through_slurm_gives_the_tables_of_one_machine(cluster, report_count, tmp_path):
    demo = REPOSITORY / "results" / "demo"
    is_complete = (demo / "mlflow.imported.json").exists()  # `make demo` has run in this checkout
    expected = products_of(demo) if is_complete else demo_run(tmp_path / "alone").finish()
    assert len(expected) > 30

    before = {job["JobId"] for job in cluster.jobs()}
    environment = {**cluster.environment, "ANALOGYQA_MIRROR": ""}
    options = ("--cores", "8", "--profile", "slurm")
    run = demo_run(tmp_path / "analogyqa", *options, **environment)
    run.finish()
    jobs = [job for job in cluster.jobs() if job["JobId"] not in before]
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    assert not any("TresPerJob" in job for job in jobs)  # portable arithmetic uses no GPU
    steps = run.output().count("Finished jobid")
    report_count(f"demo through Slurm: {steps} steps in {len(jobs)} Slurm jobs, all COMPLETED")
    assert_identical(run, expected)
