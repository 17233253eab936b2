"""The rankers."""

from dataclasses import dataclass
from typing import Literal

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class RankerSpec(Plugin):
    """A ranker, a class with the methods of the protocol in `rankers` for what it reads.

    Args:
        reads: sentence `vectors` or the vectors of all `words`, as an encoder gives them; the
            `text` of the sentences; or the `scores` of the runs of other systems.
        trained: it learns: a `torch.nn.Module`, made by `Ranker(system, dim, seed)`. Others are
            made by `Ranker(system)`.
        fitted: it is fitted to the sentences of the data set before it scores.
        needs_prototypes: it compares with prototypes.
        sides: how many energies a quadruple has for a loss that is summed over them.
        options: the keys of a system that this ranker reads and others do not.
    """

    reads: Literal["vectors", "words", "text", "scores"] = "vectors"
    trained: bool = False
    fitted: bool = False
    needs_prototypes: bool = False
    sides: int = 1
    options: tuple[str, ...] = ()

    @property
    def needs_encoder(self) -> bool:
        return self.reads in ("vectors", "words")


RANKERS = {
    "analogy": RankerSpec(
        "analogyqa.rankers.analogy:AnalogyRanker",
        needs_prototypes=True,
        sides=2,
        options=("aggregate", "prototype_answers"),
    ),
    "hybrid": RankerSpec(
        "analogyqa.rankers.hybrid:HybridRanker",
        needs_prototypes=True,
        sides=3,
        options=("aggregate", "prototype_answers"),
    ),
    "cosine": RankerSpec("analogyqa.rankers.cosine:CosineRanker"),
    "mapped": RankerSpec(
        "analogyqa.rankers.mapped:MappedRanker", fitted=True, options=("mapping", "components")
    ),
    "hyperbolic": RankerSpec(
        "analogyqa.rankers.hyperbolic:HyperbolicRanker",
        trained=True,
        options=("gradient", "last_layer"),
    ),
    "aligned": RankerSpec("analogyqa.rankers.aligned:AlignedRanker", reads="words", fitted=True),
    "bm25": RankerSpec("analogyqa.rankers.bm25:BM25Ranker", reads="text"),
    "given_order": RankerSpec("analogyqa.rankers.given_order:GivenOrderRanker", reads="text"),
    "fused": RankerSpec("analogyqa.rankers.fused:FusedRanker", reads="scores", options=("fusion",)),
    "ap_cnn": RankerSpec(
        "analogyqa.rankers.attentive_pooling:APCNNRanker", reads="words", trained=True
    ),
    "ap_bilstm": RankerSpec(
        "analogyqa.rankers.attentive_pooling:APBiLSTMRanker", reads="words", trained=True
    ),
    "mp_cnn": RankerSpec("analogyqa.rankers.mp_cnn:MPCNNRanker", reads="words", trained=True),
    "ai_cnn": RankerSpec("analogyqa.rankers.ai_cnn:AICNNRanker", reads="words", trained=True),
    "compare_aggregate": RankerSpec(
        "analogyqa.rankers.compare_aggregate:CompareAggregateRanker", reads="words", trained=True
    ),
}
