"""A cell, and the names of the files it is made of."""

from pathlib import Path
from typing import NamedTuple

from analogyqa.settings import overrides as ov
from analogyqa.settings.data import FOLD
from analogyqa.settings.overrides import Overrides


class Cell(NamedTuple):
    """A system on a subset of a data set: one job that runs all seeds.

    `overrides` replace configured values for this cell: sorted pairs of a name and a value as text.
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
        """Return the cell of a path that ends in the cell's `path`."""
        system, dataset, subset, overrides = path.parts[-4:]
        return cls(system, dataset, subset, ov.from_text(overrides))

    @property
    def label(self) -> str:
        """The cell in one line, for messages; overrides are shown only if there are any."""
        return " ".join([self.system, self.dataset, self.subset, *map("=".join, self.overrides)])

    @property
    def corpus(self) -> str:
        """The name of its corpus table: the data set, with overrides of how it is read."""
        return corpus_name(self.dataset, self.overrides)

    def record(self) -> dict:
        """Return the cell as a JSON value."""
        return {**self._asdict(), "overrides": dict(self.overrides)}

    @classmethod
    def from_record(cls, record: dict) -> "Cell":
        """Return the cell of a value that `record` returned."""
        return cls(**{**record, "overrides": ov.as_overrides(record["overrides"])})


def corpus_name(dataset: str, overrides: Overrides) -> str:
    return ov.AT.join([dataset, *map("=".join, ov.dataset_overrides(overrides))])


def split_corpus(name: str) -> tuple[str, Overrides]:
    """Return the data set and the overrides in a name made by `corpus_name`."""
    dataset, _, overrides = name.partition(ov.AT)
    return dataset, ov.from_text(overrides) if overrides else ()


def without_fold(name: str) -> str:
    """Return the name of the corpus that a fold is cut from, or the name itself for no fold."""
    dataset, overrides = split_corpus(name)
    return corpus_name(dataset, tuple(override for override in overrides if override[0] != FOLD))
