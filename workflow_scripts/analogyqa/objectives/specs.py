"""The objectives of training."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin

QUADRUPLES = Plugin("analogyqa.training.batches:quadruple_batches")


@dataclass(frozen=True)
class ObjectiveSpec(Plugin):
    """An objective: `loss(ranker, quadruples, labels, training)` returns a scalar.

    The quadruples [n] are those of a batch, and their labels [n] are 0 or 1.

    Args:
        ranks_pairs: Whether it is only for rankers without prototypes.
        one_sided: The objective that it equals with a ranker without prototypes.
        draws: The function of `training.batches` that draws its batches.
        summed: Whether it is a sum over the batch, not a mean.
        reads_distances: Whether it needs a ranker with `distances`.
        compares_vectors: Whether it compares the vectors of sentences, besides their energies.
    """

    ranks_pairs: bool = False
    one_sided: str | None = None
    draws: Plugin = QUADRUPLES
    summed: bool = False
    reads_distances: bool = False
    compares_vectors: bool = False


OBJECTIVES = {
    "printed": ObjectiveSpec("analogyqa.objectives.losses:printed"),
    "hinge": ObjectiveSpec("analogyqa.objectives.losses:hinge"),
    "lwda": ObjectiveSpec("analogyqa.objectives.losses:lwda", one_sided="printed"),
    "lwda_distance": ObjectiveSpec("analogyqa.objectives.losses:lwda_distance"),
    "lwda_euclidean": ObjectiveSpec(
        "analogyqa.objectives.losses:lwda_euclidean", reads_distances=True
    ),
    "pairwise": ObjectiveSpec("analogyqa.objectives.losses:pairwise", ranks_pairs=True),
    "mix": ObjectiveSpec(
        "analogyqa.objectives.losses:mix",
        ranks_pairs=True,
        draws=Plugin("analogyqa.training.batches:mixed_batches"),
        summed=True,
    ),
    "mix_coded": ObjectiveSpec(
        "analogyqa.objectives.losses:mix_coded",
        ranks_pairs=True,
        draws=Plugin("analogyqa.training.batches:all_wrong_batches"),
        summed=True,
        compares_vectors=True,
    ),
    "listwise": ObjectiveSpec(
        "analogyqa.objectives.losses:listwise",
        ranks_pairs=True,
        draws=Plugin("analogyqa.training.batches:listwise_batches"),
    ),
}
