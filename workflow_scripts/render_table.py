"""Render one table of a paper as csv, md and tex.

input: metrics and records of the cells that it shows, or the corpora that it counts
output: tables/{paper}/table{number}.{csv,md,tex}
"""

from analogyqa.corpora.table import count_corpora
from analogyqa.files import write_text
from analogyqa.report.ledger import build_ledger
from analogyqa.report.summary import read_runs, summarise_runs, values_of, write_csv
from analogyqa.report.table_formats import to_latex, to_markdown
from analogyqa.report.tables import build_table
from job import job, reported

with job(snakemake):
    config, papers = reported(snakemake)
    paper = papers[snakemake.wildcards.paper]
    name = f"table{snakemake.wildcards.number}"
    runs = list(read_runs(snakemake.input.records, snakemake.input.metrics))
    summary, values = summarise_runs(runs, config), values_of(runs)
    counts = count_corpora(snakemake.input.corpora)
    only = (paper.paper, name)
    ledger = build_ledger(list(papers.values()), config, summary, counts, values, only)
    table = build_table(paper, name, ledger, summary, config)
    write_csv(table.frame, snakemake.output.csv)
    write_text(snakemake.output.md, to_markdown(table))
    write_text(snakemake.output.tex, to_latex(table))
