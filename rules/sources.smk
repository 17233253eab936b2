"""The downloads, verified.

needs: a file already in resources_dir, a mirror or the web (see sources.yaml)
makes: {resources_dir}/{file}, verified by its hashes,
       {resources_dir}/{file}.source.json, where it came from: origin, sha256, bytes, licence,
       and whether a known hash agreed

A file that the user dropped into resources_dir is verified and kept: `update` stops Snakemake from
deleting it before the job and after a failure. The rule has no input and no mirror among its
params, so that a mirror which changes or vanishes makes nothing run again.
"""


rule fetch_source:
    """Take a source from resources_dir, a mirror or the web, and verify it."""
    output:
        file=update(f"{RESOURCES}/{{file}}"),
        source=update(f"{RESOURCES}/{{file}}.source.json"),
    log:
        f"{RESULTS}/logs/fetch_source/{{file}}.log",
    wildcard_constraints:
        file=one_of(SOURCE_OF_FILE),
    retries: 0
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        source=lambda wildcards: SOURCE_OF_FILE[wildcards.file],
    script:
        "../workflow_scripts/fetch_source.py"
