"""Explain the clearest right and wrong decisions of the first seed of a cell."""

from analogyqa.job import cell_job, job
from analogyqa.model import write_explanations
from analogyqa.report.explained import clearest_decisions
from analogyqa.schemas import DECISIONS, read_table

with job(snakemake):
    decisions = clearest_decisions(read_table(snakemake.input.decisions, DECISIONS))
    cell, results = cell_job(snakemake).first_seed_only(), snakemake.config["output_dir"]
    write_explanations(cell, results, decisions["question_id"], snakemake.output[0])
