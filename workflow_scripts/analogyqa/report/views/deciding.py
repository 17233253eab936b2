"""How often each prototype decides, and how often its answer is then correct."""

from collections.abc import Sequence

import pandas as pd

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.views.show import Panel, ViewContent
from analogyqa.settings.artefacts import View
from analogyqa.settings.run import Config

# A row for each prototype that decides. `seeds` is the number of seeds in which it decides;
# `decisions` and `right` are totals over seeds.
DECIDING = {
    "panel": "str",
    "question_type": "str",
    "question_id": "str",
    "candidate_id": "str",
    "seeds": "Int64",
    "decisions": "Int64",
    "right": "Int64",
}
SHOWN = 5  # prototypes of each question type, those that decide most often
_KEYS = ["question_type", "prototype_question_id", "prototype_candidate_id"]


def show(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Count the decisions of each prototype: a block for each panel. The data are of DECIDING."""
    frames = [counts_of(panel.table).assign(panel=panel.name) for panel in panels]
    frame = to_frame(pd.concat(frames).to_dict("records"), DECIDING)
    blocks = [
        Block(name, ["Type", "Prototype"], ["seeds", "decides", "right", "share right"], lines)
        for name in frame["panel"].unique()
        if (lines := _lines(frame[frame["panel"] == name]))
    ]
    # The coordinates of each panel, in the same order.
    coordinates = zip(panels, view.coordinates().values(), strict=True)
    systems = [
        config.system_at(at.system, at.overrides) for panel, at in coordinates if not panel.reason
    ]
    counts = " or ".join(str(count) for count in sorted({system.p for system in systems}))
    notes = [f"Prototypes of each type and seed: {counts}."] if counts else []
    notes += [
        "A prototype decides a question if the candidate that is ranked first has its score from "
        "it, and is right if that candidate is correct. Decisions are summed over seeds.",
        f"A prototype is named by the ids of its training question and of the answer. For "
        f"each type, the {SHOWN} that decide most often; the csv has all that ever decide.",
    ]
    return ViewContent(frame, notes, blocks=blocks)


def counts_of(decisions: pd.DataFrame) -> pd.DataFrame:
    """Count the decisions of each prototype in a table DECISIONS, the most frequent first."""
    groups = decisions.astype({"question_type": str}).groupby(_KEYS)
    counts = groups.agg(
        seeds=("seed", "nunique"), decisions=("seed", "size"), right=("label", "sum")
    ).reset_index()
    counts = counts.sort_values(
        ["question_type", "decisions", *_KEYS[1:]], ascending=[True, False, True, True]
    )
    return counts.rename(columns={name: name.removeprefix("prototype_") for name in _KEYS})


def _lines(frame: pd.DataFrame) -> list[tuple[list[str], list[Value]]]:
    """Return the most frequent prototypes of each type, the others together, and all."""
    lines = []
    for question_type, part in frame.groupby("question_type", sort=False):
        top, others = part.head(SHOWN), part.iloc[SHOWN:]
        lines += [
            _line(
                question_type,
                f"{row['question_id']}, {row['candidate_id']}",
                str(row["seeds"]),
                pd.DataFrame([row]),
            )
            for row in top.to_dict("records")
        ]
        if len(others):
            lines.append(
                _line(question_type, f"{len(others)} other{'s' * (len(others) > 1)}", "", others)
            )
        lines.append(_line(question_type, f"all {len(part)} that decide", "", part))
    return lines


def _line(
    question_type: str, prototype: str, seeds: str, counts: pd.DataFrame
) -> tuple[list[str], list[Value]]:
    decisions, right = int(counts["decisions"].sum()), int(counts["right"].sum())
    texts = [seeds, str(decisions), str(right), f"{right / decisions:.2f}".removeprefix("0")]
    return [question_type, prototype], [Value(text) for text in texts]
