"""Transformers by path: where they are looked for, and how they are pooled."""

import numpy as np
import pytest

from analogyqa.analogies.pairs import MASK
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences
from analogyqa.pretrained.hugging_face import encode, find_folder, installed

TEXTS = ["the cat sat", "the dog", f"the {MASK} sat"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny BERT with random weights."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("bert")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "dog", "sat"]
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    bert = BertModel(BertConfig(vocab_size=len(words), num_hidden_layers=1, **sizes))
    bert.save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder, bert.eval()


def by_hand(bert, ids: list[int]):
    import torch

    with torch.inference_mode():
        return bert(torch.tensor([ids]))


def resources(folder, pooling: str) -> Resources:
    return Resources(str(folder), None, [], True, {"pooling": pooling})


def test_a_sentence_is_pooled_as_the_paper_says(model):
    folder, bert = model
    output = by_hand(bert, [2, 5, 7, 3])  # [CLS] the dog [SEP]
    avg, cls = (encode(TEXTS, resources(folder, pooling))[1] for pooling in ("avg", "cls"))
    expected = output.last_hidden_state[0].sum(dim=0) / np.sqrt(4)
    assert avg == pytest.approx(expected.numpy(), abs=1e-5)
    assert cls == pytest.approx(output.pooler_output[0].numpy(), abs=1e-5)


def test_a_masked_word_is_the_models_own_mask(model):
    folder, bert = model
    output = by_hand(bert, [2, 5, 4, 8, 3])
    found = encode_sentences("hugging_face", TEXTS, resources(folder, "cls"))[2]
    assert found == pytest.approx(output.pooler_output[0].numpy(), abs=1e-5)


def test_what_is_not_here_is_said(tmp_path, model):
    assert not installed(str(tmp_path))
    assert find_folder(str(model[0])) == model[0]
    with pytest.raises(AnalogyQAError, match="no transformer of this name or path"):
        encode(TEXTS, resources(tmp_path, "avg"))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(AnalogyQAError, match="the transformer cannot be loaded"):
        encode(TEXTS, resources(tmp_path, "avg"))
