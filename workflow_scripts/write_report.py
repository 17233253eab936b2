"""Write the page with all results of a run."""

from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.page import build_page

with job(snakemake):
    config, papers = reported(snakemake)
    page = build_page(config.output_dir, config, papers, snakemake.params.command)
    write_text(snakemake.output[0], page)
