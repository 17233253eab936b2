"""The optimisers."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class OptimiserSpec(Plugin):
    """`make(parameters, training)` returns an optimiser with the methods of PyTorch's own."""


OPTIMISERS = {
    "adam": OptimiserSpec("analogyqa.training.optimisers:Adam"),
    "adagrad": OptimiserSpec("analogyqa.training.optimisers:AdaGrad"),
    "adagrad_coded": OptimiserSpec("analogyqa.training.optimisers:CodedAdaGrad"),
    "adagrad_clipped": OptimiserSpec("analogyqa.training.optimisers:ClippedAdaGrad"),
}
