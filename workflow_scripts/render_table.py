"""Render one table of a paper as csv, md and tex.

input: metrics and records of the cells that it shows, the corpora that it counts, and costs
output: tables/{paper}/table{number}.{csv,md,tex}
"""

from analogyqa.corpora.table import count_corpora
from analogyqa.files import write_text
from analogyqa.report.ledger import build_ledger
from analogyqa.report.summary import read_runs, summarise_runs, values_of, write_csv
from analogyqa.report.table_formats import to_latex, to_markdown
from analogyqa.report.tables import build_table
from analogyqa.runs.cost import read_costs
from job import job, reported

with job(snakemake):
    config, papers = reported(snakemake)
    paper = papers[snakemake.wildcards.paper]
    name = f"table{snakemake.wildcards.number}"
    runs = list(read_runs(snakemake.input.records, snakemake.input.metrics))
    summary, values = summarise_runs(runs, config), values_of(runs)
    counts = count_corpora(snakemake.input.corpora)
    only, costs = (paper.paper, name), read_costs(snakemake.input.costs)
    everything = (list(papers.values()), config, summary, counts, values)
    ledger = build_ledger(*everything, only, costs)
    table = build_table(paper, name, ledger, summary, config, costs)
    write_csv(table.frame, snakemake.output.csv)
    write_text(snakemake.output.md, to_markdown(table))
    write_text(snakemake.output.tex, to_latex(table))
