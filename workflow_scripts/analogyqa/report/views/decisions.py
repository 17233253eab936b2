"""The decisions of prototypes: how often each decides, and the clearest answers."""

from collections.abc import Iterator, Sequence

import pandas as pd

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.explained import EXAMPLES, clearest_decisions
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.views.show import Panel, ViewContent
from analogyqa.settings.artefacts import View
from analogyqa.settings.run import Config

# A row for each prototype that decides. `seeds` is the number of seeds in which it decides;
# `decisions` and `right` are totals over seeds.
DECIDING = dict.fromkeys(["panel", "question_type", "question_id", "candidate_id"], "str")
DECIDING |= dict.fromkeys(["seeds", "decisions", "right"], "Int64")
SHOWN = 5  # prototypes of each question type, those that decide most often
DECIDED = {
    **dict.fromkeys(["panel", "answered", "question_id", "question", "candidate"], "str"),
    **{"correct": "str", "margin": "float64"},
    **dict.fromkeys(["prototype_question", "prototype_candidate"], "str"),
}
COLUMNS = {
    "candidate": "Chosen answer",
    "correct": "Correct answer",
    "prototype_question": "Question of the prototype",
    "prototype_candidate": "Answer of the prototype",
    "margin": "Margin",
}


def show_deciding(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Count the decisions of each prototype: a block for each panel. The data are of DECIDING."""
    frames = [count_decisions(panel.table).assign(panel=panel.name) for panel in panels]
    frame = to_frame(pd.concat(frames).to_dict("records"), DECIDING)
    columns = ["seeds", "decides", "right", "share right"]
    blocks = [
        Block(str(name), ["Type", "Prototype"], columns, list(_deciding_lines(part)))
        for name, part in frame.groupby("panel", sort=False)
    ]
    # The coordinates of each panel, in the same order.
    coordinates = zip(panels, view.coordinates().values(), strict=True)
    counts = {
        config.system_at(at.system, at.overrides).p for panel, at in coordinates if not panel.reason
    }
    notes = [
        "A prototype decides a question if the candidate that is ranked first has its score from "
        "it, and is right if that candidate is correct. Decisions are summed over seeds.",
        f"A prototype is named by the ids of its training question and of the answer. For "
        f"each type, the {SHOWN} that decide most often; the csv has all that ever decide.",
    ]
    if counts:
        text = " or ".join(map(str, sorted(counts)))
        notes.insert(0, f"Prototypes of each type and seed: {text}.")
    return ViewContent(frame, notes, blocks=blocks)


def count_decisions(decisions: pd.DataFrame) -> pd.DataFrame:
    """Count the decisions of each prototype in a table DECISIONS, the most frequent first."""
    keys = ["question_type", "prototype_question_id", "prototype_candidate_id"]
    groups = decisions.astype({"question_type": str}).groupby(keys)
    counts = groups.agg(
        seeds=("seed", "nunique"), decisions=("seed", "size"), right=("label", "sum")
    ).reset_index()
    counts = counts.sort_values(
        ["question_type", "decisions", *keys[1:]], ascending=[True, False, True, True]
    )
    return counts.rename(columns=lambda name: name.removeprefix("prototype_"))


def _deciding_lines(frame: pd.DataFrame) -> Iterator[tuple[list[str], list[Value]]]:
    """Yield the most frequent prototypes of each type, the others together, and all."""
    for question_type, part in frame.groupby("question_type", sort=False):
        others = part.iloc[SHOWN:]
        for _, row in part.head(SHOWN).iterrows():
            name = f"{row['question_id']}, {row['candidate_id']}"
            yield [str(question_type), name], _shares(row.to_frame().T, str(row["seeds"]))
        if len(others):
            name = f"{len(others)} other{'s' * (len(others) > 1)}"
            yield [str(question_type), name], _shares(others)
        yield [str(question_type), f"all {len(part)} that decide"], _shares(part)


def _shares(counts: pd.DataFrame, seeds: str = "") -> list[Value]:
    decisions, right = counts["decisions"].sum(), counts["right"].sum()
    share = f"{right / decisions:.2f}".removeprefix("0")
    return [Value(seeds), Value(str(decisions)), Value(str(right)), Value(share)]


def show_decided(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Show the clearest answers of the first seed, correct and incorrect: columns DECIDED."""
    frames = [clearest_decisions(panel.table).assign(panel=panel.name) for panel in panels]
    frame = to_frame(pd.concat(frames).to_dict("records"), DECIDED)
    blocks = []
    for (panel, answered), part in frame.groupby(["panel", "answered"], sort=False):
        texts = part.assign(margin=part["margin"].map("{:+.3f}".format)).to_dict("records")
        lines = [([row["question"]], [Value(row[name]) for name in COLUMNS]) for row in texts]
        heading = f"{panel}: answered {answered}"
        blocks.append(Block(heading, ["Question"], list(COLUMNS.values()), lines, wrapped=True))
    notes = [
        "Do not publish this table: it contains sentences of the data.",
        f"The first seed. The {EXAMPLES} questions with the largest and with the smallest margin: "
        "the best score of a correct answer minus that of a wrong one. If several answers are "
        "correct, the best ranked one is shown.",
    ]
    return ViewContent(frame, notes, blocks=blocks)
