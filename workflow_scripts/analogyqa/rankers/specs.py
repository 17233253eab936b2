"""The rankers and their options."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from analogyqa.plugin import Plugin
from analogyqa.settings.base import (
    Joined,
    JoinedOrEmpty,
    Lenient,
    Name,
    Options,
    Section,
    Split,
    WholeNumber,
)


class AnalogyOptions(Options):
    """Options of the rankers that compare with prototypes."""

    aggregate: Literal["max", "mean", "question"] = "max"
    """The highest energy over the prototypes, their mean, or the energy with the one prototype that
    is best for the question."""
    compare: Literal["cosine", "distance"] = "cosine"
    """By the cosine of two shifts (eq. 6), or by the length of their difference (eq. 3). Training
    does not read this."""
    prototype_answers: Literal["own", "others"] = "own"
    """`own`: the prototypes' answers are those of their questions; `others`: each question of a
    type has the answer of another question of that type."""


class HyperbolicOptions(Options):
    """Options of the ranker `hyperbolic`."""

    gradient: Literal["riemannian", "euclidean"] = "riemannian"
    """The gradient with respect to the points of the ball."""
    last_layer: Literal["distance", "concatenated"] = "distance"
    """The score is linear in the distance, or in the distance and both vectors."""
    distance: Literal["printed", "coded"] = "printed"
    """`printed`, or `coded` as in the authors' code of 2017 (commit 5121dda): points may lie on the
    border, 1e-6 is added to the denominator, and the logarithm is not that of arcosh."""


class Mapping(Section):
    """How both sentences of a pair are mapped into one space before the cosine.

    These are the steps of Artetxe et al. (2016) for the words of two languages.
    """

    normalise: Annotated[list[Literal["unit", "centre"]], JoinedOrEmpty] = []
    """Steps in their order: `unit` scales to length 1, `centre` subtracts the mean."""
    mean_of: Annotated[list[Split], Joined, Field(min_length=1)] = ["train"]
    """The splits whose sentences the mean is taken over, once each."""
    means: Literal["joint", "by_side"] = "joint"
    """One mean of all sentences, or one of the questions and one of the candidates."""
    learned_from: Annotated[list[Split], JoinedOrEmpty] = []
    """The splits whose correct pairs the matrix is learned from; empty for none."""
    pairs: Literal["question", "thread"] = "question"
    """A question with each of its correct candidates; or a `thread`, which is a question with its
    first correct candidate, and all couples of its correct candidates."""
    direction: Literal["to_candidate", "to_question", "both"] = "to_candidate"
    """The side that the matrix maps to; with `both` each pair counts twice."""
    side: Literal["source", "both"] = "both"
    """The sides that are multiplied by the matrix."""
    orthogonal: bool = True
    """The matrix is orthogonal; if not, it is that of least squares."""
    negatives: Literal["kept", "lowest"] = "kept"
    """`lowest` gives the lowest score, 0, to cosines below 0."""


class MappedOptions(Options):
    """Options of the ranker `mapped`."""

    mapping: Mapping = Mapping()
    """The steps before the cosine."""
    centred_components: bool = False
    """Whether sentences are centred before `components`, as in a principal component analysis."""
    components: Annotated[WholeNumber, Field(ge=0, le=1000)] = 0
    """How many of the first singular vectors of the training sentences are removed."""


def _first_seed(parts: object) -> object:
    return {name: [0] for name in parts} if isinstance(parts, list) else parts


class FusedOptions(Options):
    """Options of the ranker `fused`."""

    parts: Annotated[
        dict[Name, Annotated[list[WholeNumber], Field(min_length=1)]],
        Lenient(_first_seed, types=("array",)),
    ] = {}
    """The systems whose scores it fuses, each with the seeds of its runs: 0 is the seed of the
    fused run, 1 the next in the list of seeds. A list of systems stands for seed 0."""
    fusion: Literal["equal", "logistic", "listwise", "reciprocal_rank", "best_on_dev"] = "equal"
    """How their scores are weighted. `best_on_dev` scores each seed with the part that has the best
    MRR on its dev split: with parts that differ in their training only, this tunes hyperparameters,
    also within the folds of a cross-validation."""


@dataclass(frozen=True)
class RankerSpec(Plugin):
    """A ranker, a class with the methods of the protocol in `rankers` for what it reads.

    It is made by `Ranker(options, training, dim, seed)`: its options, the section `training` of its
    system, the dimension of the vectors that it reads, and the seed of its initial weights.

    Args:
        reads: sentence `vectors` or the vectors of all `words`, as an encoder gives them; the
            `text` of the sentences; or the `scores` of the runs of other systems.
        trained: it is a `torch.nn.Module` that scores by its energies. (`hybrid` learns a weight,
            too, but has `scores`.)
        fitted: it is fitted to the sentences or words of the data set before it scores.
        needs_prototypes: it compares with prototypes.
        prototype_choice: how these are chosen; None for the `prototype_choice` of the data set.
        sides: how many energies a quadruple has for a loss that is summed over them.
        has_distances: it also has the distances of quadruples.
        matches_words: it adds up the cosines of the question's words and the most similar words of
            a candidate.
        options: the class of its options.
    """

    reads: Literal["vectors", "words", "text", "scores"] = "vectors"
    trained: bool = False
    fitted: bool = False
    needs_prototypes: bool = False
    prototype_choice: Literal["other_type"] | None = None
    sides: int = 1
    has_distances: bool = False
    matches_words: bool = False
    options: type[Options] = Options

    @property
    def needs_encoder(self) -> bool:
        return self.reads in ("vectors", "words")


RANKERS = {
    "analogy": RankerSpec(
        "analogyqa.rankers.analogy:AnalogyRanker",
        needs_prototypes=True,
        sides=2,
        has_distances=True,
        options=AnalogyOptions,
    ),
    # A control: in training and ranking, questions meet the prototypes of another type.
    "analogy_of_other_type": RankerSpec(
        "analogyqa.rankers.analogy:AnalogyRanker",
        needs_prototypes=True,
        prototype_choice="other_type",
        sides=2,
        has_distances=True,
        options=AnalogyOptions,
    ),
    # Another: one learned centroid for each type.
    "centroid": RankerSpec("analogyqa.rankers.centroid:CentroidRanker", needs_prototypes=True),
    "hybrid": RankerSpec(
        "analogyqa.rankers.weighted:HybridRanker",
        needs_prototypes=True,
        sides=3,
        options=AnalogyOptions,
    ),
    "cosine": RankerSpec("analogyqa.rankers.analogy:CosineRanker", has_distances=True),
    "scaled_cosine": RankerSpec("analogyqa.rankers.weighted:ScaledCosineRanker", trained=True),
    "mapped": RankerSpec(
        "analogyqa.rankers.mapped:MappedRanker", fitted=True, options=MappedOptions
    ),
    "hyperbolic": RankerSpec(
        "analogyqa.rankers.weighted:HyperbolicRanker",
        trained=True,
        options=HyperbolicOptions,
    ),
    "aligned": RankerSpec(
        "analogyqa.rankers.baselines:AlignedRanker", reads="words", fitted=True, matches_words=True
    ),
    "bm25": RankerSpec("analogyqa.rankers.baselines:BM25Ranker", reads="text"),
    "given_order": RankerSpec("analogyqa.rankers.baselines:GivenOrderRanker", reads="text"),
    "fused": RankerSpec(
        "analogyqa.rankers.fused:FusedRanker", reads="scores", options=FusedOptions
    ),
    "ap_cnn": RankerSpec("analogyqa.rankers.networks:APCNNRanker", reads="words", trained=True),
    "ap_bilstm": RankerSpec(
        "analogyqa.rankers.networks:APBiLSTMRanker", reads="words", trained=True
    ),
    "mp_cnn": RankerSpec("analogyqa.rankers.networks:MPCNNRanker", reads="words", trained=True),
    "ai_cnn": RankerSpec("analogyqa.rankers.networks:AICNNRanker", reads="words", trained=True),
    "compare_aggregate": RankerSpec(
        "analogyqa.rankers.networks:CompareAggregateRanker", reads="words", trained=True
    ),
}
