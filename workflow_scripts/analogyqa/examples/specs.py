"""The ways of drawing the batches of an epoch."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class ExamplesSpec(Plugin):
    """`epoch_batches(data, training, seed, epoch, with_prototypes)` yields `batches.Batch`.

    Everything follows from seed and epoch, so that a resumed training run sees the same batches.
    """


EXAMPLES = {
    "quadruples": ExamplesSpec("analogyqa.examples.batches:epoch_batches"),
    "mix": ExamplesSpec("analogyqa.examples.mix:epoch_batches"),
    "listwise": ExamplesSpec("analogyqa.examples.listwise:epoch_batches"),
}
