"""Systems and jobs on the toy corpus of conftest.py."""

from collections.abc import Callable

from analogyqa.cells import Cell
from analogyqa.examples.files import CellFiles, CellJob
from analogyqa.settings.systems import System

COMB = ["who", "when", "where"]  # the question types of the corpus
CELL = Cell("analogy", "toy", "comb")
SOURCES = {"train": "toy-train", "dev": "toy-dev", "test": "toy-test"}


def trained_system(ranker="analogy", encoder="bigru", p: int = 3, **training) -> System:
    """Return a system that trains in a second."""
    small = {"sentence_dim": 4, "batch_size": 4, "max_epochs": 3, "patience": 3}
    vectors = None if encoder == "minilm" else "some"
    values = {"encoder": encoder, "vectors": vectors, "ranker": ranker, "p": p}
    return System(title="T", **values, training=small | training)


def untrained_system(ranker="analogy", encoder="mean", p: int = 3, **values) -> System:
    """Return a system over word vectors that is not trained."""
    vectors = None if encoder == "random" else "some"
    return System(title="U", encoder=encoder, vectors=vectors, ranker=ranker, p=p, **values)


def toy_job(
    system: System,
    files: dict[int, CellFiles],
    types: list[str] | None = COMB,
    cell: Cell = CELL,
    **values,
) -> CellJob:
    """Return the job of a cell on the tables of each seed."""
    return CellJob(cell, types, system, files, True, **{"sources": SOURCES} | values)


def stop_after(epochs: int) -> Callable[[list[list]], None]:
    """Return a hook that interrupts a training run once it has saved some epochs."""

    def stop(history: list[list]) -> None:
        if history[-1][1] == epochs:
            raise KeyboardInterrupt

    return stop
