"""The plug-ins: a line for each reader, encoder and pre-trained encoder, loaded when it is used.

To add one, write a file in the folder of its kind (`corpora/`, `encoders/`, `pretrained/`; its
`__init__.py` says what is expected) and a line here. Names, and what each needs, can be asked for
without importing PyTorch.
"""

from importlib import import_module
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """Where a plug-in is (`module:attribute`), and what it needs."""

    path: str
    trained: bool = False
    needs_vectors: bool = False
    needs_weights: bool = False

    def load(self) -> Any:
        """Return the class or function, its module imported."""
        return getattr(import_module(self.module), self.path.partition(":")[2])

    @property
    def module(self) -> str:
        return self.path.partition(":")[0]


READERS = {
    "wikiqa": Entry("analogyqa.corpora.wikiqa:read"),
    "trecqa": Entry("analogyqa.corpora.trecqa:read"),
}

ENCODERS = {
    "random": Entry("analogyqa.encoders.random:RandomEncoder"),
    "mean": Entry("analogyqa.encoders.mean:MeanEncoder", needs_vectors=True),
    "bigru": Entry("analogyqa.encoders.bigru:BiGRUEncoder", trained=True, needs_vectors=True),
    "cnn": Entry("analogyqa.encoders.cnn:CNNEncoder", trained=True, needs_vectors=True),
}

PRETRAINED = {
    "infersent": Entry(
        "analogyqa.pretrained.infersent:encode", needs_weights=True, needs_vectors=True
    ),
    "sent2vec": Entry("analogyqa.pretrained.sent2vec:encode", needs_weights=True),
    "sif": Entry("analogyqa.pretrained.sif:encode", needs_vectors=True),
    "sentence_transformers": Entry("analogyqa.pretrained.transformer:encode", needs_weights=True),
}
