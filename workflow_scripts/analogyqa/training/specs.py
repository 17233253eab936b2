"""The optimisers."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class OptimiserSpec(Plugin):
    """`make(parameters, training)` returns an optimiser with the methods of PyTorch's own."""


OPTIMISERS = {
    "adam": OptimiserSpec("analogyqa.training.adam:adam_of"),
    "adagrad": OptimiserSpec("analogyqa.training.adagrad:adagrad_of"),
    "adagrad_coded": OptimiserSpec("analogyqa.training.adagrad:adagrad_coded_of"),
}
