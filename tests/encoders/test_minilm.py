"""MiniLM as a trainable encoder, which starts with the vectors of sentence-transformers."""

import numpy as np
import pytest
import torch

from analogyqa.encoders import build_encoder, minilm
from analogyqa.encoders.minilm import LONGEST, vocabulary
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources
from analogyqa.pretrained.hugging_face import encode_sentence_transformer
from analogyqa.settings.systems import Training
from analogyqa.text import Sentences
from analogyqa.training.data import load_cell
from analogyqa.training.learner import Learner
from analogyqa.training.loop import train_seed
from builders import tiny
from builders.cells import COMB, trained_system

CPU = torch.device("cpu")
TEXTS = ["Who wrote Hamlet ?", "Hamlet was written by Shakespeare .", "", "rain " * 200]


@pytest.fixture(scope="module")
def encoder():
    return build_encoder("minilm", None, Training(dropout=0.1), 0)


@pytest.fixture(scope="module")
def sentences():
    return Sentences(TEXTS, *vocabulary())


def test_initial_vectors_match_sentence_transformers(encoder, sentences):
    words, lengths = sentences.batch(np.arange(len(TEXTS)))
    with torch.no_grad():
        vectors = encoder.eval()(torch.from_numpy(words), torch.from_numpy(lengths)).numpy()
    expected = encode_sentence_transformer(TEXTS, Resources("all-MiniLM-L6-v2", "", [], True))
    assert vectors.shape == (len(TEXTS), 384)
    cosines = (vectors * expected).sum(axis=1) / np.linalg.norm(vectors, axis=1)
    # The library reads up to 256 tokens, more than we do, so the long text differs.
    np.testing.assert_allclose(cosines[:3], 1, atol=1e-4)


def test_packing_gives_the_vectors_of_padded_sentences(encoder, sentences):
    order = np.argsort(sentences.lengths)
    words, lengths = map(torch.from_numpy, sentences.batch(order))
    inside = torch.arange(words.shape[1]) < lengths[:, None]
    with torch.no_grad():
        states = encoder.eval().model(words, attention_mask=inside.long()).last_hidden_state
        expected = (states * inside[:, :, None]).sum(dim=1) / lengths[:, None]
        exact, rounded = encoder._encode(words, lengths), encoder(words, lengths)
    torch.testing.assert_close(exact, expected, atol=1e-5, rtol=1e-4)
    assert rounded.dtype == torch.float32
    assert not rounded.equal(exact)  # the products are in bfloat16
    assert torch.cosine_similarity(rounded, exact).min() > 0.9999


def test_a_missing_weight_is_an_error(monkeypatch, tmp_path):
    folder = tiny.save_bert(tmp_path / "minilm")
    tiny.rewrite_weights(
        folder, lambda weights: {k: v for k, v in weights.items() if ".1." not in k}
    )
    monkeypatch.setattr(minilm, "_folder", lambda: folder)
    with pytest.raises(AnalogyQAError, match=rf"{folder}: .* encoder\.layer\.1\."):
        build_encoder("minilm", None, Training(), 0)


def test_dropout_acts_in_training_only(encoder, sentences):
    words, lengths = map(torch.from_numpy, sentences.batch(np.arange(2)))
    with torch.no_grad():
        first, again = (encoder.train()(words, lengths) for _ in range(2))
        scoring = [encoder.eval()(words, lengths) for _ in range(2)]
    assert not first.equal(again)
    assert scoring[0].equal(scoring[1])


def test_a_long_sentence_is_truncated_before_its_last_token(sentences):
    ids, _ = vocabulary()
    long_sentence = sentences.words(len(TEXTS) - 1)
    assert len(long_sentence) == LONGEST
    assert (long_sentence[0], long_sentence[-1]) == (ids["[CLS]"], ids["[SEP]"])
    assert sentences.words(2).tolist() == [ids["[CLS]"], ids["[SEP]"]]
    assert [*map(minilm.unread, TEXTS)] == [0, 0, 0, 202 - LONGEST]


def test_training_changes_layers_but_not_embeddings(cell_files, monkeypatch, tmp_path):
    folder = tiny.save_bert(tmp_path / "minilm")
    monkeypatch.setattr(minilm, "_folder", lambda: folder)
    system = trained_system(
        encoder="minilm", max_epochs=1, dropout=0.1, learning_rate=1e-3, weight_decay=0
    )
    data = load_cell(cell_files()._replace(vectors=None), COMB, system, lowercase=True)
    trained = train_seed(Learner(system, data, 0, CPU), tmp_path / "a.pt", "test")
    assert np.isfinite(trained.scores["score"]).all()
    before = build_encoder("minilm", None, system.training, 0).state_dict()
    after = torch.load(tmp_path / "a.pt", weights_only=True)["best"]["last"]["weights"]
    changed = {name for name in before if not torch.equal(before[name], after[f"encoder.{name}"])}
    frozen = {name for name in before if ".embeddings." in name}
    assert frozen and changed == set(before) - frozen
