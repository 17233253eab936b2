"""InferSent: the published layout, padding, markers, and training."""

import json
import zipfile

import numpy as np
import pytest
import torch
from torch import Tensor

from analogyqa.arithmetic import reproducible_arithmetic
from analogyqa.errors import AnalogyQAError
from analogyqa.pretrained import Resources, encode_sentences, infersent
from analogyqa.pretrained.infersent import load
from analogyqa.pretrained.nli import LABELS
from analogyqa.training import infersent as infersent_training
from analogyqa.training.infersent import InferenceClassifier, train
from builders.networks import bilstm_maximum

WORD_DIM, LSTM_DIM = 6, 5
WORDS = ["<s>", "</s>", "<p>", "</p>", "a", "man", "sleeps", "did", "n't", "didn", "'t", "go", "Go"]
VECTORS = np.random.default_rng(1).normal(size=(len(WORDS), WORD_DIM)).astype(np.float32)
TEXTS = ["a man sleeps", "sleeps", "a man sleeps a man sleeps a man", "man a"]


def state_dict(word_dim: int = WORD_DIM, lstm_dim: int = LSTM_DIM) -> dict[str, Tensor]:
    """Return weights with the names and shapes of the published files, which are PyTorch's."""
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(word_dim, lstm_dim, bidirectional=True)
    return {f"enc_lstm.{name}": weights for name, weights in lstm.state_dict().items()}


def by_hand(words: list[str], state: dict[str, Tensor], vectors: np.ndarray) -> np.ndarray:
    weights = {key.removeprefix("enc_lstm."): value for key, value in state.items()}
    rows = torch.from_numpy(vectors)[[WORDS.index(word) for word in words]]
    return bilstm_maximum(weights, rows).numpy()


@pytest.fixture
def resources(tmp_path, write_vectors):
    def write(state=None, name="infersent1.pkl", lowercase=False, words=WORDS, vectors=VECTORS):
        torch.save(state_dict() if state is None else state, tmp_path / name)
        return Resources(str(tmp_path / name), write_vectors(words, vectors), [], lowercase)

    return write


def test_vectors_match_the_equations(resources, monkeypatch):
    """A vector does not depend on the other sentences of its batch."""
    monkeypatch.setattr(infersent, "ENCODE_BATCH", 3)
    encoded = encode_sentences("infersent", TEXTS, resources())
    assert encoded.shape == (len(TEXTS), 2 * LSTM_DIM)
    for vector, text in zip(encoded, TEXTS, strict=True):
        expected = by_hand(["<s>", *text.split(), "</s>"], state_dict(), VECTORS)
        np.testing.assert_allclose(vector, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "changes", "words"),
    [
        ("a strange man sleeps soundly", {}, ["<s>", "a", "man", "sleeps", "</s>"]),
        ("Go", {"lowercase": True}, ["<s>", "go", "</s>"]),
        ("did n't Go", {}, ["<s>", "did", "n't", "Go", "</s>"]),
        ("didn't go", {"name": "infersent2.pkl"}, ["<p>", "didn", "'t", "go", "</p>"]),
        ("a man did n't", {"name": "infersent2.pkl"}, ["<p>", "a", "man", "did", "n't", "</p>"]),
        ("strange", {"words": WORDS[4:], "vectors": VECTORS[4:]}, []),
    ],
)
def test_markers_and_unknown_words(resources, text, changes, words):
    """The resources decide about case; the second version has its own markers and negations."""
    encoded = infersent.encode([text, "man"], resources(**changes))[0]
    expected = by_hand(words, state_dict(), VECTORS) if words else np.zeros(2 * LSTM_DIM)
    np.testing.assert_allclose(encoded, expected, atol=1e-5)


@pytest.mark.parametrize("zipped", [True, False])
def test_old_and_new_file_formats_are_read(tmp_path, zipped):
    torch.save(state_dict(7, 3), tmp_path / "w.pkl", _use_new_zipfile_serialization=zipped)
    torch.testing.assert_close(load(tmp_path / "w.pkl").state_dict(), state_dict(7, 3))


def test_word_vectors_of_another_length_are_an_error(resources):
    mismatched = resources(state_dict(WORD_DIM + 1))
    with pytest.raises(AnalogyQAError, match=r"words\.vec: word vectors with 6 .* needs 7"):
        infersent.encode(["a man"], mismatched)


# Training


def pairs(count: int, seed: int) -> str:
    """Return labelled pairs: 0 repeats the premise, 1 says "sleeps", 2 says "go"."""
    generator = np.random.default_rng(seed)
    drawn = [(generator.choice(["a", "man"]), generator.integers(3)) for _ in range(count)]
    return "".join(
        f"{word} did\t{(word, 'sleeps', 'go')[label]} did\t{label}\n" for word, label in drawn
    )


@pytest.fixture
def run(tmp_path, monkeypatch, write_vectors):
    """Train in a folder of the given name; return the path of the weights and the record."""
    monkeypatch.setattr(infersent_training, "BATCH", 8)
    (tmp_path / "train.txt").write_text(pairs(200, 0))
    (tmp_path / "dev.txt").write_text(pairs(40, 1))
    vectors = write_vectors(WORDS, VECTORS)

    def run(name: str, max_epochs=3, seed=0, files=("train.txt",), dev="dev.txt", **options):
        path, device = tmp_path / name / "weights.pkl", torch.device("cpu")
        sources = [str(tmp_path / file) for file in files], [str(tmp_path / dev)], vectors
        options |= {"max_epochs": max_epochs, "checkpoint": path.with_name("checkpoint.pt")}
        train(*sources, True, LSTM_DIM, seed, device, path=path, **options)
        return path, json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))

    with reproducible_arithmetic():
        yield run


def test_training_learns_and_saves_weights_in_the_published_layout(run):
    path, record = run("a", max_epochs=20)
    assert record["dev_accuracy"] > 0.9
    shapes = {name: value.shape for name, value in torch.load(path, weights_only=True).items()}
    assert shapes == {name: value.shape for name, value in state_dict().items()}


def test_the_same_seed_gives_the_same_bytes_even_after_an_interruption(run, tmp_path, caplog):
    caplog.set_level("INFO")
    run("a", max_epochs=1)
    resumed, uninterrupted, (other, _) = run("a"), run("b"), run("c", seed=1)
    assert caplog.text.count("resumed after epoch 1") == 1
    (path, record), (expected, expected_record) = resumed, uninterrupted
    assert path.read_bytes() == expected.read_bytes() != other.read_bytes()
    assert record == expected_record
    # The epochs that are not kept are the same, too.
    states = [tmp_path / name / "checkpoint.pt" for name in ("a", "b")]
    first, second = (torch.load(path, weights_only=True) for path in states)
    assert first["epoch"] == second["epoch"] == 3
    torch.testing.assert_close(first["network"], second["network"], rtol=0, atol=0)
    # A finished training run is read from its checkpoint.
    before, stamp = expected.read_bytes(), states[1].stat().st_mtime_ns
    assert run("b")[0].read_bytes() == before
    assert states[1].stat().st_mtime_ns == stamp


def test_the_first_best_epoch_is_kept_and_training_stops_without_improvement(run, tmp_path):
    path, record = run("a", max_epochs=60)
    assert record["epochs"] == record["best_epoch"] + infersent_training.PATIENCE
    assert run("b", max_epochs=record["best_epoch"])[0].read_bytes() == path.read_bytes()
    state = torch.load(tmp_path / "a/checkpoint.pt", weights_only=True)
    assert record["dev_accuracy"] == state["best_accuracy"]


def test_the_record_says_what_the_encoder_was_trained_on(run, tmp_path):
    """Both the training part and the dev part are read from an archive."""
    line = json.dumps({"sentence1": "a man", "sentence2": "man", "gold_label": LABELS[0]}) + "\n"
    with zipfile.ZipFile(tmp_path / "snli.zip", "w") as archive:
        archive.writestr("snli_1.0/snli_1.0_train.jsonl", 30 * line)
        archive.writestr("snli_1.0/snli_1.0_dev.jsonl", 20 * line)
    _, record = run("a", max_epochs=1, files=("train.txt", "snli.zip"), dev="snli.zip")
    files = {name: str(tmp_path / name) for name in ("train.txt", "snli.zip", "words.vec")}
    train_files = [files["train.txt"], files["snli.zip"]]
    expected = {"train": train_files, "dev": [files["snli.zip"]], "vectors": files["words.vec"]}
    assert record["sources"] == expected
    assert record["pairs"] == {"train": 230, "dev": 20}
    assert (record["lstm_dim"], record["epochs"], record["seed"]) == (LSTM_DIM, 1, 0)


def test_pairs_that_share_a_sentence_with_a_data_set_are_left_out(run, tmp_path):
    """The result equals that of training and dev files without these pairs."""
    path, record = run("a", max_epochs=1, disjoint_from=["Man did."])
    for name in ("train", "dev"):
        lines = (tmp_path / f"{name}.txt").read_text().splitlines(True)
        kept = [line for line in lines if "man did" not in line]
        assert 0 < record["pairs"][name] == len(kept) < len(lines)
        (tmp_path / f"{name}.txt").write_text("".join(kept))
    assert run("b", max_epochs=1)[0].read_bytes() == path.read_bytes()


def test_a_diverged_training_run_is_named(run, monkeypatch):
    fast = infersent_training.OPTIMISER.model_copy(update={"learning_rate": 1e30})
    monkeypatch.setattr(infersent_training, "OPTIMISER", fast)
    with pytest.raises(AnalogyQAError, match="the loss is not a number"):
        run("a", max_epochs=20)


def test_the_classifier_sees_both_vectors_their_distance_and_product():
    network = InferenceClassifier(WORD_DIM, LSTM_DIM)
    vectors = torch.from_numpy(VECTORS)
    none, words = np.array([], dtype=np.int64), np.array([4, 5])
    premises, hypotheses = [none, words], [np.array([5]), np.array([7, 8, 9])]
    u, v = (network.encoder.encode_words(side, vectors) for side in (premises, hypotheses))
    assert not u[0].any()
    torch.testing.assert_close(u[1:], network.encoder.encode_words([words], vectors))
    features = torch.cat([u, v, abs(u - v), u * v], dim=1)
    expected = network.classifier(features)
    torch.testing.assert_close(network(premises, hypotheses, vectors), expected)
