"""An encoder that does not keep the interface is refused before any job."""

import numpy as np
import pytest
import torch
from torch import nn

from analogyqa.encoders.check import check_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.registry import ENCODERS, Entry


class Good(nn.Module):
    def __init__(self, word_vectors, training, seed):
        super().__init__()
        self.register_buffer("vectors", torch.from_numpy(np.array(word_vectors)), persistent=False)
        self.linear = nn.Linear(word_vectors.shape[1], training.sentence_dim)

    def forward(self, words, lengths):
        inside = torch.arange(words.shape[1]) < lengths[:, None]
        return self.linear((self.vectors[words] * inside[:, :, None]).sum(dim=1))


class Padded(Good):
    def forward(self, words, lengths):
        return self.linear(self.vectors[words].sum(dim=1))


class Frozen(Good):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.requires_grad_(False)


class Doubles(Good):
    def forward(self, words, lengths):
        return super().forward(words, lengths).double()


class OneVector(Good):
    def forward(self, words, lengths):
        return super().forward(words, lengths)[0]


class NoModule:
    def __init__(self, word_vectors, training, seed):
        pass


class OtherArguments(nn.Module):
    def __init__(self, dim):
        super().__init__()


def use(monkeypatch, kind, trained=True):
    monkeypatch.setattr("collections.Counter", kind)
    entry = Entry("collections:Counter", trained=trained, needs_vectors=True)
    monkeypatch.setitem(ENCODERS, "mine", entry)


@pytest.mark.parametrize("name", ENCODERS)
def test_ours_keep_it(name):
    check_encoder(name)


def test_one_that_keeps_it_is_accepted(monkeypatch):
    use(monkeypatch, Good)
    check_encoder("mine")


@pytest.mark.parametrize(
    ("kind", "trained", "message"),
    [
        (Padded, True, "padding changes a vector"),
        (Frozen, True, "none of its parameters requires a gradient"),
        (Doubles, True, r"gives float64 \[2, 6\], not float32 \[2, dim\]"),
        (OneVector, True, r"gives float32 \[6\]"),
        (NoModule, True, "must be a torch.nn.Module"),
        (OtherArguments, True, "it raises TypeError: .* positional arguments"),
        (
            lambda *_: lambda words, lengths: np.full((2, 3), np.nan, np.float32),
            False,
            "not finite",
        ),
        (lambda *_: lambda words: words, False, "it raises TypeError"),
    ],
)
def test_one_that_does_not_is_one_message(monkeypatch, kind, trained, message):
    use(monkeypatch, kind, trained)
    pattern = rf"the encoder mine \(collections:Counter\): .*{message}.*docs/extending\.md"
    with pytest.raises(AnalogyQAError, match=pattern):
        check_encoder("mine")
