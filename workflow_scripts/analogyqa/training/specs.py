"""The optimisers."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class OptimiserSpec(Plugin):
    """`make(parameters, training)` returns an optimiser with the methods of PyTorch's own."""


OPTIMISERS = {
    "adam": OptimiserSpec("analogyqa.training.adam:Adam"),
    "adagrad": OptimiserSpec("analogyqa.training.adagrad:AdaGrad"),
    "adagrad_coded": OptimiserSpec("analogyqa.training.adagrad:CodedAdaGrad"),
    "adagrad_clipped": OptimiserSpec("analogyqa.training.adagrad:ClippedAdaGrad"),
}
