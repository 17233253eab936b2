"""Solving the analogies between the sentence pairs of a category."""

from typing import TYPE_CHECKING

from analogyqa.settings.data import ALL, SOLVING_OVERRIDES, TRAINED_ON, WEIGHTED_BY

if TYPE_CHECKING:
    from analogyqa.cells.cell import Cell
    from analogyqa.settings.coordinates import Coordinates
    from analogyqa.settings.run import Config


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
    has_question_types = False
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

    def cell_with_run(self, cell: "Cell") -> "Cell":
        overrides = tuple(item for item in cell.overrides if item[0] != WEIGHTED_BY)
        return cell._replace(subset=ALL, overrides=overrides)

    def training_cell(self, cell: "Cell") -> "Cell | None":
        trained_on = dict(cell.overrides).get(TRAINED_ON)
        if trained_on is None:
            return None
        dataset, subset = trained_on.split("+")
        overrides = tuple(item for item in cell.overrides if item[0] not in SOLVING_OVERRIDES)
        return cell._replace(dataset=dataset, subset=subset, overrides=overrides)

    def why_no_run(self, coordinates: "Coordinates", config: "Config") -> str:
        dataset = config.datasets[coordinates.dataset]
        for name in config.types_of(coordinates.subset) or dataset.relations:
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
        return _why_not_trained(coordinates, config) if system.trained else ""


def _why_not_trained(coordinates: "Coordinates", config: "Config") -> str:
    trained_on = dict(coordinates.overrides).get(TRAINED_ON)
    if trained_on is None:
        return f"{coordinates.system} is trained, and there is nothing to train it on here"
    dataset, subset = trained_on.split("+")
    if dataset in config.left_out:
        return config.left_out[dataset]
    if dataset not in config.datasets or config.datasets[dataset].gives_relations:
        return f"{TRAINED_ON}: no data set {dataset} to train on"
    if subset != ALL and subset not in config.subsets:
        return f"{TRAINED_ON}: no subset {subset}"
    return ""


def category_key(name: str) -> str:
    """Return the key of a category in `left_out`."""
    return f"category {name}"
