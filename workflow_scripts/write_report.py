"""Write the page with all results of a run."""

from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.page import build_page
from analogyqa.settings.load import REPOSITORY
from analogyqa.sources.registry import load_registry

with job(snakemake) as given:
    config, papers = reported(snakemake)
    registry = load_registry(REPOSITORY / "sources.yaml")
    page = build_page(config.output_dir, config, papers, registry, given.command)
    write_text(snakemake.output[0], page)
