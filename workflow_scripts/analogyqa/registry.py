"""The plug-ins: a line for each reader, encoder, pre-trained encoder, ranker, objective, way of
drawing examples, optimiser and view.

To add one, write a file in the folder of its kind (its `__init__.py` says what is expected) and a
line here. A plug-in is loaded when it is used: names, and what each needs, can be asked for without
importing PyTorch.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """Where a plug-in is (`module:attribute`), and what it needs.

    Attributes:
        trained: of an encoder or a ranker, whether it learns. A ranker that does is a
            `torch.nn.Module`, constructed with its system, the size of the vectors and a seed.
        drawn: of an encoder that does not learn, whether it draws random numbers.
        vocabulary: of an encoder with words of its own, the function (`module:function`) that
            returns their ids and another one, which splits a sentence into them. The id 0 pads.
        needs_prototypes: of a ranker, whether it compares with prototypes.
        sides: of a ranker, how many energies a quadruple has for a loss that is summed over them.
        reads_text: of a ranker, whether it reads words instead of vectors.
        reads_words: of a ranker, whether it needs the vectors of all words: where it learns [n, t,
            dim], and else [V, dim] and the ids of each sentence.
        gives_words: of an encoder, whether it gives these, as a tensor.
        fitted: of a ranker, whether it is fitted to the sentences of the data set before it scores.
        fuses: of a ranker, whether it reads the scores of other systems' runs.
        options: the keys of a system that this ranker reads and others do not; or those of a view,
            or of sentence vectors.
        ranks_pairs: of an objective, whether it is for rankers without prototypes only.
        one_sided: of an objective, the one that it is where a ranker has no prototypes.
        draws: of an objective, the key of `EXAMPLES` that its batches are made by.
        summed: of an objective, whether it is a sum over its batch and not a mean.
        is_figure: of a view, whether it is drawn.
        shows_sentences: of a view, whether it shows sentences of the data, which must then not be
            published.
        gives_relations: of a reader, whether what it reads is pairs of sentences that stand in
            relations, of which analogies are solved, and not candidates to be ranked.
        constrained: of a solver, whether A, B and C cannot be the answer.
        parses: of a rule that makes such pairs, whether it needs parsed sentences.
    """

    path: str
    trained: bool = False
    drawn: bool = False
    vocabulary: str | None = None
    needs_vectors: bool = False
    needs_weights: bool = False
    needs_prototypes: bool = False
    sides: int = 1
    reads_text: bool = False
    reads_words: bool = False
    gives_words: bool = False
    fitted: bool = False
    fuses: bool = False
    options: tuple[str, ...] = ()
    ranks_pairs: bool = False
    one_sided: str | None = None
    draws: str = "quadruples"
    summed: bool = False
    is_figure: bool = False
    shows_sentences: bool = False
    gives_relations: bool = False
    constrained: bool = True
    parses: bool = False

    @property
    def reads_vectors(self) -> bool:
        """Of a ranker, whether it reads what an encoder gives."""
        return not (self.reads_text or self.fuses)

    def load(self) -> Any:
        """Return the class or function, its module imported."""
        return attribute_at(self.path)

    def own_words(self) -> tuple[dict[str, int], Callable[[str], list[str]]] | None:
        """Return what the function `vocabulary` returns, None for an encoder without own words."""
        return attribute_at(self.vocabulary)() if self.vocabulary else None

    @property
    def module(self) -> str:
        return self.path.partition(":")[0]


def attribute_at(path: str) -> Any:
    """Return what `module:attribute` names, its module imported."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


READERS = {
    "wikiqa": Entry("analogyqa.corpora.wikiqa:read"),
    "trecqa": Entry("analogyqa.corpora.trecqa:read"),
    "semeval": Entry("analogyqa.corpora.semeval:read"),
    "semeval_related": Entry("analogyqa.corpora.semeval_related:read"),
    "yahoocqa": Entry("analogyqa.corpora.yahoocqa:read"),
    "relations": Entry("analogyqa.corpora.relations:read", gives_relations=True),
}

RELATIONS = {
    "templates": Entry("analogyqa.analogies.templates:from_templates"),
    "persons": Entry("analogyqa.analogies.templates:persons"),
    "comparative": Entry("analogyqa.analogies.syntactic:comparative", parses=True),
    "opposites": Entry("analogyqa.analogies.syntactic:opposites", parses=True),
    "plurals": Entry("analogyqa.analogies.syntactic:plurals", parses=True),
    "conjugation": Entry("analogyqa.analogies.syntactic:conjugation", parses=True),
    "entailment": Entry("analogyqa.analogies.induce:entailed"),
    "negation": Entry("analogyqa.analogies.semantic:negation", parses=True),
    "no_such_thing": Entry("analogyqa.analogies.semantic:no_such_thing", parses=True),
    "passive": Entry("analogyqa.analogies.semantic:passive", parses=True),
    "objective_clause": Entry("analogyqa.analogies.semantic:objective_clause", parses=True),
    "predicative_adjective": Entry(
        "analogyqa.analogies.semantic:predicative_adjective", parses=True
    ),
}

DISTRACTORS = {
    "not_negation": Entry("analogyqa.analogies.distractors:not_negation"),
    "random_deletion": Entry("analogyqa.analogies.distractors:random_deletion"),
    "random_masking": Entry("analogyqa.analogies.distractors:random_masking"),
    "span_deletion": Entry("analogyqa.analogies.distractors:span_deletion"),
    "word_reordering": Entry("analogyqa.analogies.distractors:word_reordering"),
}

SOLVERS = {
    "3cosadd": Entry("analogyqa.analogies.solvers:ThreeCosAdd"),
    "3cosadd_u": Entry("analogyqa.analogies.solvers:ThreeCosAdd", constrained=False),
    "3cosmul": Entry("analogyqa.analogies.solvers:ThreeCosMul"),
    "3cosmul_u": Entry("analogyqa.analogies.solvers:ThreeCosMul", constrained=False),
    "parallelogram": Entry("analogyqa.analogies.solvers:Parallelogram"),
}

ENCODERS = {
    "random": Entry("analogyqa.encoders.random:RandomEncoder", drawn=True),
    "mean": Entry("analogyqa.encoders.mean:MeanEncoder", needs_vectors=True),
    "unit_mean": Entry("analogyqa.encoders.unit_mean:UnitMeanEncoder", needs_vectors=True),
    "sum": Entry("analogyqa.encoders.sum:SumEncoder", needs_vectors=True),
    "bigru": Entry("analogyqa.encoders.bigru:BiGRUEncoder", trained=True, needs_vectors=True),
    "cnn": Entry("analogyqa.encoders.cnn:CNNEncoder", trained=True, needs_vectors=True),
    "nbow": Entry("analogyqa.encoders.nbow:NBOWEncoder", trained=True, needs_vectors=True),
    "bilstm": Entry("analogyqa.encoders.bilstm:BiLSTMEncoder", trained=True, needs_vectors=True),
    "minilm": Entry(
        "analogyqa.encoders.minilm:MiniLMEncoder",
        trained=True,
        vocabulary="analogyqa.encoders.minilm:vocabulary",
    ),
    "words": Entry("analogyqa.encoders.words:WordsEncoder", needs_vectors=True, gives_words=True),
}

PRETRAINED = {
    "infersent": Entry(
        "analogyqa.pretrained.infersent:encode", needs_weights=True, needs_vectors=True
    ),
    "sent2vec": Entry("analogyqa.pretrained.sent2vec:encode", needs_weights=True),
    "sif": Entry("analogyqa.pretrained.sif:encode", needs_vectors=True),
    "sentence_transformers": Entry("analogyqa.pretrained.transformer:encode", needs_weights=True),
    "hugging_face": Entry(
        "analogyqa.pretrained.hugging_face:encode", needs_weights=True, options=("pooling",)
    ),
    "dct": Entry("analogyqa.pretrained.dct:encode", needs_vectors=True, options=("k",)),
    "stored": Entry("analogyqa.pretrained.stored:encode", needs_weights=True),
}

RANKERS = {
    "analogy": Entry(
        "analogyqa.rankers.analogy:AnalogyRanker",
        needs_prototypes=True,
        sides=2,
        options=("aggregate", "prototype_answers"),
    ),
    "hybrid": Entry(
        "analogyqa.rankers.hybrid:HybridRanker",
        needs_prototypes=True,
        sides=3,
        options=("aggregate", "prototype_answers"),
    ),
    "cosine": Entry("analogyqa.rankers.cosine:CosineRanker"),
    "mapped": Entry(
        "analogyqa.rankers.mapped:MappedRanker", fitted=True, options=("mapping", "components")
    ),
    "hyperbolic": Entry(
        "analogyqa.rankers.hyperbolic:HyperbolicRanker",
        trained=True,
        options=("gradient", "last_layer"),
    ),
    "aligned": Entry("analogyqa.rankers.aligned:AlignedRanker", reads_words=True, fitted=True),
    "bm25": Entry("analogyqa.rankers.bm25:BM25Ranker", reads_text=True),
    "given_order": Entry("analogyqa.rankers.given_order:GivenOrderRanker", reads_text=True),
    "fused": Entry("analogyqa.rankers.fused:FusedRanker", fuses=True, options=("fusion",)),
    "ap_cnn": Entry(
        "analogyqa.rankers.attentive_pooling:APCNNRanker", trained=True, reads_words=True
    ),
    "ap_bilstm": Entry(
        "analogyqa.rankers.attentive_pooling:APBiLSTMRanker", trained=True, reads_words=True
    ),
    "mp_cnn": Entry("analogyqa.rankers.mp_cnn:MPCNNRanker", trained=True, reads_words=True),
    "ai_cnn": Entry("analogyqa.rankers.ai_cnn:AICNNRanker", trained=True, reads_words=True),
    "compare_aggregate": Entry(
        "analogyqa.rankers.compare_aggregate:CompareAggregateRanker", trained=True, reads_words=True
    ),
}

OBJECTIVES = {
    "printed": Entry("analogyqa.objectives.contrastive:printed"),
    "hinge": Entry("analogyqa.objectives.contrastive:hinge"),
    "lwda": Entry("analogyqa.objectives.both_sides:lwda", one_sided="printed"),
    "lwda_distance": Entry("analogyqa.objectives.both_sides:lwda_distance"),
    "pairwise": Entry("analogyqa.objectives.pairwise:pairwise", ranks_pairs=True),
    "mix": Entry("analogyqa.objectives.mix:mix", ranks_pairs=True, draws="mix", summed=True),
    "listwise": Entry("analogyqa.objectives.listwise:listwise", ranks_pairs=True, draws="listwise"),
}

EXAMPLES = {
    "quadruples": Entry("analogyqa.examples.batches:epoch_batches"),
    "mix": Entry("analogyqa.examples.mix:epoch_batches"),
    "listwise": Entry("analogyqa.examples.listwise:epoch_batches"),
}

OPTIMISERS = {
    "adam": Entry("analogyqa.training.adam:adam_of"),
    "adagrad": Entry("analogyqa.training.adagrad:adagrad_of"),
    "adagrad_riemannian": Entry("analogyqa.training.adagrad:adagrad_riemannian_of"),
}

VIEWS = {
    "projection": Entry("analogyqa.report.views.projection:show", is_figure=True),
    "norms": Entry("analogyqa.report.views.norms:show", is_figure=True),
    "words_by_norm": Entry("analogyqa.report.views.words_by_norm:show", options=("levels",)),
    "pairs_by_norm": Entry(
        "analogyqa.report.views.pairs_by_norm:show", options=("examples",), shows_sentences=True
    ),
}
