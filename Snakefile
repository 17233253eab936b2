"""Every table and figure of the papers, from the raw downloads. `rules/` has the stages."""

import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.io import IOFile
from snakemake.settings.types import RerunTrigger
from snakemake.utils import min_version

min_version("9.0")

CHECKOUT = Path(workflow.basedir).resolve()
INSTALL = f"Install the library of this checkout: pip install -e {CHECKOUT}"
try:
    import analogyqa
except ModuleNotFoundError:
    raise WorkflowError(f"{sys.executable} has no package analogyqa. {INSTALL}") from None
# Else jobs would run the code of another checkout, and hashes and records would tell of it.
if not Path(analogyqa.__file__).resolve().is_relative_to(CHECKOUT / "workflow_scripts"):
    raise WorkflowError(f"The package analogyqa is that of {analogyqa.__file__}. {INSTALL}")

from analogyqa.errors import AnalogyQAError, exit_on_error
from analogyqa.experiments.checks import check_jobs, require_targets
from analogyqa.experiments.experiment import load_experiment
from analogyqa.experiments.parameters import Parameters
from analogyqa.experiments.inputs import Inputs
from analogyqa.experiments.outputs import Outputs
from analogyqa.experiments.patterns import growing, one_of, with_overrides
from analogyqa.files import read_yaml
from analogyqa.folders import require_writable
from analogyqa.memory import MALLOC_OPTIONS
from analogyqa.analogies.specs import SOLVERS
from analogyqa.runs.commit import CommitUnknownError, find_commit
from analogyqa.settings.base import AT
from analogyqa.settings.data import ALL
from analogyqa.settings.load import from_here

# Jobs inherit these; who sets one keeps it.
for name, value in MALLOC_OPTIONS.items():
    os.environ.setdefault(name, value)

with exit_on_error():
    read_yaml(CHECKOUT / "config.yaml")  # Snakemake would refuse a broken file without its name


report: "report/workflow.rst"


configfile: CHECKOUT / "config.yaml"


# Whether Snakemake sees by itself that a file was made with other parameters.
NOTICES = lambda file: (
    not workflow.is_main_process
    or workflow.dag_settings.forceall
    or bool(workflow.dag_settings.forcerun)
    or (
        workflow.persistence.metadata(IOFile(file)) is not None
        and RerunTrigger.PARAMS in workflow.dag_settings.rerun_triggers
    )
)


# The command line has the last word, then the files that are given, the later before the earlier, then our own.
*FILES, OWN = map(Path, workflow.configfiles)
with exit_on_error():
    EXPERIMENT = load_experiment(
        config, [dict(workflow.config_settings.config), *reversed(FILES), OWN]
    )
    if workflow.is_main_process:
        require_targets(sys.argv[1:], EXPERIMENT)
CONFIG, RESULTS, RESOURCES = EXPERIMENT.config, EXPERIMENT.results, EXPERIMENT.resources
INPUTS = Inputs(EXPERIMENT, NOTICES)
PARAMS = Parameters(
    INPUTS, f"snakemake --cores all --configfile {' '.join(map(from_here, FILES or [OWN]))}"
)
OUTPUTS = Outputs(INPUTS)
# Of a job that trains. Only a cluster looks at it; `device: cpu` is for one without GPUs.
GPUS = 0 if CONFIG.device == "cpu" else 1


wildcard_constraints:
    dataset=one_of(CONFIG.datasets),
    corpus=with_overrides(CONFIG.datasets),
    category=one_of(CONFIG.categories),
    subset=one_of([*CONFIG.subsets, *CONFIG.relations, ALL]),
    overrides="[^/]+",
    vectors=with_overrides(CONFIG.vectors),
    sentence_vectors=one_of(CONFIG.sentence_vectors),
    p=r"\d+",
    number=r"\d+",
    paper=one_of(EXPERIMENT.papers),


include: "rules/sources.smk"
include: "rules/corpora.smk"
include: "rules/vectors.smk"
include: "rules/quadruples.smk"
include: "rules/runs.smk"
include: "rules/analogies.smk"
include: "rules/report.smk"


onstart:
    try:
        find_commit()
    except CommitUnknownError as error:
        print(
            f"The commit of the code is unknown, so records say unknown: {error}",
            file=sys.stderr,
        )
    for system, reason in CONFIG.left_out.items():
        print(f"Left out: {system}: {reason}", file=sys.stderr)
    with exit_on_error():
        check_jobs(workflow.dag.needrun_jobs(), EXPERIMENT)
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
        OUTPUTS.tables_and_figures(),
        OUTPUTS.cross_validation(),
        f"{RESULTS}/ledger.csv",
        f"{RESULTS}/claims.csv",
        f"{RESULTS}/report.html",
        f"{RESULTS}/mlflow.imported.json",


rule sensitivity:
    input:
        OUTPUTS.sensitivity(),
