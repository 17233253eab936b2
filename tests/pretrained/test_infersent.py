"""InferSent: the published layout, padding, markers, and the training."""

import json
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences, infersent
from analogyqa.pretrained.infersent import InferSent, load, mark
from analogyqa.pretrained.nli import LABELS
from analogyqa.training import infersent as infersent_training
from analogyqa.training.infersent import InferenceClassifier, train

WORD_DIM, LSTM_DIM = 6, 5
WORDS = ["<s>", "</s>", "<p>", "</p>", "a", "man", "sleeps", "did", "n't", "didn", "'t", "go", "Go"]
VECTORS = np.random.default_rng(1).normal(size=(len(WORDS), WORD_DIM)).astype(np.float32)
TEXTS = ["a man sleeps", "sleeps", "a man sleeps a man sleeps a man", "man a"]


def state_dict(word_dim: int = WORD_DIM, lstm_dim: int = LSTM_DIM) -> OrderedDict:
    """Return weights with the names and shapes of the published files."""
    generator = torch.Generator().manual_seed(0)
    shapes = {
        "weight_ih_l0": (4 * lstm_dim, word_dim),
        "weight_hh_l0": (4 * lstm_dim, lstm_dim),
        "bias_ih_l0": (4 * lstm_dim,),
        "bias_hh_l0": (4 * lstm_dim,),
    }
    scale = lstm_dim**-0.5
    return OrderedDict(
        (f"enc_lstm.{name}{direction}", scale * torch.randn(shape, generator=generator))
        for direction in ("", "_reverse")
        for name, shape in shapes.items()
    )


def lstm(x: Tensor, state: dict[str, Tensor], direction: str) -> Tensor:
    """Return the states over one sentence [t, d] by the equations of the LSTM: [t, lstm_dim]."""
    w_ih, w_hh, b_ih, b_hh = (
        state[f"enc_lstm.{name}_l0{direction}"]
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h = c = x.new_zeros(w_hh.shape[1])
    states = []
    for word in x.flip(0) if direction else x:
        i, f, g, o = (w_ih @ word + b_ih + w_hh @ h + b_hh).chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        states.append(h)
    return torch.stack(states)


def by_hand(words: list[str], state: dict[str, Tensor], vectors: Tensor) -> np.ndarray:
    x = vectors[[WORDS.index(word) for word in words]]
    directions = [lstm(x, state, direction).amax(dim=0) for direction in ("", "_reverse")]
    return torch.cat(directions).numpy()


def write_vectors(path: Path, words=WORDS, vectors=VECTORS) -> str:
    lines = [
        f"{word} {' '.join(map(str, vector))}\n"
        for word, vector in zip(words, vectors, strict=True)
    ]
    path.write_text(f"{len(words)} {vectors.shape[1]}\n{''.join(lines)}", encoding="utf-8")
    return str(path)


@pytest.fixture
def resources(tmp_path):
    def write(state=None, name: str = "infersent1.pkl", lowercase: bool = False) -> Resources:
        torch.save(state_dict() if state is None else state, tmp_path / name)
        vectors = write_vectors(tmp_path / "words.vec")
        return Resources(str(tmp_path / name), vectors, [], lowercase)

    return write


# The encoder


def test_vectors_are_those_of_the_equations_over_each_sentence_alone(resources):
    encoded = encode_sentences("infersent", TEXTS, resources())
    state, vectors = state_dict(), torch.from_numpy(VECTORS)
    expected = [by_hand(["<s>", *text.split(), "</s>"], state, vectors) for text in TEXTS]
    np.testing.assert_allclose(encoded, np.stack(expected), atol=1e-5)


def test_the_published_size_gives_the_vectors_of_the_equations(tmp_path):
    state = state_dict(300, 2048)
    torch.save(state, tmp_path / "infersent1.pkl")
    vectors = np.random.default_rng(2).normal(size=(len(WORDS), 300)).astype(np.float32)
    words = write_vectors(tmp_path / "words.vec", vectors=vectors)
    texts = ["a man sleeps", "go"]
    encoded = encode_sentences(
        "infersent", texts, Resources(str(tmp_path / "infersent1.pkl"), words, [], False)
    )
    assert encoded.shape == (2, 4096)
    for vector, text in zip(encoded, texts, strict=True):
        marked = ["<s>", *text.split(), "</s>"]
        expected = by_hand(marked, state, torch.from_numpy(vectors))
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_the_other_sentences_of_a_batch_do_not_change_a_vector(resources):
    given = resources()
    alone = [infersent.encode([text], given)[0] for text in TEXTS]
    np.testing.assert_allclose(infersent.encode(TEXTS, given), np.stack(alone), atol=1e-6)


def test_padding_does_not_win_the_maximum(resources):
    state = state_dict()
    for name, value in state.items():
        if "bias_ih" in name:  # of the gate g: states below zero throughout
            value[2 * LSTM_DIM : 3 * LSTM_DIM] = -50
    assert (infersent.encode(TEXTS, resources(state)) < 0).all()


def test_the_order_of_the_batches_does_not_show(resources, monkeypatch):
    given = resources()
    expected = infersent.encode(TEXTS, given)
    monkeypatch.setattr(infersent, "ENCODE_BATCH", 1)
    np.testing.assert_allclose(infersent.encode(TEXTS, given), expected, atol=1e-6)


def test_words_without_a_vector_are_dropped(resources):
    given = resources()
    with_unknown = infersent.encode(["a strange man sleeps soundly"], given)
    np.testing.assert_array_equal(with_unknown, infersent.encode(["a man sleeps"], given))


def test_markers_that_the_vectors_lack_are_left_out(resources):
    given = resources()
    kept = [row for row, word in enumerate(WORDS) if word not in ("<s>", "</s>")]
    write_vectors(Path(given.vectors), [WORDS[row] for row in kept], VECTORS[kept])
    encoded = infersent.encode(["a man", "strange"], given)
    expected = by_hand(["a", "man"], state_dict(), torch.from_numpy(VECTORS))
    np.testing.assert_allclose(encoded[0], expected, atol=1e-5)
    assert not encoded[1].any()


def test_case_is_that_of_the_resources(resources):
    cased, lowered = resources(), resources(lowercase=True)
    np.testing.assert_array_equal(
        infersent.encode(["Go"], lowered), infersent.encode(["go"], cased)
    )
    assert not np.array_equal(infersent.encode(["Go"], cased), infersent.encode(["go"], cased))


def test_the_second_version_has_its_own_markers_and_negations(resources):
    given = resources(name="infersent2.pkl")
    words = ["<p>", "a", "man", "didn", "'t", "go", "</p>"]
    expected = by_hand(words, state_dict(), torch.from_numpy(VECTORS))
    encoded = infersent.encode(["a man didn't go"], given)
    np.testing.assert_allclose(encoded[0], expected, atol=1e-5)


def test_the_first_version_keeps_the_tokens():
    assert mark(["did", "n't", "go"]) == ["<s>", "did", "n't", "go", "</s>"]


def test_the_second_version_keeps_a_negation_that_ends_the_sentence():
    assert mark(["did", "n't"], second_version=True) == ["<p>", "did", "n't", "</p>"]


# Weights


def test_the_dimensions_are_those_of_the_weights(tmp_path):
    torch.save(state_dict(7, 3), tmp_path / "w.pkl")
    encoder = load(tmp_path / "w.pkl")
    assert (encoder.enc_lstm.input_size, encoder.enc_lstm.hidden_size) == (7, 3)


def test_the_format_of_the_years_of_publication_is_read(tmp_path):
    torch.save(state_dict(), tmp_path / "w.pkl", _use_new_zipfile_serialization=False)
    torch.testing.assert_close(load(tmp_path / "w.pkl").state_dict(), state_dict())


def test_an_encoder_has_the_published_names_and_shapes():
    shapes = {name: value.shape for name, value in InferSent(300, 2048).state_dict().items()}
    assert shapes == {name: value.shape for name, value in state_dict(300, 2048).items()}


def test_missing_and_unexpected_keys_are_named(tmp_path):
    state = state_dict()
    state["other"] = state.pop("enc_lstm.bias_hh_l0")
    torch.save(state, tmp_path / "w.pkl")
    message = r"w\.pkl: .*Missing: enc_lstm\.bias_hh_l0\. Unexpected: other\."
    with pytest.raises(AnalogyQAError, match=message):
        load(tmp_path / "w.pkl")


def test_shapes_that_do_not_fit_are_named(tmp_path):
    state = state_dict() | {"enc_lstm.bias_hh_l0": torch.zeros(3)}
    torch.save(state, tmp_path / "w.pkl")
    with pytest.raises(AnalogyQAError, match=r"w\.pkl: weights of shapes that do not fit"):
        load(tmp_path / "w.pkl")


@pytest.mark.parametrize("content", [b"", b"<?xml version='1.0'?>", b"\x80\x02}q\x00."])
def test_a_file_that_is_no_state_dict_is_named(tmp_path, content):
    (tmp_path / "w.pkl").write_bytes(content)
    with pytest.raises(AnalogyQAError, match=r"w\.pkl: not "):
        load(tmp_path / "w.pkl")


def test_a_pickled_module_is_not_unpickled(tmp_path):
    torch.save(InferSent(2, 2), tmp_path / "w.pkl")
    with pytest.raises(AnalogyQAError, match=r"w\.pkl: not a file of PyTorch weights"):
        load(tmp_path / "w.pkl")


def test_word_vectors_of_another_length_are_named(resources):
    given = resources(state_dict(WORD_DIM + 1))
    with pytest.raises(AnalogyQAError, match=r"words\.vec: word vectors of 6 numbers, .* reads 7"):
        infersent.encode(["a man"], given)


# Training


def pairs(count: int, seed: int) -> str:
    """Return pairs whose label is whether the same word, none, or another follows."""
    generator = np.random.default_rng(seed)
    lines = []
    for label in generator.integers(3, size=count):
        premise = str(generator.choice(["a", "man"]))
        hypothesis = (premise, "sleeps", "go")[label]
        lines.append(f"{premise} did\t{hypothesis} did\t{label}\n")
    return "".join(lines)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Train in a folder of the given name and return the path of the weights."""
    monkeypatch.setattr(infersent_training, "BATCH", 8)
    (tmp_path / "train.txt").write_text(pairs(200, 0))
    (tmp_path / "dev.txt").write_text(pairs(40, 1))
    vectors = write_vectors(tmp_path / "words.vec")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def run(
        name: str, max_epochs: int = 3, seed: int = 0, files=("train.txt",), dev_file="dev.txt"
    ) -> Path:
        path = tmp_path / name / "weights.pkl"
        train(
            [str(tmp_path / file) for file in files],
            [str(tmp_path / dev_file)],
            vectors,
            lowercase=True,
            lstm_dim=LSTM_DIM,
            seed=seed,
            device=torch.device("cpu"),
            checkpoint=tmp_path / name / "checkpoint.pt",
            path=path,
            max_epochs=max_epochs,
        )
        return path

    yield run
    torch.set_num_threads(threads)


def record_of(path: Path) -> dict:
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def test_the_training_learns(run):
    assert record_of(run("a", max_epochs=20))["dev_accuracy"] > 0.9


def test_the_weights_have_the_published_layout(run, resources):
    state = torch.load(run("a", max_epochs=1), weights_only=True)
    assert {name: value.shape for name, value in state.items()} == {
        name: value.shape for name, value in state_dict().items()
    }


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(run):
    first, again, other = run("a"), run("b"), run("c", seed=1)
    assert first.read_bytes() == again.read_bytes() != other.read_bytes()


def test_a_resumed_training_gives_the_bytes_of_an_uninterrupted_one(run):
    run("a", max_epochs=2)
    resumed, whole = run("a", max_epochs=6), run("b", max_epochs=6)
    assert resumed.read_bytes() == whole.read_bytes()
    assert record_of(resumed) == record_of(whole)


def test_a_finished_training_is_read_from_its_checkpoint(run):
    before = run("a").read_bytes()
    checkpoint = run("a").with_name("checkpoint.pt")
    stamp = checkpoint.stat().st_mtime_ns
    assert run("a").read_bytes() == before
    assert checkpoint.stat().st_mtime_ns == stamp


def test_the_kept_epoch_is_the_first_of_the_best_dev_accuracy(run, tmp_path):
    path = run("a", max_epochs=8)
    state = torch.load(tmp_path / "a/checkpoint.pt", weights_only=True)
    record = record_of(path)
    shorter = run("b", max_epochs=record["best_epoch"])
    assert shorter.read_bytes() == path.read_bytes()
    assert record["dev_accuracy"] == state["best_accuracy"]


def test_the_training_stops_after_epochs_without_gain(run):
    record = record_of(run("a", max_epochs=1000))
    assert record["epochs"] == record["best_epoch"] + infersent_training.PATIENCE


def test_the_record_says_what_the_encoder_was_trained_on(run, tmp_path):
    record = record_of(run("a", max_epochs=1, files=("train.txt", "dev.txt")))
    assert record["sources"] == {
        "train": [str(tmp_path / "train.txt"), str(tmp_path / "dev.txt")],
        "dev": [str(tmp_path / "dev.txt")],
        "vectors": str(tmp_path / "words.vec"),
    }
    assert record["pairs"] == {"train": 240, "dev": 40}
    assert (record["lstm_dim"], record["epochs"], record["seed"]) == (LSTM_DIM, 1, 0)


def test_of_one_archive_train_and_dev_are_read_each(run, tmp_path):
    with zipfile.ZipFile(tmp_path / "snli.zip", "w") as archive:
        for split, count in (("train", 30), ("dev", 20)):
            rows = [line.split("\t") for line in pairs(count, 0).splitlines()]
            keys = ("sentence1", "sentence2", "gold_label")
            labelled = [(one, two, LABELS[int(label)]) for one, two, label in rows]
            lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in labelled]
            archive.writestr(f"snli_1.0/snli_1.0_{split}.jsonl", "\n".join(lines))
    record = record_of(run("a", max_epochs=1, files=("snli.zip",), dev_file="snli.zip"))
    assert record["pairs"] == {"train": 30, "dev": 20}


def test_a_damaged_checkpoint_is_named(run, tmp_path):
    run("a", max_epochs=1)
    (tmp_path / "a/checkpoint.pt").write_bytes(b"damaged")
    with pytest.raises(AnalogyQAError, match=r"checkpoint\.pt: damaged checkpoint"):
        run("a")


def test_a_diverged_training_is_named(run, monkeypatch):
    monkeypatch.setattr(infersent_training, "LEARNING_RATE", 1e30)
    with pytest.raises(AnalogyQAError, match="the loss is not a number"):
        run("a", max_epochs=20)


def test_the_classifier_sees_both_vectors_their_distance_and_product():
    network = InferenceClassifier(WORD_DIM, LSTM_DIM)
    vectors = torch.from_numpy(VECTORS)
    premises, hypotheses = [np.array([4, 5]), np.array([6])], [np.array([5]), np.array([7, 8, 9])]
    u, v = (network.encoder.encode_words(side, vectors) for side in (premises, hypotheses))
    features = torch.cat([u, v, abs(u - v), u * v], dim=1)
    expected = network.classifier(features)
    torch.testing.assert_close(network(premises, hypotheses, vectors), expected)
