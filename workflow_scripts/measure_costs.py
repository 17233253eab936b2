"""Count the parameters of systems, and time their steps in turns."""

from analogyqa.job import job
from analogyqa.runs.cost import measure_costs

with job(snakemake) as settings:
    inputs, device = snakemake.input, snakemake.config["device"]
    vectors = dict(zip(settings["vectors"], inputs.vectors, strict=True))
    measure_costs(settings, inputs.corpus, vectors, device, snakemake.output[0])
