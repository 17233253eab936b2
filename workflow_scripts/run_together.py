"""Do jobs one after the other in one process, each by the script of its rule.

input: what the jobs need that none of them makes
output: what each makes
"""

import runpy
from pathlib import Path
from types import SimpleNamespace

# A list whose items have names, which Snakemake has in another module from version to version.
Named = type(snakemake.wildcards)


def section(files: dict | list) -> list:
    return Named(fromdict=files) if isinstance(files, dict) else files


for job in snakemake.params.jobs:
    sections = {name: section(job[name]) for name in ("input", "output", "params", "wildcards")}
    own = {"rule": job["rule"], "log": [job["log"]], "config": snakemake.config, "threads": 1}
    script = str(Path(snakemake.scriptdir, job["script"]))
    runpy.run_path(script, {"snakemake": SimpleNamespace(**own, **sections)})
