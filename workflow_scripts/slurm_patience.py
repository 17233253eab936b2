"""Make Snakemake's Slurm plugin survive an outage of the Slurm controller.

After an outage, snakemake-executor-plugin-slurm 2.8.0 waits forever. When a status query fails, it
drops all jobs from its list. When it cannot read MinJobAge, it switches from squeue to sacct, which
answers only if accounting is on. A submission that fails during the outage counts as a failed job.
Such hangs are open as https://github.com/snakemake/snakemake-executor-plugin-slurm/issues/207

docs/decisions.md describes what the plugin should do. tests/test_slurm_patience.py fails with the
first version that does so; then delete this file.
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
    """Make an executor of the plugin keep its jobs and its submissions during an outage.

    Raises WorkflowError when Slurm does not answer before the first submission.
    """
    has_accounting = _slurm_setting("AccountingStorageType") != NO_ACCOUNTING
    # Ask once, while Slurm answers. Without accounting, sacct cannot replace squeue.
    min_job_age = plugin.get_min_job_age() if has_accounting else None
    plugin.get_min_job_age = lambda: math.inf if min_job_age is None else min_job_age
    plugin.query_job_status = _patient_query(plugin.query_job_status)
    cancelled = Event()
    for name in ("run_job", "run_array_jobs"):
        setattr(executor, name, _after_an_answer(getattr(executor, name), executor, cancelled))
    cancel_jobs = executor.cancel_jobs

    def stop_waiting_and_cancel(active_jobs: list) -> None:
        cancelled.set()
        cancel_jobs(active_jobs)

    executor.cancel_jobs = stop_waiting_and_cancel
    if executor.workflow.executor_settings.no_account:
        executor._fallback_account_arg = ""  # the plugin's value for no account


def _slurm_setting(name: str) -> str:
    """Return a setting as `scontrol show config` prints it.

    Raises WorkflowError when Slurm does not answer.
    """
    file = os.environ.get("SLURM_CONF")
    # Each Slurm command would wait a minute for a missing file.
    if file and not Path(file).is_file():
        raise WorkflowError(
            f"SLURM_CONF: {file}: no such file. Correct or unset this environment variable, then "
            "run the same command again."
        )
    if not shutil.which("scontrol"):
        raise WorkflowError(
            "scontrol is not on this machine. Submit jobs from a machine with Slurm's commands, "
            "such as a login node, or leave out --profile slurm to run here."
        )
    done = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True)
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines()[-1:] or ["no reason given"])[0]
        remedy = (
            "Start on a machine of the cluster, or set SLURM_CONF to its configuration."
            if "configuration" in cause
            else "Run the same command again when `scontrol ping` says that the controller is up."
        )
        raise WorkflowError(f"Slurm does not answer ({cause}). {remedy}")
    settings = (line.partition("=")[::2] for line in done.stdout.splitlines())
    return {key.strip(): value.strip() for key, value in settings}.get(name, "")


def _patient_query(query: Callable) -> Callable:
    """Return the plugin's status query, changed to report no jobs when it fails.

    The plugin keeps jobs that an answer does not name, and asks again.
    """
    silent = False

    async def ask(command: str, logger) -> tuple[dict[str, str], float]:
        nonlocal silent
        status_of_jobs, seconds = await query(command, logger)
        if (status_of_jobs is None) != silent:
            silent = not silent
            retrying = (
                f"Slurm does not answer ({command.split()[0]}); retrying. Running jobs are not "
                "affected."
            )
            logger.warning(retrying if silent else "Slurm answers again.")
        return ({}, 0.0) if silent else (status_of_jobs, seconds)

    return ask


def _after_an_answer(submit: Callable, executor: plugin.Executor, cancelled: Event) -> Callable:
    """Return the plugin's submission, changed to wait until the controller answers."""

    def submit_after_an_answer(jobs: object) -> None:
        if not _controller_answers():
            executor.logger.warning("Slurm is not accepting jobs; retrying.")
            while not (cancelled.wait(SECONDS_BETWEEN_PINGS) or _controller_answers()):
                pass
        submit(jobs)

    return submit_after_an_answer


def _controller_answers() -> bool:
    return subprocess.run(["scontrol", "ping"], capture_output=True).returncode == 0
