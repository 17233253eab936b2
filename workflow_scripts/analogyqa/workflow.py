"""The jobs of the workflow as Snakemake would make them, without running any."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from snakemake.api import Workflow
from snakemake.dag import DAG
from snakemake.jobs import Job
from snakemake.logging import LoggerManager, logger
from snakemake.settings import types
from snakemake_interface_executor_plugins.settings import ExecMode

from analogyqa.settings.base import nearest_hint
from analogyqa.settings.load import REPOSITORY


def load_workflow(configfiles: Sequence[Path], config: Mapping[str, object] = {}) -> Workflow:
    """Return the workflow of this checkout as in the process of a job, which compares no results.

    The files replace keys of config.yaml, and `config` replaces those of the files.
    """
    output_settings = types.OutputSettings()
    workflow = Workflow(
        logger_manager=LoggerManager(logger, output_settings),
        output_settings=output_settings,
        config_settings=types.ConfigSettings(config=dict(config), configfiles=[*configfiles]),
        resource_settings=types.ResourceSettings(),
        workflow_settings=types.WorkflowSettings(exec_mode=ExecMode.SUBPROCESS),
        storage_settings=types.StorageSettings(),
        dag_settings=types.DAGSettings(rerun_triggers=frozenset()),
        storage_provider_settings={},
    )
    workflow.include(REPOSITORY / "Snakefile", overwrite_default_target=True)
    workflow.global_resources = {}
    return workflow


def make_job(workflow: Workflow, rule: str, wildcards: Mapping[str, str]) -> Job:
    """Return the job of a rule for some wildcards, as Snakemake would make it."""
    rules = {known.name: known for known in workflow.rules}
    if rule not in rules:
        sys.exit(f"\nError: there is no rule {rule}{nearest_hint(rule, rules)}\n")
    return Job(rules[rule], DAG(workflow, rules=[]), dict(wildcards))


def job_that_makes(workflow: Workflow, path: str) -> Job:
    """Return the job that makes a file; StopIteration if no rule does."""
    rule = next(rule for rule in workflow.rules if rule.is_producer(path))
    return make_job(workflow, rule.name, rule.get_wildcards(path))
