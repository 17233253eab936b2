"""Run the script of one job alone, with the files and values that Snakemake would give it.

    python workflow_scripts/run_script.py train_encoder system=analogy dataset=wikiqa subset=who \\
        overrides=default --configfile sample/config.yaml

The files that it reads must be there; what it writes goes where Snakemake would have it. So a
debugger can stop in it: `python -m pdb workflow_scripts/run_script.py ...`.
"""

import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer
from snakemake.api import Workflow
from snakemake.dag import DAG
from snakemake.jobs import Job
from snakemake.logging import LoggerManager, logger
from snakemake.script import Snakemake
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    ResourceSettings,
    StorageSettings,
    WorkflowSettings,
)
from snakemake_interface_executor_plugins.settings import ExecMode

from analogyqa.settings.base import nearest_hint

CHECKOUT = Path(__file__).resolve().parents[1]


def job_of(rule: str, wildcards: dict[str, str], configfiles: list[Path]) -> Job:
    """Return the job of a rule that has some wildcards, as Snakemake would make it."""
    output_settings = OutputSettings()
    logger_manager = LoggerManager(logger, output_settings)
    workflow = Workflow(
        logger_manager=logger_manager,
        output_settings=output_settings,
        config_settings=ConfigSettings(configfiles=configfiles),
        resource_settings=ResourceSettings(),
        # As in the process of a job: nothing is compared with earlier results.
        workflow_settings=WorkflowSettings(exec_mode=ExecMode.SUBPROCESS),
        storage_settings=StorageSettings(),
        dag_settings=DAGSettings(rerun_triggers=frozenset()),
        storage_provider_settings={},
    )
    workflow.include(CHECKOUT / "Snakefile", overwrite_default_target=True)
    workflow.global_resources = {}
    known = {each.name: each for each in workflow.rules}
    if rule not in known:
        sys.exit(f"\nError: there is no rule {rule}{nearest_hint(rule, known)}\n")
    return Job(known[rule], DAG(workflow, rules=[]), wildcards)


def main(
    rule: Annotated[str, typer.Argument(help="The rule, such as train_encoder.")],
    wildcards: Annotated[
        list[str] | None, typer.Argument(help="Its wildcards: name=value.")
    ] = None,
    configfile: Annotated[list[Path] | None, typer.Option(help="As of Snakemake.")] = None,
) -> None:
    """Run the script of one job alone."""
    pairs = [wildcard.partition("=") for wildcard in wildcards or []]
    job = job_of(rule, {name: value for name, _, value in pairs}, configfile or [])
    for path in (*job.output, *job.log):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    snakemake = Snakemake(
        job.input,
        job.output,
        job.params,
        job.wildcards,
        job.threads,
        job.resources,
        job.log,
        job.dag.workflow.config,
        job.rule.name,
        None,
        scriptdir=str(CHECKOUT / "workflow_scripts"),
    )
    script = Path(job.rule.basedir, job.rule.script).resolve()
    sys.argv = [str(script)]
    runpy.run_path(str(script), init_globals={"snakemake": snakemake}, run_name="__main__")


if __name__ == "__main__":
    typer.run(main)
