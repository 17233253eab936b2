"""Run the script of one job alone, with the files and parameters that Snakemake would give it.

    python workflow_scripts/run_script.py train_encoder system=analogy dataset=wikiqa subset=who \\
        overrides=default --configfile sample/config.yaml

Its input files must exist. Its output files go where Snakemake would put them. To debug the script,
start it as `python -m pdb workflow_scripts/run_script.py ...`.
"""

import os
import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer
from snakemake.script import Snakemake

from analogyqa.settings.load import REPOSITORY
from analogyqa.workflow import load_workflow, make_job


def main(
    rule: Annotated[str, typer.Argument(help="The name of a rule, such as train_encoder.")],
    wildcards: Annotated[
        list[str] | None, typer.Argument(help="The wildcards of the job, each as name=value.")
    ] = None,
    configfile: Annotated[list[Path] | None, typer.Option(help="As in Snakemake.")] = None,
) -> None:
    """Run the script of one job alone."""
    pairs = [wildcard.partition("=") for wildcard in wildcards or []]
    before = dict(os.environ)
    workflow = load_workflow(configfile or [])
    if os.environ != before:  # libraries read their variables when they are imported
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    job = make_job(workflow, rule, {name: value for name, _, value in pairs})
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
        scriptdir=str(REPOSITORY / "workflow_scripts"),
    )
    script = Path(job.rule.basedir, job.rule.script).resolve()
    sys.argv = [str(script)]
    runpy.run_path(str(script), init_globals={"snakemake": snakemake}, run_name="__main__")


if __name__ == "__main__":
    typer.run(main)
