"""Patience with Slurm: its controller may be restarted while jobs run.

snakemake-executor-plugin-slurm 2.8.0 waits for ever once the controller was away. When a status
query fails, it drops every job from its list. When it cannot read MinJobAge, it asks sacct in place
of squeue, and sacct answers only where accounting is on. A submission that fails meanwhile counts
as a failed job. Hangs of this kind are open as
https://github.com/snakemake/snakemake-executor-plugin-slurm/issues/207

docs/reliability.md says what the plugin should do. tests/test_slurm_patience.py fails with the
first version that does it: then this file can go.
"""

import math
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Event

import snakemake_executor_plugin_slurm as plugin
from snakemake.exceptions import WorkflowError

SECONDS_BETWEEN_PINGS = 10
NO_ACCOUNTING = "accounting_storage/none"


def be_patient(executor: plugin.Executor) -> None:
    """Make an executor of the plugin keep its jobs, and its submissions, through an outage.

    Raises WorkflowError when Slurm does not answer now, before any job is submitted.
    """
    accounting = _slurm_setting("AccountingStorageType") != NO_ACCOUNTING
    # Asked once, while Slurm answers. sacct cannot take the place of squeue without accounting.
    min_job_age = plugin.get_min_job_age() if accounting else None
    plugin.get_min_job_age = lambda: math.inf if min_job_age is None else min_job_age
    plugin.query_job_status = _patient_query(plugin.query_job_status)
    cancelled = Event()
    for name in ("run_job", "run_array_jobs"):
        setattr(executor, name, _after_an_answer(getattr(executor, name), executor, cancelled))
    executor.cancel_jobs = _announced(executor.cancel_jobs, cancelled)
    if executor.workflow.executor_settings.no_account:
        executor._fallback_account_arg = ""  # what the plugin has when its guess found none


def _slurm_setting(name: str) -> str:
    """Return a setting as `scontrol show config` prints it.

    Raises WorkflowError when Slurm does not answer.
    """
    file = os.environ.get("SLURM_CONF")
    # Slurm's commands look for a missing file for a minute, each of them.
    if file and not Path(file).is_file():
        raise WorkflowError(
            f"SLURM_CONF: {file}: no such file. Correct or unset this environment variable, then "
            "give the same command again."
        )
    if not shutil.which("scontrol"):
        raise WorkflowError(
            "scontrol is not on this machine: jobs go to Slurm from one that has its commands, "
            "as a login node has. To run here leave out --profile slurm."
        )
    done = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True)
    if done.returncode != 0:
        cause = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise WorkflowError(
            f"Slurm does not answer ({cause[0]}). Give the same command again when "
            "`scontrol ping` says that the controller is up."
        )
    settings = (line.partition("=")[::2] for line in done.stdout.splitlines())
    return {key.strip(): value.strip() for key, value in settings}.get(name, "")


def _patient_query(query: Callable) -> Callable:
    """Return the plugin's status query, one that fails knowing of no job instead.

    The plugin keeps a job that an answer does not name, and asks again.
    """
    silent = False

    async def ask(command: str, logger) -> tuple[dict[str, str], float]:
        nonlocal silent
        status_of_jobs, seconds = await query(command, logger)
        if (status_of_jobs is None) != silent:
            silent = not silent
            if silent:
                logger.warning(
                    f"Slurm does not answer ({command.split()[0]}). The jobs go on; they are asked "
                    "for again until it does."
                )
            else:
                logger.warning("Slurm answers again.")
        return ({}, 0.0) if silent else (status_of_jobs, seconds)

    return ask


def _after_an_answer(submit: Callable, executor: plugin.Executor, cancelled: Event) -> Callable:
    """Return the plugin's submission, made to wait until the controller answers."""

    def submit_after_an_answer(jobs: object) -> None:
        if not _controller_answers():
            executor.logger.warning("Slurm takes no job now. It is asked again until it does.")
            while not (cancelled.wait(SECONDS_BETWEEN_PINGS) or _controller_answers()):
                pass
        submit(jobs)

    return submit_after_an_answer


def _controller_answers() -> bool:
    return subprocess.run(["scontrol", "ping"], capture_output=True).returncode == 0


def _announced(cancel: Callable, cancelled: Event) -> Callable:
    """Return the plugin's cancelling, which also ends the waiting of submissions."""

    def cancel_jobs(active_jobs: list) -> None:
        cancelled.set()
        cancel(active_jobs)

    return cancel_jobs
