"""What training costs: the parameters of systems, and the time of their steps, taken in turns."""

import json
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analogyqa.errors import AnalogyQAError
from analogyqa.examples.files import CellFiles, load_cell
from analogyqa.files import write_json
from analogyqa.runs.commit import code_commit
from analogyqa.settings.systems import System

if TYPE_CHECKING:
    from analogyqa.training.learner import Learner

STEPS = 8  # that are timed, of each system: with fewer, no paired test could decide


class Cost(NamedTuple):
    """The cost of training a system on a data set.

    `parameters` are those that learn, `batches` make up an epoch, `seconds` are of single steps:
    the n-th of every system were taken one after the other. `machine` is what took them.
    """

    parameters: int
    batches: int
    seconds: list[float]
    machine: str

    def values(self, what: str) -> list[float]:
        """Return `parameters`, or `seconds_per_epoch` by each of the steps."""
        if what == "parameters":
            return [float(self.parameters)]
        return [seconds * self.batches for seconds in self.seconds]


# (Data set, subset, system) to its cost.
Costs = dict[tuple[str, str, str], Cost]


def measure_costs(
    systems: Mapping[str, System],
    files: Mapping[str, CellFiles],
    types: Sequence[str] | None,
    lowercase: Mapping[str, bool],
    device: str,
    path: str | Path,
) -> None:
    """Count the parameters of systems and time their steps, and write them as JSON.

    Every system takes a step on its first batch, which is not timed; then all take their second
    step, one after the other, and so on, so that what else the machine does meets them alike.

    Args:
        systems: by name, all of them trained, and not on quadruples.
        files: name to the tables of a seed.
        types: the question types of the subset, None for `all`.
        lowercase: name to how its vocabulary was made.
        device: auto, cpu or cuda.
        path: of the file.
    """
    import torch

    from analogyqa.training.devices import device_for, set_numerics
    from analogyqa.training.learner import Learner

    chosen = device_for(device)
    set_numerics(chosen)
    torch.set_num_threads(1)
    costs, steps = {}, {}
    for name, system in systems.items():
        data = load_cell(
            files[name],
            types,
            system.p,
            lowercase[name],
            trains=True,
            answers=system.prototype_answers,
        )
        steps[name] = _steps_of(Learner(system, data, 0, chosen))
        parameters, batches = next(steps[name])
        costs[name] = {"parameters": parameters, "batches": batches, "seconds": []}
    for _ in range(STEPS):
        for name, step in steps.items():
            started = time.perf_counter()
            next(step)
            costs[name]["seconds"].append(time.perf_counter() - started)
    machine = f"{processor()}, one thread"
    if chosen.type == "cuda":
        machine = torch.cuda.get_device_name(chosen)
    record = {"machine": machine, "git_commit": code_commit(), "systems": costs}
    write_json(path, record)


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the model of the CPU; its architecture where the system does not say."""
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _steps_of(learner: "Learner") -> Iterator[tuple[int, int]]:
    """Yield, after each step, the parameters that learn and the batches of an epoch."""
    count = sum(1 for _ in learner.batches(1))
    few = list(islice(learner.batches(1), STEPS + 1))
    learner.model.train()
    for number in range(STEPS + 1):
        learner.step(few[number % len(few)])
        yield sum(parameter.numel() for parameter in learner.parameters), count


def read_costs(paths: Sequence[str | Path]) -> Costs:
    """Read what `measure_costs` wrote, files costs/{dataset}/{subset}.json.

    Raises AnalogyQAError when a file cannot be read.
    """
    costs: Costs = {}
    for path in map(Path, paths):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            for name, own in record["systems"].items():
                cost = Cost(own["parameters"], own["batches"], own["seconds"], record["machine"])
                costs[path.parent.name, path.stem, name] = cost
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise AnalogyQAError(
                f"{path}: cannot be read: {error}. "
                "Delete it, then run the same command again to rebuild it."
            ) from error
    return costs
