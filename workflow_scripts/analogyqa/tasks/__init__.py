"""The tasks: ranking the candidates of a question, and solving analogies between sentence pairs.

Modules that work on a data set get its task here, and do not ask which one it is.
"""

from typing import TYPE_CHECKING, Protocol

from analogyqa.corpora.specs import READERS
from analogyqa.settings.data import Dataset
from analogyqa.tasks.analogies import Analogies
from analogyqa.tasks.ranking import Ranking

if TYPE_CHECKING:
    from analogyqa.plan.cell import Cell
    from analogyqa.settings.coordinates import Coordinates
    from analogyqa.settings.run import Config


class Task(Protocol):
    """A task on a data set.

    Attributes:
        items: The items that a measure averages over, in the words of tables.
        counted: The things that `count: questions` counts.
        has_question_types: Whether subsets are made of question types.
        notes: The explanations of results in the notes below a table.
    """

    items: str
    counted: str
    has_question_types: bool
    notes: tuple[str, ...]

    def tie_note(self, counts: str) -> str:
        """Return the note about ties below a table; `counts` is empty if there are none."""
        ...

    def holding_cell(self, cell: "Cell") -> "Cell":
        """Return the cell whose run holds the results of a cell."""
        ...

    def training_cell(self, cell: "Cell") -> "Cell | None":
        """Return another cell that trains the encoder of a cell; None if there is none."""
        ...

    def why_no_run(self, coordinates: "Coordinates", config: "Config") -> str:
        """Return why the task cannot be done at some coordinates; "" if it can."""
        ...


def task_of(dataset: Dataset) -> Task:
    return Analogies() if READERS[dataset.reader].gives_relations else Ranking()
