"""Make one file of sources.yaml present and verified below resources_dir."""

import logging
import os
from pathlib import Path

from analogyqa.job import job
from analogyqa.sources.fetch import fetch
from analogyqa.sources.registry import load_registry, mirrors_from

with job(snakemake):
    registry = load_registry(Path(snakemake.scriptdir).parent / "sources.yaml")
    source = registry[snakemake.params.source]
    resources_dir = snakemake.output.source.removesuffix(f"/{source.file}.source.json")
    # The mirrors are no params of the rule: another mirror must not make every source run again.
    mirrors = mirrors_from(snakemake.config.get("mirrors", []), os.environ)
    found = fetch(source, resources_dir, mirrors)
    logging.info("%s: %s bytes, from %s", source.file, f"{found.bytes:,}", found.origin)
