"""Summarise every run and hold the published values against it.

input: metrics and run.json of every cell, corpora, costs
output: summary.csv, ledger.csv, ledger.md, ledger.html
"""

from analogyqa.corpora.table import count_corpora
from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.plan import all_cells, cells_by_run
from analogyqa.report.ledger import build_ledger
from analogyqa.report.ledger_pages import to_html, to_markdown
from analogyqa.report.summary import read_runs, summarise_runs, values_of, write_csv
from analogyqa.runs.cost import read_costs

with job(snakemake):
    config, by_name = reported(snakemake)
    papers = list(by_name.values())
    counts = count_corpora(snakemake.input.corpora)
    parts = cells_by_run(config, all_cells(config, by_name))
    runs = list(read_runs(snakemake.input.records, snakemake.input.metrics, parts))
    summary = summarise_runs(runs, config)
    write_csv(summary, snakemake.output.summary)
    costs = read_costs(snakemake.input.costs)
    ledger = build_ledger(papers, config, summary, counts, values_of(runs), costs=costs)
    write_csv(ledger, snakemake.output.ledger)
    write_text(snakemake.output.md, to_markdown(ledger, papers))
    write_text(snakemake.output.html, to_html(ledger, papers))
