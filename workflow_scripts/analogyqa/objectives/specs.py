"""The objectives of training."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class ObjectiveSpec(Plugin):
    """An objective: `loss(ranker, vectors, batch, training)` returns the loss of a batch, a scalar.

    `vectors` [u, dim] belong to the unique sentences of the batch.

    Args:
        ranks_pairs: Whether it is only for rankers without prototypes.
        one_sided: The objective that it equals with a ranker without prototypes.
        draws: The key of `EXAMPLES` that draws its batches.
        summed: Whether it is a sum over the batch, not a mean.
        reads_distances: Whether it needs a ranker with `distances`.
    """

    ranks_pairs: bool = False
    one_sided: str | None = None
    draws: str = "quadruples"
    summed: bool = False
    reads_distances: bool = False


OBJECTIVES = {
    "printed": ObjectiveSpec("analogyqa.objectives.contrastive:printed"),
    "hinge": ObjectiveSpec("analogyqa.objectives.contrastive:hinge"),
    "lwda": ObjectiveSpec("analogyqa.objectives.both_sides:lwda", one_sided="printed"),
    "lwda_distance": ObjectiveSpec("analogyqa.objectives.both_sides:lwda_distance"),
    "lwda_euclidean": ObjectiveSpec(
        "analogyqa.objectives.both_sides:lwda_euclidean", reads_distances=True
    ),
    "pairwise": ObjectiveSpec("analogyqa.objectives.pairwise:pairwise", ranks_pairs=True),
    "mix": ObjectiveSpec(
        "analogyqa.objectives.mix:mix", ranks_pairs=True, draws="mix", summed=True
    ),
    "listwise": ObjectiveSpec(
        "analogyqa.objectives.listwise:listwise", ranks_pairs=True, draws="listwise"
    ),
}
