"""Every table and figure of the papers, from the raw downloads. The stages are in `rules/`."""

import os
import sys
from functools import reduce
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.0")

CHECKOUT = Path(workflow.basedir).resolve()
INSTALL = f"Install the library of this checkout: pip install -e {CHECKOUT}"
try:
    import analogyqa
except ModuleNotFoundError:
    raise WorkflowError(f"{sys.executable} has no package analogyqa. {INSTALL}") from None
# Otherwise jobs would run, and records would describe, the code of another checkout.
if not Path(analogyqa.__file__).resolve().is_relative_to(CHECKOUT / "workflow_scripts"):
    raise WorkflowError(f"The package analogyqa is installed from {analogyqa.__file__}. {INSTALL}")

from analogyqa.surroundings import leave_surroundings

leave_surroundings()  # before a module below imports NumPy

from analogyqa.arithmetic import PORTABLE, PORTABLE_VARIABLES
from analogyqa.cells.plan import load_plan
from analogyqa.errors import AnalogyQAError, exit_on_error
from analogyqa.files import read_yaml
from analogyqa.folders import require_writable
from analogyqa.surroundings import MALLOC_OPTIONS
from analogyqa.report.stored import CONFIGURATION, store_configuration
from analogyqa.runs.checks import check_jobs, left_out_here, require_targets
from analogyqa.runs.record import CommitUnknownError, find_commit
from analogyqa.settings.base import merge
from analogyqa.settings.load import snakemake_command

with exit_on_error():
    read_yaml(CHECKOUT / "config.yaml")  # Snakemake's own message would not name a broken file


configfile: CHECKOUT / "config.yaml"


# Values of the command line take precedence, then those of later files, then those of config.yaml. Snakemake would mix the options of
# two rankers, so the files are merged again.
*FILES, BASE = map(Path, workflow.configfiles)
GIVEN = dict(workflow.config_settings.config)
with exit_on_error():
    config.update(reduce(merge, [*map(read_yaml, [BASE, *FILES]), GIVEN]))
    PLAN = load_plan(config, [GIVEN, *reversed(FILES), BASE])
    if workflow.is_main_process:
        require_targets(sys.argv[1:], PLAN)
# Jobs inherit these variables. Of the first, a value that the user has set is kept.
for name, value in MALLOC_OPTIONS.items():
    os.environ.setdefault(name, value)
if PLAN.config.arithmetic == PORTABLE:
    os.environ.update(PORTABLE_VARIABLES)
CONFIG, COMMAND = PLAN.config, snakemake_command(FILES or [BASE], GIVEN)
RESULTS, RESOURCES = CONFIG.output_dir, CONFIG.resources_dir
for key in ("output_dir", "resources_dir", "tracking_uri", "device"):  # which scripts read
    config.setdefault(key, getattr(CONFIG, key))
# A user may have deleted it, on the advice of a message, when there is no job left to do.
if (
    workflow.is_main_process
    and Path(RESULTS, "runs").is_dir()
    and not Path(RESULTS, CONFIGURATION).exists()
):
    with exit_on_error():
        store_configuration(RESULTS, config, CONFIG.left_out, COMMAND)


wildcard_constraints:
    **PLAN.wildcard_constraints,


include: "rules/common.smk"
include: "rules/sources.smk"
include: "rules/corpora.smk"
include: "rules/vectors.smk"
include: "rules/quadruples.smk"
include: "rules/runs.smk"
include: "rules/analogies.smk"
include: "rules/report.smk"


for job_rule in workflow.rules:
    add_defaults(job_rule)


onstart:
    try:
        find_commit()
    except CommitUnknownError as error:
        print(
            f"Records will say that the commit of the code is unknown: {error}",
            file=sys.stderr,
        )
    for name, reason in left_out_here(CONFIG).items():
        print(f"Left out: {name}: {reason}", file=sys.stderr)
    with exit_on_error():
        check_jobs(workflow.dag.needrun_jobs(), PLAN)
        store_configuration(RESULTS, config, CONFIG.left_out, COMMAND)
    # With its default limit, 100 jobs a second, Snakemake looks for jobs again a second after each selection, and for each job that
    # has ended once more in each second, until that takes up a core. It has no option for no limit.
    limit = workflow.scheduler.job_rate_limiter
    if limit and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None
    if workflow.executor_plugin.name == "slurm":
        from slurm_patience import be_patient

        be_patient(workflow.scheduler._executor)


onerror:
    # When a disk is full, Snakemake itself only says `OSError`.
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
        ARTEFACTS,
        CROSS_VALIDATION,
        f"{RESULTS}/ledger.csv",
        f"{RESULTS}/claims.csv",
        f"{RESULTS}/report.html",
        f"{RESULTS}/mlflow.imported.json",


rule sensitivity:
    input:
        [f"{RESULTS}/tables/{name}/sensitivity.csv" for name in PLAN.sensitivity],
