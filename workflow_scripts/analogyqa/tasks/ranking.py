"""Ranking the candidates of each question."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analogyqa.cells.cell import Cell
    from analogyqa.settings.coordinates import Coordinates
    from analogyqa.settings.run import Config


class Ranking:
    """Each cell is a run of its own, which also trains what it needs.

    Attributes:
        items: What a measure averages over and a bootstrap draws.
        tested: The same in the words of tables.
        counted: The things that `count: questions` counts.
        counts: The headings and the keys of the counts of a corpus that its data card shows.
        has_question_types: Whether subsets are made of question types.
        notes: The explanations of results in the notes below a table.
    """

    items = "questions"
    tested = "test split, questions"
    counted = "questions with at least one correct candidate, by their first word in lower case"
    counts: tuple[tuple[str, str], ...] = (
        ("Questions", "all_questions"),
        ("with an answer", "questions"),
        ("Question-candidate pairs", "pairs"),
    )
    has_question_types = True
    notes: tuple[str, ...] = ()

    def tie_note(self, counts: str) -> str:
        """Return the note about ties below a table; `counts` is empty if there are none."""
        if not counts:
            return "Ties: none, no two candidates of a question have the same score."
        return f"Tied candidates, over all seeds: {counts}; trec_eval ranks the last id first."

    def cell_with_run(self, cell: "Cell") -> "Cell":
        """Return the cell whose run holds the results of a cell."""
        return cell

    def training_cell(self, cell: "Cell") -> "Cell | None":
        """Return another cell that trains the encoder of a cell; None if there is none."""
        return None

    def why_no_run(self, coordinates: "Coordinates", config: "Config") -> str:
        """Return why the task cannot be done at some coordinates; "" if it can."""
        return ""
