"""Ranking the candidates of each question."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analogyqa.plan.cell import Cell
    from analogyqa.settings.coordinates import Coordinates
    from analogyqa.settings.run import Config


class Ranking:
    """Each cell is a run of its own, which also trains what it needs."""

    items = "test split, questions"
    counted = "questions with at least one correct candidate, by their first word in lower case"
    has_question_types = True
    notes: tuple[str, ...] = ()

    def tie_note(self, counts: str) -> str:
        if not counts:
            return "Ties: none, no two candidates of a question have the same score."
        return f"Tied candidates, over all seeds: {counts}; trec_eval ranks the last id first."

    def holding_cell(self, cell: "Cell") -> "Cell":
        return cell

    def training_cell(self, cell: "Cell") -> None:
        return None

    def why_no_run(self, coordinates: "Coordinates", config: "Config") -> str:
        return ""
