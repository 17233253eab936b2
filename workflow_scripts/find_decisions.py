"""Find the prototype that decided each test question, in each seed of a cell."""

import pandas as pd

from analogyqa.job import by_seed, job
from analogyqa.runs.finished import find_decisions
from analogyqa.schemas import CORPUS, DECISIONS, PROTOTYPES, SCORES, read_table, write_table

with job(snakemake) as settings:
    scores = read_table(snakemake.input.scores, SCORES)
    corpora = by_seed(snakemake.input.corpus, settings["seeds"])
    decisions = [
        find_decisions(
            scores[scores["seed"] == seed],
            read_table(corpora[seed], CORPUS),
            {seed: read_table(path, PROTOTYPES)},
        )
        for seed, path in by_seed(snakemake.input.prototypes, settings["seeds"]).items()
    ]
    write_table(pd.concat(decisions, ignore_index=True), DECISIONS, snakemake.output[0])
