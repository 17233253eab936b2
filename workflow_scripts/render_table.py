"""Render one table of a paper as csv, md and tex.

input: summary.csv, ledger.csv, papers/{paper}/paper.yaml
output: tables/{paper}/table{number}.{csv,md,tex}
"""

from analogyqa.files import write_text
from analogyqa.report.summary import LEDGER, SUMMARY, read_csv, write_csv
from analogyqa.report.table_formats import to_latex, to_markdown
from analogyqa.report.tables import build_table
from analogyqa.settings.paper import load_paper
from job import job, reported_config

with job(snakemake):
    table = build_table(
        load_paper(snakemake.input.paper),
        f"table{snakemake.wildcards.number}",
        read_csv(snakemake.input.ledger, LEDGER),
        read_csv(snakemake.input.summary, SUMMARY),
        reported_config(snakemake),
    )
    write_csv(table.frame, snakemake.output.csv)
    write_text(snakemake.output.md, to_markdown(table))
    write_text(snakemake.output.tex, to_latex(table))
