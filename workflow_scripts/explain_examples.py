"""Explain the clearest right and wrong decisions of the first seed of a cell."""

from pathlib import Path

from analogyqa.job import cell_job, job
from analogyqa.model.examples import write_explanations
from analogyqa.report.explained import clearest_decisions
from analogyqa.runs.choose import resolve_system
from analogyqa.schemas import DECISIONS, read_table

with job(snakemake) as given:
    _, system = resolve_system(given.systems, snakemake.input.get("selection"))
    write_explanations(
        cell_job(snakemake, system),
        Path(snakemake.config["output_dir"], "checkpoints"),
        clearest_decisions(read_table(snakemake.input.decisions, DECISIONS))["question_id"],
        snakemake.output[0],
    )
