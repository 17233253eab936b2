"""A model with random weights, or with the tokenizer of another model, is refused."""

import json

import numpy as np
import pytest
import torch

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences
from builders import tiny

TEXTS = ["the cat sat", "the dog", "the dog sat the cat"]
IDS = [[2, 5, 6, 8, 3], [2, 5, 7, 3], [2, 5, 7, 8, 5, 6, 3]]
LONG = "the cat " * 300
both_encoders = pytest.mark.parametrize("name", ["hugging_face", "sentence_transformers"])


@pytest.fixture
def bert(tmp_path):
    """A tiny BERT that both encoders read."""
    return tiny.add_pooling(tiny.save_bert(tmp_path / "bert"))


def vectors_of(name, folder, texts=TEXTS, pooling="avg"):
    options = {"pooling": pooling, "special_tokens": "counted"} if name == "hugging_face" else {}
    return encode_sentences(name, texts, Resources(str(folder), "", [], True, options))


def by_hand(name, model, ids=IDS):
    """Encode each sentence by itself: the sum over its length, or over the root of that."""
    power = 0.5 if name == "hugging_face" else 1
    with torch.inference_mode():
        states = [model(input_ids=torch.tensor([row])).last_hidden_state[0] for row in ids]
    return np.stack([(tokens.sum(dim=0) / len(tokens) ** power).numpy() for tokens in states])


DAMAGES = {
    "a prefix": lambda weights: {f"module.{name}": weight for name, weight in weights.items()},
    "no second layer": lambda weights: {
        name: weight for name, weight in weights.items() if "layer.1" not in name
    },
    "another shape": lambda weights: {
        name: weight[:4] if name == "encoder.layer.1.output.dense.bias" else weight
        for name, weight in weights.items()
    },
    "NaN": lambda weights: {name: weight * torch.nan for name, weight in weights.items()},
    "zero": lambda weights: {name: weight * 0 for name, weight in weights.items()},
}


@both_encoders
@pytest.mark.parametrize("damage", DAMAGES)
def test_missing_or_damaged_weights_are_refused(bert, name, damage):
    tiny.rewrite_weights(bert, DAMAGES[damage])
    # sentence-transformers would load weights of another shape as random ones.
    tiny.rewrite_json(
        bert / "sentence_bert_config.json", model_args={"ignore_mismatched_sizes": True}
    )
    with pytest.raises(AnalogyQAError, match=str(bert)):
        vectors_of(name, bert)


@both_encoders
def test_a_configured_layer_without_weights_is_refused(bert, name):
    tiny.rewrite_json(bert / "config.json", num_hidden_layers=3)
    with pytest.raises(AnalogyQAError, match=r"16 weights .* encoder\.layer\.2\."):
        vectors_of(name, bert)


@both_encoders
def test_an_unused_pooler_may_be_missing(bert, name):
    expected = vectors_of(name, bert)
    tiny.rewrite_weights(
        bert, lambda weights: {k: v for k, v in weights.items() if "pool" not in k}
    )
    np.testing.assert_array_equal(vectors_of(name, bert), expected)
    with pytest.raises(AnalogyQAError, match=r"pooler\.dense\.weight.*pooling: avg"):
        vectors_of("hugging_face", bert, pooling="cls")


@both_encoders
@pytest.mark.parametrize("rename", [("", "bert."), (".weight", ".gamma"), (".bias", ".beta")])
def test_renamed_weights_are_read(bert, name, rename):
    """Names as in models with a head, and as in the first published BERT."""
    expected, (old, new) = vectors_of(name, bert), rename
    tiny.rewrite_weights(
        bert,
        lambda weights: {
            key.replace(old, new, 1) if not old or f"LayerNorm{old}" in key else key: weight
            for key, weight in weights.items()
        },
    )
    np.testing.assert_array_equal(vectors_of(name, bert), expected)


@both_encoders
@pytest.mark.parametrize(
    "words",
    [
        None,
        [*tiny.WORDS, "more"],
        tiny.WORDS[:8],
        [*tiny.WORDS[:5], "A", "B", "C", "D"],
    ],
    ids=["no files", "more tokens", "fewer tokens", "other words"],
)
def test_a_foreign_tokenizer_is_refused(bert, name, words):
    for path in [*bert.glob("*token*"), bert / "vocab.txt"]:
        path.unlink()
    if words:
        (bert / "vocab.txt").write_text("\n".join(words))
    with pytest.raises(AnalogyQAError, match=rf"{bert}: its tokenizer"):
        vectors_of(name, bert)


@both_encoders
def test_a_tokenizer_without_its_first_token_is_refused(bert, name):
    tokenizer = json.loads((bert / "tokenizer.json").read_text())
    (bert / "tokenizer.json").write_text(json.dumps(tokenizer | {"post_processor": None}))
    tiny.rewrite_json(bert / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    with pytest.raises(AnalogyQAError, match=r"its tokenizer .*\[CLS\]"):
        vectors_of(name, bert)


@both_encoders
def test_padding_on_the_left_does_not_shift_positions(tmp_path, name):
    model = tiny.build("Bert", num_hidden_layers=2, **tiny.BERT)
    folder = tiny.add_pooling(tiny.save(tmp_path / "left", model, padding_side="left"))
    np.testing.assert_allclose(vectors_of(name, folder), by_hand(name, model), atol=1e-5)


@both_encoders
def test_a_model_without_a_padding_token_is_read(tmp_path, name):
    """GPT-2, whose tokenizer also gives no token for an empty sentence."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    model = tiny.build("GPT2", n_embd=8, n_layer=1, n_head=2, n_positions=16)
    folder = tiny.add_pooling(tiny.save(tmp_path / "gpt2", model))
    words = {word: number for number, word in enumerate(tiny.WORDS)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="[SEP]", unk_token="[UNK]"
    ).save_pretrained(folder)
    ids = [row[1:-1] for row in IDS]
    vectors = vectors_of(name, folder, [*TEXTS, "", LONG])
    np.testing.assert_allclose(vectors[:3], by_hand(name, model, ids), atol=1e-5)
    np.testing.assert_allclose(vectors[4:], by_hand(name, model, [[5, 6] * 8]), atol=1e-5)
    assert not vectors[3].any()


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
    np.testing.assert_allclose(vectors_of(name, folder, [LONG]), expected, atol=1e-5)
    tiny.rewrite_json(folder / "sentence_bert_config.json", max_seq_length=200)
    tiny.rewrite_json(folder / "tokenizer_config.json", model_max_length=200)
    np.testing.assert_allclose(vectors_of(name, folder, [LONG]), expected, atol=1e-5)


@both_encoders
def test_an_image_model_is_refused(tmp_path, name):
    model = tiny.build("ViT", num_hidden_layers=1, image_size=8, patch_size=4, **tiny.BERT)
    folder = tiny.add_pooling(tiny.save(tmp_path / "vit", model))
    with pytest.raises(AnalogyQAError, match=str(folder)):
        vectors_of(name, folder)


@both_encoders
def test_no_sentences_give_no_vectors(bert, name):
    assert vectors_of(name, bert, []).shape == (0, tiny.DIM)
