"""Keep the encoder's weights of all seeds of a trained cell."""

from analogyqa.job import cell_job, job
from analogyqa.runs.finished import write_weights

with job(snakemake):
    write_weights(cell_job(snakemake), snakemake.config["output_dir"], snakemake.output[0])
