"""Pickled weights that try to run code: refused by name, and nothing is run."""

import builtins
import gzip
import io
import json
import os
import pickle
from collections import OrderedDict
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences, infersent
from builders import tiny
from builders.damaged import TARGETS, entities, mark_most_slow, npy, saved, written, zipped


class Payload:
    """An object that calls a function when it is unpickled."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


# Payloads that create the file `marker` when they are run.
PAYLOADS = {
    "system": lambda marker: Payload(os.system, f"touch '{marker}'"),
    "exec": lambda marker: Payload(builtins.exec, f"open({str(marker)!r}, 'w').close()"),
}


def among_weights(value: object) -> OrderedDict:
    """Return the weights of an InferSent with something else among them."""
    return OrderedDict(infersent.InferSent(3, 2).state_dict(), **{"enc_lstm.bias_ih_l0": value})


def array(value: object) -> np.ndarray:
    return np.array([value, "word"], dtype=object)


legacy = partial(saved, _use_new_zipfile_serialization=False)
FORMATS = {
    f"pickle {protocol}": partial(pickle.dumps, protocol=protocol)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
} | {
    "torch": saved,
    "torch, legacy": legacy,
    "torch, among weights": lambda value: saved(among_weights(value)),
    "torch, legacy, among weights": lambda value: legacy(among_weights(value)),
    "torch, a state": lambda value: saved({"epoch": 1, "encoder": {}, "optimiser": value}),
    "NumPy": lambda value: npy(array(value)),
    "NumPy archive": lambda value: written(lambda file: np.savez(file, array(value))),
}

# Readers of files that a user may provide, or that an earlier job left.
LOADERS = ["checkpoint", "InferSent", "store", "record of a store", "Sent2Vec", "Parquet"]
LOADERS += ["word2vec", "vectors", "vectors, gzipped", "vectors, zipped", "YahooCQA"]


@pytest.mark.parametrize("name", PAYLOADS)
def test_pytorch_would_run_the_payload_without_weights_only(marker, name):
    content = FORMATS["torch, among weights"](PAYLOADS[name](marker))
    torch.load(io.BytesIO(content), weights_only=False)
    assert marker.exists()


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize(
    ("file", "payload"), mark_most_slow([*product(LOADERS, FORMATS)], [*PAYLOADS])
)
def test_weights_that_would_run_code_are_refused_and_nothing_is_run(
    tmp_path, marker, file, payload
):
    loader, form = file
    path = tmp_path / f"weights{TARGETS[loader].suffix}"
    content = FORMATS[form](PAYLOADS[payload](marker))
    if path.suffix == ".zip":
        content = zipped((path.stem, content))
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    with pytest.raises(AnalogyQAError, match=path.name):
        TARGETS[loader].read(path)
    assert not marker.exists()


def count_refusals(folder: Path, content: bytes, read) -> int:
    """Read a model with the content instead of each of its files; return how many are refused."""
    refused = 0
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        before = path.read_bytes()
        path.write_bytes(content)
        try:
            read(folder)
        except AnalogyQAError as error:
            assert str(folder) in str(error)
            refused += 1
        path.write_bytes(before)
    return refused


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pickle 5", "torch", "NumPy"])
def test_a_spacy_model_with_a_pickle_for_any_of_its_files_runs_nothing(tmp_path, marker, form):
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "ada"}])
    nlp.add_pipe("ner").add_label("GPE")
    nlp.initialize()
    nlp.to_disk(tmp_path / "model")
    entities(tmp_path / "model")
    content = FORMATS[form](PAYLOADS["system"](marker))
    assert count_refusals(tmp_path / "model", content, entities) >= 5
    assert not marker.exists()


@pytest.fixture
def sentence_model(tmp_path):
    """A tiny model of sentence-transformers, with a dense layer behind it."""
    from sentence_transformers import SentenceTransformer, models

    bert = models.Transformer(str(tiny.save_bert(tmp_path / "bert")))
    layers = [bert, models.Pooling(tiny.DIM), models.Dense(tiny.DIM, 3)]
    SentenceTransformer(modules=layers, device="cpu").save(str(tmp_path / "model"))
    return tmp_path / "model"


def encode_with(folder: Path) -> np.ndarray:
    return encode_sentences("sentence_transformers", ["the"], Resources(str(folder), "", [], True))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pickle 5", "torch", "torch, legacy"])
def test_a_sentence_transformer_with_a_pickle_for_any_of_its_files_runs_nothing(
    sentence_model, marker, form
):
    content = FORMATS[form](PAYLOADS["system"](marker))
    assert encode_with(sentence_model).shape == (1, 3)
    weights = [*sentence_model.rglob("*.safetensors")]
    assert len(weights) == 2
    for path in weights:  # pytorch_model.bin is read instead of them
        safe, pickled = path.with_suffix(".hidden"), path.with_name("pytorch_model.bin")
        path.rename(safe)
        pickled.write_bytes(content)
        with pytest.raises(AnalogyQAError, match=str(sentence_model)):
            encode_with(sentence_model)
        pickled.unlink()
        safe.rename(path)
    assert count_refusals(sentence_model, content, encode_with) >= len(weights)
    assert not marker.exists()
    assert encode_with(sentence_model).shape == (1, 3)


CLASSES = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "changes"),
    [
        *(
            ("modules.json", {"type": name})
            for name in ("os.system", "pickle.load", "evil.Module", "builtins.exec")
        ),
        ("config.json", {"model_type": "x", "auto_map": CLASSES}),
    ],
)
def test_a_sentence_transformer_cannot_name_code_to_run(sentence_model, marker, file, changes):
    (sentence_model / "evil.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    values = json.loads((sentence_model / file).read_text())
    (values if isinstance(values, dict) else values[-1]).update(changes)
    (sentence_model / file).write_text(json.dumps(values))
    with pytest.raises(AnalogyQAError, match=str(sentence_model)):
        encode_with(sentence_model)
    assert not marker.exists()
