"""Count the parameters of systems, and time their steps in turns."""

from analogyqa.job import job
from analogyqa.runs.cost import measure_costs
from analogyqa.settings.systems import System
from analogyqa.training.files import CellFiles

with job(snakemake) as given:
    systems = {name: System(title="", **section) for name, section in given.systems.items()}
    measure_costs(
        systems,
        {
            name: CellFiles(snakemake.input.corpus, snakemake.input.get(system.vectors), None, {})
            for name, system in systems.items()
        },
        given.types,
        given.lowercase,
        snakemake.config["device"],
        snakemake.output[0],
    )
