"""The sentence encoders that a system runs or trains."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class EncoderSpec(Plugin):
    """An encoder, a class with the methods of `encoders.Encoder`.

    Args:
        trained: Whether it learns. It is then a `torch.nn.Module`, called with tensors instead of
            arrays.
        drawn: Whether it draws random numbers, without learning.
        needs_vectors: Whether it reads word vectors.
        gives_words: Whether it returns the vectors of all words, a tensor [n, t, dim].
        has_precision: Whether it reads `training.precision`.
        keeps_float64: Whether it returns float64 for word vectors of float64.
        vocabulary: For an encoder with its own vocabulary, the function that returns the ids of its
            words and the function that splits a sentence into them. The id 0 is padding.
        unread: For an encoder with a longest input, the function that returns how many tokens of a
            sentence are beyond it.
    """

    trained: bool = False
    drawn: bool = False
    needs_vectors: bool = False
    gives_words: bool = False
    has_precision: bool = False
    keeps_float64: bool = False
    vocabulary: Plugin | None = None
    unread: Plugin | None = None


ENCODERS = {
    "random": EncoderSpec("analogyqa.encoders.fixed:RandomEncoder", drawn=True),
    "mean": EncoderSpec(
        "analogyqa.encoders.fixed:MeanEncoder", needs_vectors=True, keeps_float64=True
    ),
    "unit_mean": EncoderSpec(
        "analogyqa.encoders.fixed:UnitMeanEncoder", needs_vectors=True, keeps_float64=True
    ),
    "sum": EncoderSpec(
        "analogyqa.encoders.fixed:SumEncoder", needs_vectors=True, keeps_float64=True
    ),
    "bigru": EncoderSpec(
        "analogyqa.encoders.networks:BiGRUEncoder",
        trained=True,
        needs_vectors=True,
        has_precision=True,
    ),
    "untrained_bigru": EncoderSpec(
        "analogyqa.encoders.networks:UntrainedBiGRUEncoder", drawn=True, needs_vectors=True
    ),
    "cnn": EncoderSpec("analogyqa.encoders.networks:CNNEncoder", trained=True, needs_vectors=True),
    "nbow": EncoderSpec(
        "analogyqa.encoders.networks:NBOWEncoder", trained=True, needs_vectors=True
    ),
    "nbow_xavier": EncoderSpec(
        "analogyqa.encoders.networks:XavierNBOWEncoder", trained=True, needs_vectors=True
    ),
    "bilstm": EncoderSpec(
        "analogyqa.encoders.networks:BiLSTMEncoder", trained=True, needs_vectors=True
    ),
    "minilm": EncoderSpec(
        "analogyqa.encoders.minilm:MiniLMEncoder",
        trained=True,
        vocabulary=Plugin("analogyqa.encoders.minilm:vocabulary"),
        unread=Plugin("analogyqa.encoders.minilm:unread"),
    ),
    "words": EncoderSpec(
        "analogyqa.encoders.word_vectors:WordsEncoder", needs_vectors=True, gives_words=True
    ),
}
