"""Transformers by path: how they are located and pooled."""

import json

import numpy as np
import pytest

from analogyqa.analogies.pairs import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.pretrained.hugging_face import encode_transformer, find_folder
from builders import tiny

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
