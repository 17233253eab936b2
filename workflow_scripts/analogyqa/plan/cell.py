"""A cell, and the names of what it is made of."""

from pathlib import Path
from typing import NamedTuple

from analogyqa.settings import axes as ax
from analogyqa.settings.axes import Axes
from analogyqa.settings.data import FOLD


class Cell(NamedTuple):
    """One job of the cluster, all seeds: a system on a subset of a data set.

    `axes` are what it has otherwise than configured, sorted names with values as text.
    """

    system: str
    dataset: str
    subset: str
    axes: Axes = ()

    @property
    def path(self) -> str:
        return f"{self.system}/{self.dataset}/{self.subset}/{ax.to_text(self.axes)}"

    @classmethod
    def from_path(cls, path: Path) -> "Cell":
        """Return the cell whose `path` a path ends in."""
        system, dataset, subset, axes = path.parts[-4:]
        return cls(system, dataset, subset, ax.from_text(axes))

    @property
    def label(self) -> str:
        """Its coordinates in one line; no axes are not said."""
        return " ".join([self.system, self.dataset, self.subset, *map("=".join, self.axes)])

    @property
    def corpus(self) -> str:
        """The name of its corpus table: the data set, and the axes that change how it is read."""
        return corpus_name(self.dataset, self.axes)

    def record(self) -> dict:
        """Return the cell as a value of JSON."""
        return {**self._asdict(), "axes": dict(self.axes)}

    @classmethod
    def from_record(cls, record: dict) -> "Cell":
        """Return the cell that `record` returned; raises what a wrong one gives."""
        axes = tuple(sorted((str(name), str(value)) for name, value in record["axes"].items()))
        return cls(**{**record, "axes": axes})


def corpus_name(dataset: str, axes: Axes) -> str:
    return ax.AT.join([dataset, *map("=".join, ax.of_dataset(axes))])


def split_corpus(name: str) -> tuple[str, Axes]:
    """Return what `corpus_name` joined: the data set and its axes."""
    dataset, _, axes = name.partition(ax.AT)
    return dataset, ax.from_text(axes) if axes else ()


def unfolded(name: str) -> str:
    """Return the name of the corpus that a fold is cut from, or the name itself."""
    dataset, axes = split_corpus(name)
    return corpus_name(dataset, tuple(axis for axis in axes if axis[0] != FOLD))
