"""Questions that were answered correctly and incorrectly, with the prototypes that decided."""

from collections.abc import Sequence

import pandas as pd

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.explained import EXAMPLES, clearest_decisions
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.views.show import Panel, ViewContent
from analogyqa.settings.artefacts import View
from analogyqa.settings.run import Config

DECIDED = {
    "panel": "str",
    "answered": "str",
    "question_id": "str",
    "question": "str",
    "candidate": "str",
    "correct": "str",
    "margin": "float64",
    "prototype_question": "str",
    "prototype_candidate": "str",
}
COLUMNS = {
    "candidate": "Chosen answer",
    "correct": "Correct answer",
    "prototype_question": "Question of the prototype",
    "prototype_candidate": "Answer of the prototype",
    "margin": "Margin",
}


def show(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Show the clearest answers of the first seed, correct and incorrect: columns DECIDED."""
    frames = [clearest_decisions(panel.table).assign(panel=panel.name) for panel in panels]
    frame = to_frame(pd.concat(frames).to_dict("records"), DECIDED)
    blocks = [
        Block(
            f"{panel}: answered {answered}",
            ["Question"],
            list(COLUMNS.values()),
            [_line(row) for row in part.to_dict("records")],
            wrapped=True,
        )
        for (panel, answered), part in frame.groupby(["panel", "answered"], sort=False)
    ]
    notes = [
        "Do not publish this table: it contains sentences of the data.",
        f"The first seed. The {EXAMPLES} questions with the largest and with the smallest margin: "
        "the best score of a correct answer minus that of a wrong one. If several answers are "
        "correct, the best ranked one is shown.",
    ]
    return ViewContent(frame, notes, blocks=blocks)


def _line(row: dict) -> tuple[list[str], list[Value]]:
    values = row | {"margin": f"{row['margin']:+.3f}"}
    return [row["question"]], [Value(values[name]) for name in COLUMNS]
