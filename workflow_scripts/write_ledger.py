"""Summarise every run and hold the published values against it.

input: metrics and run.json of every cell, corpora, papers
output: summary.csv, ledger.csv, ledger.md, ledger.html
"""

from pathlib import Path

from analogyqa.checkpoints import write_text
from analogyqa.config import load_config
from analogyqa.corpora.table import count_questions
from analogyqa.ledger import build_ledger, load_paper, read_runs, summarise_runs, write_csv
from analogyqa.ledger_pages import to_html, to_markdown
from analogyqa.schemas import CORPUS, read_table
from job import job

with job(snakemake):
    config = load_config(snakemake.params.config)
    papers = [load_paper(path) for path in snakemake.input.papers]
    counts = {
        Path(path).stem: count_questions(read_table(path, CORPUS))
        for path in snakemake.input.corpora
    }
    runs = read_runs(snakemake.input.records, snakemake.input.metrics)
    summary = summarise_runs(runs, config.bootstrap)
    write_csv(summary, snakemake.output.summary)
    ledger = build_ledger(papers, config, summary, counts)
    write_csv(ledger, snakemake.output.ledger)
    write_text(snakemake.output.md, to_markdown(ledger, papers))
    write_text(snakemake.output.html, to_html(ledger, papers))
