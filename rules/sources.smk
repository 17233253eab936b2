"""The downloads, verified.

needs: a file already in resources_dir, a mirror or the web (see sources.yaml)
makes: {resources_dir}/{file}, verified by its hashes,
       {resources_dir}/{file}.source.json, where it came from: origin, sha256, bytes, licence,
       and whether a known hash agreed

A file that the user placed in resources_dir is an input, never an output: Snakemake may delete outputs.
"""


rule verify_source:
    """Verify a source that the user placed in resources_dir."""
    input:
        file=f"{RESOURCES}/{{file}}",
    output:
        source=f"{RESOURCES}/{{file}}.source.json",
    log:
        f"{RESULTS}/logs/verify_source/{{file}}.log",
    wildcard_constraints:
        file=one_of(EXPERIMENT.placed_by_hand),
    retries: 0
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        source=PARAMS.source,
    script:
        "../workflow_scripts/fetch_source.py"


# `update` keeps a file that is there until it is verified. There is no input and no mirror among the params, so that
# a mirror which changes or vanishes makes nothing run again.
use rule verify_source as fetch_source with:
    input:
        [],
    output:
        file=update(f"{RESOURCES}/{{file}}"),
        source=update(f"{RESOURCES}/{{file}}.source.json"),
    log:
        f"{RESULTS}/logs/fetch_source/{{file}}.log",
    wildcard_constraints:
        file=one_of(EXPERIMENT.source_of_file.keys() - EXPERIMENT.placed_by_hand),
