"""The tasks: ranking the candidates of a question, and solving analogies between sentence pairs.

Modules that work on a data set get its task here, and do not ask which one it is.
"""

from typing import NamedTuple

from analogyqa.settings.data import Dataset


class Task(NamedTuple):
    """What a task is called in tables and pages."""

    items: str  # what a measure averages over and a bootstrap draws
    tested: str  # the same in the words of tables
    counted: str  # the things that `count: questions` counts
    counts: tuple[tuple[str, str], ...]  # headings and keys of the counts that a data card shows
    ties: str  # the note below a table with {} ties, over all seeds
    no_ties: str
    notes: tuple[str, ...] = ()  # explain results below a table

    def tie_note(self, counts: str) -> str:
        """Return the note about ties below a table; `counts` is empty if there are none."""
        return self.ties.format(counts) if counts else self.no_ties


# Each cell is a run of its own, which also trains what it needs.
RANKING = Task(
    items="questions",
    tested="test split, questions",
    counted="questions with at least one correct candidate, by their first word in lower case",
    counts=(
        ("Questions", "all_questions"),
        ("with an answer", "questions"),
        ("Question-candidate pairs", "pairs"),
    ),
    ties="Tied candidates, over all seeds: {}; trec_eval ranks the last id first.",
    no_ties="Ties: none, no two candidates of a question have the same score.",
)
# One run over all categories holds the cells of its subsets, with any weights. It trains nothing:
# another cell, which ranks, trains the encoder.
ANALOGIES = Task(
    items="pairs",
    tested="pairs of words (in templates) or of sentences",
    counted="pairs of sentences",
    counts=(("Sentence pairs", "questions"), ("Analogies", "analogies")),
    ties="Questions whose best candidates tie, over all seeds: {}.",
    no_ties="Ties: none, every question has one best candidate.",
    notes=(
        "Any two pairs of a category form an analogy. Values are means over analogies, "
        "intervals are over the pairs within each category, as A : B and as C : D; the pairs that "
        "templates make of one pair of words are drawn together. Encoders without randomness "
        "give every seed the same value.",
    ),
)


def category_key(name: str) -> str:
    """Return the key of a category in `left_out`."""
    return f"category {name}"


def dataset_task(dataset: Dataset) -> Task:
    return ANALOGIES if dataset.gives_relations else RANKING
