"""Choose the setting of a model by its mean dev MRR.

input: history.parquet of each setting, by its name
output: selection/{model}/{dataset}.json
"""

from job import job

from analogyqa.runs import choose_setting

with job(snakemake):
    choose_setting(dict(snakemake.input.items()), snakemake.params.subset, snakemake.output[0])
