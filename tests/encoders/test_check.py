"""The contract of registered encoders; one that breaks it is refused before any job runs."""

import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from analogyqa.encoders.check import check_encoder
from analogyqa.encoders.specs import ENCODERS, EncoderSpec
from analogyqa.errors import AnalogyQAError


class Good(nn.Module):
    def __init__(self, word_vectors, training, seed):
        super().__init__()
        self.register_buffer("vectors", torch.from_numpy(np.array(word_vectors)), persistent=False)
        self.linear = nn.Linear(word_vectors.shape[1], training.sentence_dim)

    def forward(self, words, lengths):
        inside = torch.arange(words.shape[1]) < lengths[:, None]
        return self.linear((self.vectors[words] * inside[:, :, None]).sum(dim=1))


def changed(change: Callable[[torch.Tensor], torch.Tensor]) -> type[Good]:
    class Changed(Good):
        def forward(self, words, lengths):
            return change(super().forward(words, lengths))

    return Changed


class Padded(Good):
    def forward(self, words, lengths):
        return super().forward(words, torch.full_like(lengths, words.shape[1]))


class PaddedWords(Good):
    def forward(self, words, lengths):
        return self.vectors[words]


def register(monkeypatch, encoder, **kind):
    monkeypatch.setattr("collections.Counter", encoder)
    entry = EncoderSpec("collections:Counter", needs_vectors=True, **kind)
    monkeypatch.setitem(ENCODERS, "mine", entry)


TRAINED, FIXED, WORDS = {"trained": True}, {}, {"gives_words": True}


@pytest.mark.parametrize(
    ("encoder", "kind", "message"),
    [
        (Padded, TRAINED, "padding changes a vector"),
        (lambda *arguments: Good(*arguments).requires_grad_(False), TRAINED, "requires a gradient"),
        (changed(torch.Tensor.double), TRAINED, r"gives float64 \[2, 6\], not float32 \[2, dim\]"),
        (changed(lambda vectors: vectors[0]), TRAINED, r"gives float32 \[6\]"),
        (lambda *_: object(), TRAINED, "must be a torch.nn.Module"),
        (lambda dim: nn.Linear(dim, dim), TRAINED, "it raises TypeError: .* positional argument"),
        (lambda *_: lambda *_: np.full((2, 3), np.nan, "f4"), FIXED, "not finite"),
        (lambda *_: lambda *_: np.ones((3, 3), "f4"), FIXED, r"gives float32 \[3, 3\]"),
        (lambda *_: lambda words: words, FIXED, "it raises TypeError"),
        (lambda vectors, *_: lambda words, _: vectors[words].mean(1), FIXED, "padding changes"),
        (Good, WORDS, r"gives float32 \[2, 6\], not float32 \[2, 3, dim\]"),
        (PaddedWords, WORDS, "a row of padding is not zero"),
    ],
)
def test_invalid_encoders_are_errors(monkeypatch, encoder, kind, message):
    register(monkeypatch, Good, trained=True)
    check_encoder("mine")
    register(monkeypatch, encoder, **kind)
    pattern = rf"the encoder mine \(collections:Counter\): .*{message}.*docs/plug-ins\.md"
    with pytest.raises(AnalogyQAError, match=pattern):
        check_encoder("mine")


class Unimportable:
    """A finder that fails to load a shared library, as in a broken installation."""

    def find_spec(self, name, path, target=None):
        if name == "torch":
            raise OSError("libtorch_cpu.so: cannot open shared object file")


@pytest.mark.parametrize("name", ["bigru", "words", "mine"])
def test_a_broken_pytorch_is_not_blamed_on_the_encoder(monkeypatch, name):
    register(monkeypatch, Good, trained=True)
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(sys, "meta_path", [Unimportable(), *sys.meta_path])
    with pytest.raises(AnalogyQAError, match=r"^PyTorch cannot be imported .*libtorch_cpu\.so"):
        check_encoder(name)


@pytest.mark.parametrize("code", ["def", "import no_such_package", "import torch; torch.nothing"])
def test_an_error_in_the_module_of_an_encoder_names_the_encoder(monkeypatch, tmp_path, code):
    (tmp_path / "own_encoder.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_encoder", raising=False)
    monkeypatch.setitem(ENCODERS, "mine", EncoderSpec("own_encoder:Encoder", trained=True))
    with pytest.raises(AnalogyQAError, match=r"^the encoder mine \(own_encoder:Encoder\): it rais"):
        check_encoder("mine")
