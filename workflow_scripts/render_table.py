"""Render one table of a paper as csv, md and tex.

input: summary.csv, ledger.csv, papers/{paper}.yaml
output: tables/{paper}/table{number}.{csv,md,tex}
"""

from analogyqa.checkpoints import write_text
from analogyqa.config import load_config
from analogyqa.ledger import LEDGER, SUMMARY, load_paper, read_csv, write_csv
from analogyqa.tables import build_table, to_latex, to_markdown
from job import job

with job(snakemake):
    table = build_table(
        load_paper(snakemake.input.paper),
        f"table{snakemake.wildcards.number}",
        read_csv(snakemake.input.ledger, LEDGER),
        read_csv(snakemake.input.summary, SUMMARY),
        load_config(snakemake.params.config),
    )
    write_csv(table.frame, snakemake.output.csv)
    write_text(snakemake.output.md, to_markdown(table))
    write_text(snakemake.output.tex, to_latex(table))
