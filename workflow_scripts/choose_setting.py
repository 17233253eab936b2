"""Choose the setting of a model by its mean dev MRR.

input: history.parquet of each setting, by its name
output: selection/{model}/{dataset}.json
"""

from analogyqa.runs.choose import choose_setting
from job import job

with job(snakemake):
    choose_setting(dict(snakemake.input.items()), snakemake.params.subset, snakemake.output[0])
