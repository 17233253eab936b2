"""Count the parameters of systems, and time their steps in turns."""

from analogyqa.cells.cell import system_from
from analogyqa.job import job
from analogyqa.runs.cost import measure_costs
from analogyqa.training.data import CellFiles

with job(snakemake) as settings:
    systems = {name: system_from(values) for name, values in settings["systems"].items()}
    vectors = dict(zip(settings["vectors"], snakemake.input.vectors, strict=True))
    measure_costs(
        systems,
        {
            name: CellFiles(snakemake.input.corpus, vectors.get(system.vectors), None, {})
            for name, system in systems.items()
        },
        settings["question_types"],
        settings["lowercase"],
        snakemake.config["device"],
        snakemake.output[0],
    )
