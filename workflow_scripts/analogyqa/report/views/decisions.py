"""The decisions of prototypes: how often each decides, and the clearest answers."""

from collections.abc import Iterator, Sequence

import pandas as pd

from analogyqa.evaluation.summary import to_frame
from analogyqa.report.explained import EXAMPLES, clearest_decisions
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.views.show import Panel, ViewContent, text_block
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
    order = ["question_type", "decisions", *keys[1:]]
    counts = counts.sort_values(order, ascending=[True, False, True, True])
    return counts.rename(columns=lambda name: name.removeprefix("prototype_"))


def _deciding_lines(frame: pd.DataFrame) -> Iterator[tuple[list[str], list[Value]]]:
    """Yield the most frequent prototypes of each type, the others together, and all."""
    for question_type, part in frame.groupby("question_type", sort=False):
        groups = [
            (f"{row['question_id']}, {row['candidate_id']}", str(row["seeds"]), part.loc[[index]])
            for index, row in part.head(SHOWN).iterrows()
        ]
        if len(others := part.iloc[SHOWN:]):
            groups.append((f"{len(others)} other{'s' * (len(others) > 1)}", "", others))
        groups.append((f"all {len(part)} that decide", "", part))
        for name, seeds, counts in groups:
            decisions, right = counts["decisions"].sum(), counts["right"].sum()
            share = f"{right / decisions:.2f}".removeprefix("0")
            texts = seeds, str(decisions), str(right), share
            yield [str(question_type), name], list(map(Value, texts))


def show_decided(panels: Sequence[Panel], view: View, config: Config) -> ViewContent:
    """Show the clearest answers of the first seed, correct and incorrect: columns DECIDED."""
    frames = [clearest_decisions(panel.table).assign(panel=panel.name) for panel in panels]
    frame = to_frame(pd.concat(frames).to_dict("records"), DECIDED)
    texts = frame.assign(margin=frame["margin"].map("{:+.3f}".format))
    blocks = [
        text_block(f"{panel}: answered {answered}", part, {"question": "Question"}, COLUMNS)
        for (panel, answered), part in texts.groupby(["panel", "answered"], sort=False)
    ]
    notes = [
        "Do not publish this table: it contains sentences of the data.",
        f"The first seed. The {EXAMPLES} questions with the largest and with the smallest margin: "
        "the best score of a correct answer minus that of a wrong one. If several answers are "
        "correct, the best ranked one is shown.",
    ]
    return ViewContent(frame, notes, blocks=blocks)
