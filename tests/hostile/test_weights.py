"""Pickled weights that try to run code: refused by name, and nothing is run."""

import builtins
import gzip
import io
import json
import os
import pickle
import subprocess
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences, infersent
from analogyqa.pretrained.sent2vec import encode_tokens
from analogyqa.rewriting.entities import find_entities
from analogyqa.schemas import CORPUS, read_table
from analogyqa.training.checkpoints import load_state
from analogyqa.vectors.select import select_vectors
from analogyqa.vectors.store import read_store, store_record, write_store


class Payload:
    """What calls a function as soon as it is unpickled."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


# Each leaves the file behind by which it shows that it was run.
PAYLOADS = {
    "system": lambda marker: Payload(os.system, f"touch '{marker}'"),
    "exec": lambda marker: Payload(builtins.exec, f"open({str(marker)!r}, 'w').close()"),
    "eval": lambda marker: Payload(builtins.eval, f"open({str(marker)!r}, 'w').close()"),
    "popen": lambda marker: Payload(subprocess.check_call, ["touch", str(marker)]),
    "touch": lambda marker: Payload(Path.touch, marker),
}


def saved(value: object, **options) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    return buffer.getvalue()


def numpy_file(value: object) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([value, "word"], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def numpy_archive(value: object) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, np.array([value, "word"], dtype=object))
    return buffer.getvalue()


def among_weights(value: object) -> OrderedDict:
    """Return the weights of an InferSent with something else among them."""
    return OrderedDict(infersent.InferSent(3, 2).state_dict(), **{"enc_lstm.bias_ih_l0": value})


FORMATS = {
    **{
        f"pickle {protocol}": lambda value, protocol=protocol: pickle.dumps(value, protocol)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
    "torch": saved,
    "torch, legacy": lambda value: saved(value, _use_new_zipfile_serialization=False),
    "torch, among weights": lambda value: saved(among_weights(value)),
    "torch, legacy, among weights": lambda value: saved(
        among_weights(value), _use_new_zipfile_serialization=False
    ),
    "torch, a state": lambda value: saved({"epoch": 1, "encoder": {}, "optimiser": value}),
    "NumPy": numpy_file,
    "NumPy archive": numpy_archive,
}


def read_zipped(path: Path) -> object:
    return select_vectors(path, ["word"], "random")


# Each: the name of a file that a user may drop in, and who reads it.
LOADERS = {
    "checkpoint": ("seed0.pt", lambda path: load_state(path, torch.device("cpu"))),
    "InferSent": ("infersent1.pkl", infersent.load),
    "store of vectors": ("words.npy", read_store),
    "its record": ("words.json", lambda path: store_record(path.with_suffix(".npy"))),
    "word2vec": ("words.bin", read_zipped),
    "text vectors": ("words.vec", read_zipped),
    "gzipped vectors": ("words.vec.gz", read_zipped),
    "zipped vectors": ("words.vec.zip", read_zipped),
    "Sent2Vec": ("unigrams.bin", lambda path: encode_tokens([["word"]], path)),
    "table": ("scores.parquet", lambda path: read_table(path, CORPUS)),
}


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "executed"


@pytest.mark.parametrize("name", PAYLOADS)
def test_the_payload_would_work(marker, name):
    pickle.loads(pickle.dumps(PAYLOADS[name](marker)))
    assert marker.exists()


def test_pytorch_itself_would_run_the_payload_if_it_were_let(marker):
    content = FORMATS["torch, among weights"](PAYLOADS["system"](marker))
    torch.load(io.BytesIO(content), weights_only=False)
    assert marker.exists()


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("form", FORMATS)
def test_weights_that_would_run_code_are_refused_and_nothing_is_run(tmp_path, marker, loader, form):
    name, load = LOADERS[loader]
    path = tmp_path / name
    for payload in PAYLOADS.values():
        content = FORMATS[form](payload(marker))
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        with pytest.raises(AnalogyQAError, match=name):
            load(path)
        assert not marker.exists()


def test_words_that_are_a_pickle_are_only_words(tmp_path, marker):
    path = tmp_path / "words.npy"
    write_store(np.ones((1, 2), dtype=np.float32), np.array([True]), ["word"], "here", path)
    path.with_suffix(".words.txt").write_bytes(pickle.dumps(PAYLOADS["system"](marker)))
    with pytest.raises(AnalogyQAError, match="words"):
        read_store(path)
    assert not marker.exists()


def test_a_table_whose_type_is_a_pickle_is_refused(tmp_path, marker):
    # The type by which older versions of pyarrow ran code: CVE-2023-47248.
    metadata = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": pickle.dumps(PAYLOADS["system"](marker)),
    }
    field = pa.field("split", pa.string(), metadata=metadata)
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table([["a"]], schema=pa.schema([field])), path)
    with pytest.raises(AnalogyQAError, match="columns split: string instead of"):
        read_table(path, CORPUS)
    assert not marker.exists()


def overwritten(folder: Path, content: bytes):
    """Yield each file of a folder with the content in place of its own, one after the other."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        before = path.read_bytes()
        path.write_bytes(content)
        yield path
        path.write_bytes(before)


@pytest.fixture(scope="module")
def spacy_model(tmp_path_factory):
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "ada"}])
    nlp.add_pipe("ner").add_label("GPE")
    nlp.initialize()
    folder = tmp_path_factory.mktemp("spacy") / "model"
    nlp.to_disk(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pickle 5", "torch", "NumPy"])
def test_a_spacy_model_with_a_pickle_for_any_of_its_files_runs_nothing(spacy_model, marker, form):
    rows = [("dev", "q", "who ?", "c", "ada", 1, "who")]
    corpus = pd.DataFrame(rows, columns=CORPUS.names)
    find_entities(corpus, str(spacy_model))
    refused = 0
    for _ in overwritten(spacy_model, FORMATS[form](PAYLOADS["system"](marker))):
        try:
            find_entities(corpus, str(spacy_model))
        except AnalogyQAError as error:
            assert str(spacy_model) in str(error)
            refused += 1
        assert not marker.exists()
    assert refused >= 5


@pytest.fixture(scope="module")
def sentence_model(tmp_path_factory):
    """A tiny model of sentence-transformers, with a dense layer behind it."""
    import transformers
    from sentence_transformers import SentenceTransformer, models

    folder = tmp_path_factory.mktemp("transformer")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "word"]
    (folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = transformers.BertConfig(vocab_size=len(words), intermediate_size=4, **sizes)
    transformers.BertModel(config).save_pretrained(folder / "bert")
    bert = models.Transformer(str(folder / "bert"))
    layers = [bert, models.Pooling(4), models.Dense(4, 3)]
    SentenceTransformer(modules=layers, device="cpu").save(str(folder / "model"))
    return folder / "model"


def encode_with(folder: Path) -> np.ndarray:
    return encode_sentences(
        "sentence_transformers", ["word"], Resources(str(folder), None, [], True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pickle 5", "torch", "torch, legacy"])
def test_a_sentence_transformer_with_a_pickle_for_any_of_its_files_runs_nothing(
    sentence_model, marker, form
):
    content = FORMATS[form](PAYLOADS["system"](marker))
    assert encode_with(sentence_model).shape == (1, 3)
    weights = [*sentence_model.rglob("*.safetensors")]
    assert len(weights) == 2
    for path in weights:  # what is read in their place
        safe, pickled = path.with_suffix(".hidden"), path.with_name("pytorch_model.bin")
        path.rename(safe)
        pickled.write_bytes(content)
        with pytest.raises(AnalogyQAError, match=str(sentence_model)):
            encode_with(sentence_model)
        pickled.unlink()
        safe.rename(path)
    for _ in overwritten(sentence_model, content):
        try:
            encode_with(sentence_model)
        except AnalogyQAError as error:
            assert str(sentence_model) in str(error)
    assert not marker.exists()
    assert encode_with(sentence_model).shape == (1, 3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["os.system", "pickle.load", "evil.Module", "builtins.exec"])
def test_a_sentence_transformer_cannot_name_code_to_run(sentence_model, marker, kind):
    (sentence_model / "evil.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    listed = sentence_model / "modules.json"
    before = listed.read_text()
    modules = json.loads(before)
    modules[-1]["type"] = kind
    listed.write_text(json.dumps(modules))
    with pytest.raises(AnalogyQAError, match=str(sentence_model)):
        encode_with(sentence_model)
    listed.write_text(before)
    assert not marker.exists()


@pytest.mark.slow
def test_code_beside_a_sentence_transformer_is_not_run(sentence_model, marker):
    (sentence_model / "evil.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    configured = sentence_model / "config.json"
    before = configured.read_text()
    named = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}
    configured.write_text(json.dumps({**json.loads(before), "model_type": "x", "auto_map": named}))
    with pytest.raises(AnalogyQAError, match=str(sentence_model)):
        encode_with(sentence_model)
    configured.write_text(before)
    assert not marker.exists()


def test_the_cases_are_counted(report_count):
    tried = len(LOADERS) * len(FORMATS) * len(PAYLOADS)
    report_count(f"{tried} files of weights that would run code, refused; nothing was run")
