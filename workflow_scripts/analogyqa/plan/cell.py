"""A cell, and the names of what it is made of."""

from pathlib import Path
from typing import NamedTuple

from analogyqa.settings import overrides as ov
from analogyqa.settings.data import FOLD
from analogyqa.settings.overrides import Overrides


class Cell(NamedTuple):
    """One job of the cluster, all seeds: a system on a subset of a data set.

    `overrides` are what it has otherwise than configured, sorted names with values as text.
    """

    system: str
    dataset: str
    subset: str
    overrides: Overrides = ()

    @property
    def path(self) -> str:
        return f"{self.system}/{self.dataset}/{self.subset}/{ov.to_text(self.overrides)}"

    @classmethod
    def from_path(cls, path: Path) -> "Cell":
        """Return the cell whose `path` a path ends in."""
        system, dataset, subset, overrides = path.parts[-4:]
        return cls(system, dataset, subset, ov.from_text(overrides))

    @property
    def label(self) -> str:
        """Its coordinates in one line; no overrides are not said."""
        return " ".join([self.system, self.dataset, self.subset, *map("=".join, self.overrides)])

    @property
    def corpus(self) -> str:
        """The name of its corpus table: the data set, and overrides of how it is read."""
        return corpus_name(self.dataset, self.overrides)

    def record(self) -> dict:
        """Return the cell as a value of JSON."""
        return {**self._asdict(), "overrides": dict(self.overrides)}

    @classmethod
    def from_record(cls, record: dict) -> "Cell":
        """Return the cell that `record` returned; raises what a wrong one gives."""
        overrides = tuple(
            sorted((str(name), str(value)) for name, value in record["overrides"].items())
        )
        return cls(**{**record, "overrides": overrides})


def corpus_name(dataset: str, overrides: Overrides) -> str:
    return ov.AT.join([dataset, *map("=".join, ov.dataset_overrides(overrides))])


def split_corpus(name: str) -> tuple[str, Overrides]:
    """Return what `corpus_name` joined: the data set and its overrides."""
    dataset, _, overrides = name.partition(ov.AT)
    return dataset, ov.from_text(overrides) if overrides else ()


def without_fold(name: str) -> str:
    """Return the name of the corpus that a fold is cut from, or the name itself."""
    dataset, overrides = split_corpus(name)
    return corpus_name(dataset, tuple(override for override in overrides if override[0] != FOLD))
