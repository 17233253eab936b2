"""Measure what training costs: the number of parameters, and the time of steps."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analogyqa.arithmetic import processor, reproducible_arithmetic
from analogyqa.cells.cell import Settings, system_from
from analogyqa.errors import explain_damage
from analogyqa.files import write_json
from analogyqa.runs.record import code_commit
from analogyqa.training.data import CellFiles, load_cell

if TYPE_CHECKING:
    from analogyqa.training.learner import Learner

STEPS = 12  # timed steps of each system: p may reach .0005, so that Holm leaves it below .05


class Cost(NamedTuple):
    """The cost of training a system; the n-th steps of all systems followed one another."""

    parameters: int  # that learn
    batches: int  # of an epoch
    seconds: list[float]  # of single steps
    machine: str  # that took them: a processor or GPU

    def values(self, cost: str) -> list[float]:
        """Return the `parameters`, or the `seconds_per_epoch` estimated from each step."""
        if cost == "parameters":
            return [float(self.parameters)]
        return [seconds * self.batches for seconds in self.seconds]


Costs = dict[tuple[str, str, str], Cost]  # by data set, subset and system


def measure_costs(
    settings: Settings, corpus: str, vectors: Mapping[str, str], device: str, path: str | Path
) -> None:
    """Count the parameters of systems, time their steps, and write both as JSON to `path`.

    The systems take turns: each takes a first step, which is not timed, then each takes a second
    step, and so on. So other work on the machine slows all systems alike.

    Args:
        settings: The question types of the subset (None for `all`); and by name, the systems, all
            trained and none of them on quadruples, and whether their words are lower-cased.
        corpus: The table of schema CORPUS.
        vectors: The stores of word vectors, by name.
        device: auto, cpu or cuda.
    """
    import torch

    from analogyqa.training.devices import device_for
    from analogyqa.training.learner import Learner

    chosen = device_for(device)
    systems = {name: system_from(values) for name, values in settings["systems"].items()}
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    costs, steps = {}, {}
    for name, system in systems.items():
        files = CellFiles(corpus, vectors.get(system.vectors or ""), None, {})
        data = load_cell(files, settings["question_types"], system, settings["lowercase"][name])
        steps[name] = _take_steps(Learner(system, data, 0, chosen))
        with reproducible_arithmetic():
            parameters, batches = next(steps[name])
        costs[name] = {"parameters": parameters, "batches": batches, "seconds": seconds[name]}
    with reproducible_arithmetic():
        for _ in range(STEPS):
            for name, step in steps.items():
                started = time.perf_counter()
                next(step)
                seconds[name].append(time.perf_counter() - started)
    is_gpu = chosen.type == "cuda"
    machine = torch.cuda.get_device_name(chosen) if is_gpu else f"{processor()}, one thread"
    write_json(path, {"machine": machine, "git_commit": code_commit(), "systems": costs})


def _take_steps(learner: "Learner") -> Iterator[tuple[int, int]]:
    """Take steps; after each one, yield the numbers of parameters and of batches in an epoch."""
    count = sum(1 for _ in learner.batches(1))
    batches = list(islice(learner.batches(1), STEPS + 1))
    learner.model.train()
    for index in range(STEPS + 1):
        learner.step(batches[index % len(batches)])
        yield sum(parameter.numel() for parameter in learner.parameters), count


def read_costs(paths: Sequence[str | Path]) -> Costs:
    """Read the files that `measure_costs` wrote, named costs/{dataset}/{subset}.json.

    Raises AnalogyQAError when a file cannot be read.
    """
    costs: Costs = {}
    for path in map(Path, paths):
        with explain_damage(path):
            record = json.loads(path.read_text(encoding="utf-8"))
            for name, cost in record["systems"].items():
                costs[path.parent.name, path.stem, name] = Cost(**cost, machine=record["machine"])
    return costs
