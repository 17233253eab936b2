"""Fetch and verify downloads, which lie in resources_dir, in a mirror or on the web.

A file that the user added to resources_dir is an input and never an output, because Snakemake may
delete outputs.
"""


rule verify_source:
    """Verify a source that the user added to resources_dir."""
    input:
        file=f"{RESOURCES}/{{file}}",
    output:
        source=f"{RESOURCES}/{{file}}.source.json",
    wildcard_constraints:
        file=PATTERNS["file by hand"],
    retries: 0
    localrule: True
    params:
        source=lambda wildcards: AVAILABLE.source_names[wildcards.file],
    script:
        "../workflow_scripts/fetch_source.py"


# `update` keeps an existing file until it is verified. Mirrors are neither inputs nor params, so that changing or
# removing one reruns nothing.
use rule verify_source as fetch_source with:
    input:
        [],
    output:
        file=update(f"{RESOURCES}/{{file}}"),
        source=update(f"{RESOURCES}/{{file}}.source.json"),
    wildcard_constraints:
        file=PATTERNS["fetched file"],
    localrule: True
