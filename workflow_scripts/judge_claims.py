"""Judge the claims of the papers.

input: metrics and run.json of every cell, papers
output: claims.csv, comparisons.csv, claims.md
"""

from analogyqa.files import write_text
from analogyqa.report.claims import claims_markdown, judge_claims, values_of
from analogyqa.report.summary import read_runs, write_csv
from analogyqa.settings.paper import load_paper
from job import job, reported_config

with job(snakemake):
    config = reported_config(snakemake)
    papers = [load_paper(path) for path in snakemake.input.papers]
    values = values_of(read_runs(snakemake.input.records, snakemake.input.metrics))
    claims, comparisons = judge_claims(papers, config, values)
    write_csv(claims, snakemake.output.claims)
    write_csv(comparisons, snakemake.output.comparisons)
    write_text(snakemake.output.md, claims_markdown(claims, papers, config))
