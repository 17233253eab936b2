"""The optimisers: `make(parameters, training)` returns one with the methods of PyTorch's own."""

from analogyqa.plugin import Plugin

OPTIMISERS = {
    "adam": Plugin("analogyqa.training.optimisers:Adam"),
    "adagrad": Plugin("analogyqa.training.optimisers:AdaGrad"),
    "adagrad_coded": Plugin("analogyqa.training.optimisers:CodedAdaGrad"),
    "adagrad_clipped": Plugin("analogyqa.training.optimisers:ClippedAdaGrad"),
}
