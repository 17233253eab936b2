"""The tasks: ranking the candidates of a question, and solving analogies between sentence pairs.

Both have the attributes and methods that `Ranking` describes.
"""

from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.data import ALL, TRAINED_ON, Dataset
from analogyqa.settings.run import Config


class Ranking:
    """Each cell is a run of its own, which also trains what it needs.

    Attributes:
        items: What a measure averages over and a bootstrap draws.
        tested: The same in the words of tables.
        counted: The things that `count: questions` counts.
        counts: The headings and the keys of the counts of a corpus that its data card shows.
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
    notes: tuple[str, ...] = ()

    def tie_note(self, counts: str) -> str:
        """Return the note about ties below a table; `counts` is empty if there are none."""
        if not counts:
            return "Ties: none, no two candidates of a question have the same score."
        return f"Tied candidates, over all seeds: {counts}; trec_eval ranks the last id first."

    def why_no_run(self, coordinates: Coordinates, config: Config) -> str:
        """Return why the task cannot be done at some coordinates; "" if it can."""
        return ""


class Analogies:
    """One run over all categories holds the cells of its subsets, with any weights.

    The run trains nothing: another cell, which ranks, trains the encoder.
    """

    items = "pairs"
    tested = "pairs of words (in templates) or of sentences"
    counted = "pairs of sentences"
    counts: tuple[tuple[str, str], ...] = (
        ("Sentence pairs", "questions"),
        ("Analogies", "analogies"),
    )
    notes: tuple[str, ...] = (
        "Any two pairs of a category form an analogy. Values are means over analogies, "
        "intervals are over the pairs within each category, as A : B and as C : D; the pairs that "
        "templates make of one pair of words are drawn together. Encoders without randomness "
        "give every seed the same value.",
    )

    def tie_note(self, counts: str) -> str:
        if not counts:
            return "Ties: none, every question has one best candidate."
        return f"Questions whose best candidates tie, over all seeds: {counts}."

    def why_no_run(self, coordinates: Coordinates, config: Config) -> str:
        dataset = config.datasets[coordinates.dataset]
        for name in config.subset_types(coordinates.subset) or dataset.relations:
            if name not in dataset.relations:
                return f"{coordinates.dataset} has no category {name}"
            if reason := config.left_out.get(category_key(name)):
                return reason
        if not coordinates.system:
            return ""
        system = config.systems[coordinates.system]
        encoder = system.encoder_spec
        if not system.ranker_spec.needs_encoder or (encoder and encoder.gives_words):
            return f"{coordinates.system} gives no sentence vectors"
        if system.vectors and config.vectors[system.vectors].lemmas:
            return f"{coordinates.system} reads lemmas, and analogies are between whole sentences"
        if system.weighting != "uniform":
            return f"{coordinates.system} weights words by training sentences, and there are none"
        if not system.trained:
            return ""
        if TRAINED_ON not in (overrides := dict(coordinates.overrides)):
            return f"{coordinates.system} is trained, and there is nothing to train it on here"
        name, subset = overrides[TRAINED_ON].split("+")
        if name in config.left_out:
            return config.left_out[name]
        if name not in config.datasets or config.datasets[name].gives_relations:
            return f"{TRAINED_ON}: no data set {name} to train on"
        return "" if subset in (ALL, *config.subsets) else f"{TRAINED_ON}: no subset {subset}"


def category_key(name: str) -> str:
    """Return the key of a category in `left_out`."""
    return f"category {name}"


def dataset_task(dataset: Dataset) -> Ranking | Analogies:
    return Analogies() if dataset.gives_relations else Ranking()
