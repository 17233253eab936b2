"""Render one table of a paper as csv, md and tex.

input: metrics and records of the cells that it shows, the corpora that it counts, and costs; or, of
    a view, the inside of trained systems
output: tables/{paper}/table{number}.{csv,md,tex}
"""

from analogyqa.corpora.table import count_corpora
from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.plan import artefact_cells, cells_by_run
from analogyqa.report.ledger import build_ledger
from analogyqa.report.summary import read_runs, summarise_runs, values_of, write_csv
from analogyqa.report.table_formats import to_latex, to_markdown
from analogyqa.report.tables import build_table
from analogyqa.report.views.show import show_view, table_of_view
from analogyqa.runs.cost import read_costs

with job(snakemake):
    (config, papers), inputs = reported(snakemake), snakemake.input
    paper = papers[snakemake.wildcards.paper]
    name = f"table{snakemake.wildcards.number}"
    if name in paper.views:
        shown = show_view(paper, name, inputs.get("insides", []), config)
        table = table_of_view(shown, paper, name, config)
    else:
        parts = cells_by_run(config, artefact_cells(config, paper, name))
        runs = list(read_runs(inputs.records, inputs.metrics, parts))
        summary, values = summarise_runs(runs, config), values_of(runs)
        counts, costs = count_corpora(inputs.corpora), read_costs(inputs.costs)
        everything = (list(papers.values()), config, summary, counts, values)
        ledger = build_ledger(*everything, (paper.paper, name), costs)
        table = build_table(paper, name, ledger, summary, config, counts, costs, values)
    write_csv(table.frame, snakemake.output.csv)
    write_text(snakemake.output.md, to_markdown(table))
    write_text(snakemake.output.tex, to_latex(table))
