"""Judge the claims of the papers.

input: metrics and run.json of every cell, papers
output: claims.csv, comparisons.csv, claims.md
"""

from analogyqa.checkpoints import write_text
from analogyqa.claims import claims_markdown, judge_claims, values_of
from analogyqa.config import load_config
from analogyqa.ledger import load_paper, read_runs, write_csv
from job import job

with job(snakemake):
    config = load_config(snakemake.params.config)
    papers = [load_paper(path) for path in snakemake.input.papers]
    values = values_of(read_runs(snakemake.input.records, snakemake.input.metrics))
    claims, comparisons = judge_claims(papers, config, values)
    write_csv(claims, snakemake.output.claims)
    write_csv(comparisons, snakemake.output.comparisons)
    write_text(snakemake.output.md, claims_markdown(claims, papers, config))
