"""Choose the setting of a system by its best dev value.

input: history.parquet of each setting, by its name
output: selection/{system}/{dataset}.json
"""

from analogyqa.job import job
from analogyqa.runs.choose import choose_hyperparameters

with job(snakemake) as given:
    histories = dict(snakemake.input.items())
    choose_hyperparameters(histories, given.measure, given.subset, snakemake.output[0])
