"""Fetch and verify one file of sources.yaml."""

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
    # Mirrors are not params of the rule, so that changing them does not rerun every source.
    mirrors = mirrors_from(snakemake.config.get("mirrors", []), os.environ)
    provenance = fetch(source, resources_dir, mirrors)
    logging.info("%s: %s bytes, from %s", source.file, f"{provenance.bytes:,}", provenance.origin)
