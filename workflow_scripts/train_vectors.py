"""Train fastText vectors on texts.

input: the texts
output: vectors/trained/{vectors}.bin
"""

from analogyqa.job import job
from analogyqa.vectors.train import train_vectors

with job(snakemake):
    train_vectors(
        list(snakemake.input.texts),
        snakemake.output[0],
        snakemake.params.dim,
        snakemake.params.epochs,
        snakemake.params.min_count,
        snakemake.params.lowercase,
    )
