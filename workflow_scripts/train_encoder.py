"""Train all seeds of a cell.

input: corpus, vectors, prototypes and quadruples (one file for each seed), selection
output: runs/{model}/{dataset}/{subset}/p{p}/{scores.parquet,history.parquet,run.json}
"""

from pathlib import Path

from analogyqa.config import Model, Training
from analogyqa.runs import chosen_setting, train_cell
from job import cell_files, cell_of, job

with job(snakemake):
    settings = snakemake.params.settings
    selection = snakemake.input.get("selection")
    setting = chosen_setting(selection) if selection else next(iter(settings))
    training = Training(**settings[setting])
    train_cell(
        cell_of(snakemake),
        Model(title="", **snakemake.params.model),
        training,
        setting,
        cell_files(snakemake, training.negatives),
        snakemake.params.sources,
        snakemake.params.lowercase,
        snakemake.config["device"],
        Path(snakemake.config["output_dir"], "checkpoints"),
        Path(snakemake.output.record).parent,
        snakemake.threads,
    )
