"""Summarise every run and hold the published values against it.

input: metrics and run.json of every cell, corpora, papers
output: summary.csv, ledger.csv
"""

from pathlib import Path

from analogyqa.config import load_config
from analogyqa.corpora.table import count_questions
from analogyqa.ledger import build_ledger, load_paper, read_runs, summarise_runs, write_csv
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
    write_csv(build_ledger(papers, config, summary, counts), snakemake.output.ledger)
