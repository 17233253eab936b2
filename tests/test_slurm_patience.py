"""An outage of Slurm's controller, simulated by fake commands of Slurm."""

import asyncio
import logging
import os
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import snakemake_executor_plugin_slurm as plugin
from snakemake.exceptions import WorkflowError

import slurm_patience
from slurm_patience import be_patient

RUNNING, ENDED = "7|RUNNING\\n", "7|COMPLETED\\n"
AWAY = "Unable to contact slurm controller (connect failure)"
COUNTED = ("calls", "failures", "total_seconds", "max_seconds")
JOB = SimpleNamespace(external_jobid="7", aux={})


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """Put back what `be_patient` replaces in the plugin, and let no test wait."""
    for name in ("query_job_status", "get_min_job_age"):
        monkeypatch.setattr(plugin, name, getattr(plugin, name))
    monkeypatch.setattr(slurm_patience, "SECONDS_BETWEEN_PINGS", 0)
    monkeypatch.delenv("SLURM_CONF", raising=False)


@pytest.fixture
def slurm(monkeypatch, tmp_path):
    """A function that sets the output of Slurm's commands; None simulates an outage."""

    def set_output(squeue=RUNNING, accounting="none", min_job_age=300, away=AWAY):
        storage = f"AccountingStorageType = accounting_storage/{accounting}"
        answers = {"squeue": squeue, "scontrol": f"{storage}\\nMinJobAge = {min_job_age} sec\\n"}
        outage = f"echo >&2 '{away}'; exit 1"
        scripts = {name: f"printf '{text}'" if squeue else outage for name, text in answers.items()}
        scripts["sacct"] = "echo >&2 'Slurm accounting storage is disabled'; exit 1"
        for name, script in scripts.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)

    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    set_output()
    return set_output


@pytest.fixture
def executor(slurm):
    """An executor of the plugin as it is while jobs run, without a workflow."""
    executor = object.__new__(plugin.Executor)
    settings = SimpleNamespace(
        status_command="squeue",
        status_attempts=2,
        init_seconds_before_status_checks=10,
        keep_successful_logs=True,
        no_account=True,
    )
    executor.__dict__.update(
        workflow=SimpleNamespace(executor_settings=settings),
        logger=logging.getLogger("slurm"),
        run_uuid="run",
        status_rate_limiter=nullcontext(),
        ended=[],
        submitted=[],
        cancel_jobs=lambda jobs: None,
        _next_seconds_between_status_checks=10,
        _fallback_account_arg=None,
        _status_query_min_seconds=None,
        _status_query_cycle_rows=[],
        **{f"_status_query_{name}": 0 for name in COUNTED},
    )
    executor.report_job_success = executor.ended.append
    executor.run_job = executor.submitted.append
    return executor


def watched_jobs(executor):
    """Return the jobs that are still watched after one check."""

    async def jobs():
        return [job async for job in executor.check_active_jobs([JOB])]

    return asyncio.run(jobs())


def test_slurm_plugin_loses_jobs_when_squeue_fails(slurm, executor):
    """If this fails, the plugin is fixed; delete slurm_patience.py."""
    slurm(squeue=None)
    assert watched_jobs(executor) == []
    assert executor.ended == []


def test_jobs_are_kept_through_an_outage(slurm, executor, caplog):
    be_patient(executor)
    for squeue in (RUNNING, None, None, RUNNING):
        slurm(squeue=squeue)
        assert watched_jobs(executor) == [JOB]
    slurm(squeue=ENDED)
    assert watched_jobs(executor) == []
    assert executor.ended == [JOB]
    outage, recovery = caplog.messages
    assert "does not answer (squeue)" in outage
    assert "answers again" in recovery


@pytest.mark.parametrize("min_job_age", [300, 2])
@pytest.mark.parametrize("accounting", ["none", "slurmdbd"])
def test_sacct_replaces_squeue_only_if_it_works(
    slurm, executor, monkeypatch, accounting, min_job_age
):
    commands = []

    async def query(command, logger):
        commands.append(command.split()[0])
        return {"7": "RUNNING"}, 0.0

    monkeypatch.setattr(plugin, "query_job_status", query)
    slurm(accounting=accounting, min_job_age=min_job_age)
    be_patient(executor)
    slurm(squeue=None)  # MinJobAge was asked for before
    assert watched_jobs(executor) == [JOB]
    assert commands == ["sacct" if (accounting, min_job_age) == ("slurmdbd", 2) else "squeue"]


@pytest.mark.parametrize("unanswered", [0, 3])
def test_a_submission_waits_until_slurm_answers(executor, monkeypatch, caplog, unanswered):
    answers = iter([False] * unanswered + [True])
    be_patient(executor)
    monkeypatch.setattr(slurm_patience, "_controller_answers", lambda: next(answers))
    executor.run_job(JOB)
    assert executor.submitted == [JOB]
    assert next(answers, None) is None
    assert len(caplog.records) == min(unanswered, 1)


def test_cancelling_ends_the_wait_of_a_submission(slurm, executor):
    be_patient(executor)
    slurm(squeue=None)
    executor.cancel_jobs([])
    executor.run_job(JOB)
    assert executor.submitted == [JOB]


@pytest.mark.parametrize("no_account", [True, False])
def test_no_account_is_guessed_without_accounts(executor, no_account):
    executor.workflow.executor_settings.no_account = no_account
    be_patient(executor)
    assert executor._fallback_account_arg == ("" if no_account else None)


@pytest.mark.parametrize(
    ("variable", "away", "message"),
    [
        (None, AWAY, r"connect failure.*scontrol ping"),
        (None, "fatal: Could not establish a configuration source", "set SLURM_CONF"),
        ("SLURM_CONF", None, r"SLURM_CONF: .*nowhere: no such file\. Correct"),
        ("PATH", None, "scontrol is not on this machine"),
    ],
)
def test_an_unreachable_slurm_at_the_start_is_one_message(
    slurm, executor, monkeypatch, tmp_path, variable, away, message
):
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    else:
        slurm(squeue=None, away=away)
    with pytest.raises(WorkflowError, match=message):
        be_patient(executor)
