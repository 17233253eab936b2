"""Sources: the downloads, verified.

REQUIRED INPUTS
    none; a file already in resources_dir, a mirror or the web (see sources.yaml)

OUTPUTS
    {resources_dir}/{file}                a file of sources.yaml, verified by its hashes
    {resources_dir}/{file}.source.json    where it came from: origin, sha256, bytes, licence

A file that the user dropped into resources_dir is verified and kept: `update` stops Snakemake from
deleting it before the job and after a failure. The rule has no input and no mirror among its
params, so that a mirror which changes or vanishes makes nothing run again.
"""

import re


rule fetch_source:
    output:
        file=update(CONFIG.resources_dir + "/{file}"),
        source=update(CONFIG.resources_dir + "/{file}.source.json"),
    log:
        RESULTS + "/logs/fetch_source/{file}.log",
    wildcard_constraints:
        file="|".join(re.escape(file) for file in SOURCE_OF_FILE),
    retries: 0
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        source=lambda wildcards: SOURCE_OF_FILE[wildcards.file],
    script:
        "../workflow_scripts/fetch_source.py"
