"""Every table and figure of the papers, from the raw downloads. `rules/` has the stages."""

import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.0")

CHECKOUT = Path(workflow.basedir).resolve()
try:
    import analogyqa
except ModuleNotFoundError:
    raise WorkflowError(
        f"The package analogyqa is not installed for {sys.executable}. Activate the environment "
        f"that make sets up ({CHECKOUT}/.venv), or install it: pip install -e {CHECKOUT}"
    ) from None
# Else jobs would run the code of another checkout, and hashes and records would tell of it.
LIBRARY = Path(analogyqa.__file__).resolve()
if not LIBRARY.is_relative_to(CHECKOUT / "workflow_scripts"):
    raise WorkflowError(
        f"The Snakefile of {CHECKOUT} must not run with the library of {LIBRARY.parent}. "
        f"Install this one: pip install -e {CHECKOUT}"
    )

from analogyqa.memory import KEPT
from analogyqa.runs.commit import CommitUnknownError, find_commit

# Jobs inherit these; who sets one keeps it.
for name, value in KEPT.items():
    os.environ.setdefault(name, value)


report: "report/workflow.rst"


include: "rules/common.smk"
include: "rules/cells.smk"
include: "rules/checks.smk"
include: "rules/outputs.smk"
include: "rules/sources.smk"
include: "rules/corpora.smk"
include: "rules/mapping.smk"
include: "rules/vectors.smk"
include: "rules/quadruples.smk"
include: "rules/runs.smk"
include: "rules/together.smk"
include: "rules/analogies.smk"
include: "rules/report.smk"
include: "rules/tracking.smk"


onstart:
    # To keep its limit of 100 jobs a second Snakemake 9.27 leaves a timer behind each job that ends, which looks
    # every second for jobs to start: in a run of the paper that came to 30 % of a core. No run of ours needs the
    # limit; one that a user sets is kept.
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if limit and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None
    try:
        find_commit()
    except CommitUnknownError as error:
        print(
            f"The records of this run do not know the commit of its code: {error}",
            file=sys.stderr,
        )
    for system, reason in CONFIG.left_out.items():
        print(f"Left out: {system}: {reason}", file=sys.stderr)
    check_before_jobs()
    if workflow.executor_plugin.name == "slurm":
        from slurm_patience import be_patient

        be_patient(workflow.scheduler._executor)


onerror:
    # Of a disk that became full Snakemake itself says no more than `OSError`.
    try:
        require_writable(RESULTS)
    except AnalogyQAError as error:
        print(f"\nError: {error}\n", file=sys.stderr)


localrules:
    all,
    sensitivity,


rule all:
    default_target: True
    input:
        tables_and_figures(),
        crossfit_files(),
        f"{RESULTS}/ledger.csv",
        f"{RESULTS}/claims.csv",
        f"{RESULTS}/report.html",
        f"{RESULTS}/mlflow.imported.json",


rule sensitivity:
    input:
        sensitivity_files(),
