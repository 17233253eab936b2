"""Measure every question of a run.

input: corpus, scores
output: metrics/{model}/{dataset}/{subset}/p{p}.parquet
"""

from analogyqa.metrics import measure_run
from analogyqa.quadruples import subset_of
from analogyqa.schemas import CORPUS, METRICS, SCORES, read_table, write_table
from job import job

with job(snakemake):
    corpus = read_table(snakemake.input.corpus, CORPUS)
    question_types = {}
    for split in ("dev", "test"):
        pairs = subset_of(corpus, split, snakemake.wildcards.subset)
        question_types[split] = dict(zip(pairs["question_id"], pairs["question_type"], strict=True))
    metrics = measure_run(read_table(snakemake.input.scores, SCORES), question_types)
    write_table(metrics, METRICS, snakemake.output[0])
