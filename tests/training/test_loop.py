"""Training sees exactly its quadruples, resumes to the same bytes, and learns."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch

from analogyqa.encoders import build_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.examples.batches import epoch_batches
from analogyqa.examples.files import load_cell
from analogyqa.measures import measure_questions
from analogyqa.objectives.contrastive import batch_loss, contrastive, contrastive_distance
from analogyqa.objectives.energy import energy
from analogyqa.schemas import (
    CORPUS,
    HISTORY,
    PROTOTYPES,
    QUADRUPLES,
    SCORES,
    read_table,
    write_table,
)
from analogyqa.settings.systems import Model, Negatives, Training
from analogyqa.training import loop
from analogyqa.training.loop import arrays_of, encode, train_seed
from analogyqa.training.scoring import score_split, scores_table

CPU = torch.device("cpu")
torch.set_num_threads(1)  # the tensors are tiny: more threads wait for each other
ANALOGY = Model(title="A", encoder="bigru", vectors="some", ranker="analogy")
SIMILARITY = Model(title="S", encoder="bigru", vectors="some", ranker="cosine")
FIXED = Negatives(draw="fixed")
SMALL = Training(sentence_dim=4, batch_size=4, max_epochs=3, patience=3)


def with_values(**values) -> Training:
    return Training.model_validate(SMALL.model_dump() | values)


def train(data, checkpoint, settings=SMALL, model=ANALOGY, seed=0):
    return train_seed(data, model, settings, seed, CPU, checkpoint, "test")


def assert_same(first, second):
    """Scores are equal bit for bit, the history but for the time it took."""
    pd.testing.assert_frame_equal(first.scores, second.scores, check_exact=True)
    timed = ["seconds", "quadruples_per_second"]
    untimed = [trained.history.drop(columns=timed) for trained in (first, second)]
    pd.testing.assert_frame_equal(*untimed, check_exact=True)


def texts_of(data, batch):
    """Return the quadruples of a batch as texts and labels."""
    texts = np.array(list(data.sentences.index))[batch.sentences]
    corners = (texts[corner] for corner in (batch.a, batch.b, batch.c, batch.d))
    return list(zip(*corners, batch.labels.tolist(), strict=True))


def written_quadruples(files):
    """Return the training quadruples as texts and labels, read from the tables themselves."""
    corpus = read_table(files.corpus, CORPUS).set_index("candidate_id")
    prototypes = read_table(files.prototypes, PROTOTYPES)
    prototypes = prototypes.set_index(["question_type", "rank"])["candidate_id"]
    quadruples = read_table(files.quadruples["train"], QUADRUPLES)
    pairs = corpus.loc[quadruples["candidate_id"]]
    keys = list(zip(pairs["question_type"], quadruples["prototype"], strict=True))
    own = corpus.loc[prototypes.loc[keys]]
    columns = (own["question"], own["candidate"], pairs["question"], pairs["candidate"])
    return list(zip(*columns, pairs["label"], strict=True))


# Batches


@pytest.mark.parametrize("draw", ["resampled", "fixed"])
def test_an_epoch_covers_every_question_once_and_a_batch_holds_one_type(cell, draw):
    settings = with_values(batch_size=2, negatives={"draw": draw})
    seen = []
    for batch in epoch_batches(cell, settings, seed=0, epoch=1):
        questions = {c for _, _, c, _, _ in texts_of(cell, batch)}
        assert len({question.split()[0] for question in questions}) == 1
        assert len(questions) <= 2
        seen += questions
    assert sorted(seen) == sorted(set(cell.splits["train"].pairs["question"]))


def test_a_prototype_is_of_the_type_of_its_questions(cell):
    for batch in epoch_batches(cell, SMALL, seed=0, epoch=1):
        assert all(a.split()[0] == c.split()[0] for a, _, c, _, _ in texts_of(cell, batch))


def test_the_sentences_of_a_batch_are_unique_and_all_used(cell):
    for batch in epoch_batches(cell, SMALL, seed=0, epoch=1):
        used = np.concatenate([batch.a, batch.b, batch.c, batch.d])
        assert sorted(set(used)) == list(range(len(batch.sentences)))
        assert len(set(batch.sentences)) == len(batch.sentences)


@pytest.mark.parametrize("per", ["pair", "question"])
@pytest.mark.parametrize("count", [1, 2])
def test_fixed_draws_are_exactly_those_of_the_table(cell_files, per, count):
    files = cell_files(negatives=Negatives(per=per, count=count))
    data = load_cell(files, "comb", 3, lowercase=True)
    settings = with_values(negatives={"draw": "fixed", "per": per, "count": count})
    for epoch in (1, 2):
        batches = epoch_batches(data, settings, 0, epoch)
        seen = Counter(row for batch in batches for row in texts_of(data, batch))
        assert seen == Counter(written_quadruples(files))


@pytest.mark.parametrize("per", ["pair", "question"])
def test_resampled_draws_change_only_the_wrong_candidates(cell_files, per):
    files = cell_files(negatives=Negatives(per=per, count=2))
    data = load_cell(files, "comb", 3, lowercase=True)
    settings = with_values(negatives={"draw": "resampled", "per": per, "count": 2})
    epochs = []
    for epoch in (1, 2):
        batches = epoch_batches(data, settings, 0, epoch)
        epochs.append([row for batch in batches for row in texts_of(data, batch)])
    first, second = epochs
    written = written_quadruples(files)
    assert Counter(first) != Counter(second)
    pairs = data.splits["train"].pairs
    of_wrong = pairs[pairs["label"] == 0]
    wrong = set(zip(of_wrong["question"], of_wrong["candidate"], strict=True))
    for rows in epochs:
        assert Counter(row for row in rows if row[4]) == Counter(row for row in written if row[4])
        assert all((c, d) in wrong for _, _, c, d, label in rows if not label)
        drawn = Counter(row[:3] for row in rows if not row[4])
        assert drawn == Counter(row[:3] for row in written if not row[4])


def test_the_batches_follow_seed_and_epoch(cell):
    def sequence(seed, epoch):
        return [texts_of(cell, batch) for batch in epoch_batches(cell, SMALL, seed, epoch)]

    assert sequence(0, 1) == sequence(0, 1)
    assert sequence(0, 1) != sequence(0, 2)
    assert sequence(0, 1) != sequence(1, 1)


# The loss


@pytest.mark.parametrize("loss", ["printed", "hinge", "lwda", "lwda_distance", "cosine"])
def test_unique_sentences_give_the_loss_and_gradients_of_four_towers(cell_files, loss):
    """Encoding each unique sentence of a batch once equals encoding a, b, c, d one by one.

    In double precision: shifts of an untrained encoder are short and magnify rounding errors.
    """
    files = cell_files(negatives=FIXED)
    data = load_cell(files, "comb", 3, lowercase=True)
    ranker = "cosine" if loss == "cosine" else "analogy"
    settings = with_values(
        margin=0.3, negatives=FIXED, **{} if loss == "cosine" else {"loss": loss}
    )
    encoder = build_encoder("bigru", data.word_vectors, settings, seed=0).eval().double()

    def gradients():
        found = [parameter.grad.clone() for parameter in encoder.parameters()]
        encoder.zero_grad()
        return found

    batches = list(epoch_batches(data, settings, 0, 1))
    total = sum(len(batch.labels) for batch in batches)
    shared = 0.0
    for batch in batches:
        vectors = encode(encoder, data.sentences, batch.sentences, CPU)
        value = batch_loss(vectors, batch, ranker, settings) * len(batch.labels) / total
        value.backward()
        shared += value.item()
    shared_gradients = gradients()

    *corners, labels = zip(*written_quadruples(files), strict=True)
    a, b, c, d = (
        torch.cat([encode(encoder, data.sentences, data.sentences.numbers([text]), CPU)
                   for text in corner])
        for corner in corners
    )  # fmt: skip
    labels = torch.tensor(labels, dtype=torch.float64)
    if loss == "cosine":
        sides = [energy(c, d)]
    else:
        sides = [energy(a - b, c - d), energy(a - c, b - d)]
        sides = sides if loss.startswith("lwda") else sides[:1]
    if loss == "lwda_distance":
        each = [contrastive_distance(side, labels, 0.3) for side in sides]
    else:
        each = [contrastive(side, labels, 0.3, hinge=loss == "hinge") for side in sides]
    towers = sum(each).mean()
    towers.backward()
    assert shared == pytest.approx(towers.item(), abs=1e-6)
    for one, other in zip(shared_gradients, gradients(), strict=True):
        assert other.abs().max() > 0
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


def pairwise_settings(**values) -> Training:
    return with_values(loss="pairwise", margin=0.5, **values)


def test_the_pairwise_loss_is_that_of_each_pair_of_a_question_once(cell):
    batch = next(epoch_batches(cell, pairwise_settings(), 0, 1, with_prototypes=False))
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(len(batch.sentences), 4, generator=generator)
    pairs = sorted(set(zip(batch.c.tolist(), batch.d.tolist(), batch.labels.tolist(), strict=True)))
    assert len(pairs) < len(batch.labels)
    gaps = []
    for c, right, label in pairs:
        for _, wrong, other in (pair for pair in pairs if pair[0] == c):
            if label == 1 and other == 0:
                energies = energy(vectors[[c, c]], vectors[[right, wrong]])
                gaps.append(max(0, 0.5 - energies[0].item() + energies[1].item()))
    loss = batch_loss(vectors, batch, "cosine", pairwise_settings()).item()
    assert loss == pytest.approx(sum(gaps) / len(gaps), abs=1e-6)


def test_the_pairwise_loss_ignores_that_a_pair_comes_twice(cell):
    batch = next(epoch_batches(cell, pairwise_settings(), 0, 1, with_prototypes=False))
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(len(batch.sentences), 4, generator=generator)
    twice = batch._replace(
        c=np.r_[batch.c, batch.c[:5]],
        d=np.r_[batch.d, batch.d[:5]],
        labels=np.r_[batch.labels, batch.labels[:5]],
    )
    once, again = (
        batch_loss(vectors, each, "cosine", pairwise_settings()).item() for each in (batch, twice)
    )
    assert once == again


# Whole trainings


def test_the_tables_have_the_columns_of_their_schemas(cell, tmp_path):
    scores, history, _ = train(cell, tmp_path / "a.pt")
    write_table(scores, SCORES, tmp_path / "scores.parquet")
    write_table(history, HISTORY, tmp_path / "history.parquet")
    assert history["epoch"].tolist() == [1, 2, 3]
    assert set(scores["seed"]) == {0}
    for split in ("dev", "test"):
        own = scores.loc[scores["split"] == split, "candidate_id"]
        assert own.tolist() == cell.splits[split].pairs["candidate_id"].tolist()


@pytest.mark.parametrize("model", [ANALOGY, SIMILARITY], ids=["analogy", "similarity"])
def test_the_same_seed_gives_the_same_bits_and_another_does_not(cell, tmp_path, model):
    first = train(cell, tmp_path / "a.pt", model=model)
    assert_same(first, train(cell, tmp_path / "b.pt", model=model))
    other = train(cell, tmp_path / "c.pt", model=model, seed=1)
    assert not first[0]["score"].equals(other[0]["score"])


@pytest.mark.parametrize(
    ("place", "call"),
    [
        ("encode", 1),
        ("encode", 9),
        ("measure_questions", 2),
        ("save_state", 1),
        ("save_state", 3),
    ],
)
def test_an_interrupted_training_resumes_to_the_same_bits(cell, tmp_path, monkeypatch, place, call):
    settings = with_values(max_epochs=4, patience=4)
    expected = train(cell, tmp_path / "whole.pt", settings)
    calls = []
    with monkeypatch.context() as patched:
        original = getattr(loop, place)

        def interrupted(*arguments):
            calls.append(place)
            if len(calls) == call:
                raise KeyboardInterrupt
            return original(*arguments)

        patched.setattr(loop, place, interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(cell, tmp_path / "cut.pt", settings)
    assert_same(train(cell, tmp_path / "cut.pt", settings), expected)


def test_a_finished_training_is_read_from_its_checkpoint(cell, tmp_path, monkeypatch):
    expected = train(cell, tmp_path / "a.pt")
    before = (tmp_path / "a.pt").read_bytes()
    monkeypatch.setattr(loop, "epoch_batches", None)
    again = train(cell, tmp_path / "a.pt")
    assert_same(again, expected)
    pd.testing.assert_frame_equal(again[1], expected[1])
    assert (tmp_path / "a.pt").read_bytes() == before


@pytest.mark.parametrize("part", [0, 0.5, 0.99])
def test_a_truncated_checkpoint_is_named(cell, tmp_path, part):
    path = tmp_path / "a.pt"
    train(cell, path)
    data = path.read_bytes()
    path.write_bytes(data[: int(part * len(data))])
    with pytest.raises(AnalogyQAError, match=r"a\.pt: damaged checkpoint .*Delete it"):
        train(cell, path)


def test_a_checkpoint_that_runs_code_is_refused(cell, tmp_path):
    torch.save({"state": train}, tmp_path / "a.pt")
    with pytest.raises(AnalogyQAError, match=r"a\.pt: damaged checkpoint"):
        train(cell, tmp_path / "a.pt")


def test_a_loss_that_is_not_a_number_stops_and_keeps_the_last_epoch(cell, tmp_path, monkeypatch):
    train(cell, tmp_path / "a.pt", with_values(max_epochs=1))
    before = (tmp_path / "a.pt").read_bytes()
    monkeypatch.setattr(loop, "batch_loss", lambda vectors, *_: vectors.sum() * float("nan"))
    with pytest.raises(AnalogyQAError, match=r"test, epoch 2: the loss is not .*learning_rate"):
        train(cell, tmp_path / "a.pt")
    assert (tmp_path / "a.pt").read_bytes() == before


def measured_as(monkeypatch, values):
    """Let the dev MRR of the epochs be the given values."""
    remaining = iter(values)
    frames = (pd.DataFrame({"ap": [value], "rr": [value]}) for value in remaining)
    monkeypatch.setattr(loop, "measure_questions", lambda *_: next(frames))


def test_training_stops_when_dev_has_not_risen_for_patience_epochs(cell, tmp_path, monkeypatch):
    measured_as(monkeypatch, [0.2, 0.5, 0.5, 0.4, 0.9])
    _, history, _ = train(cell, tmp_path / "a.pt", with_values(max_epochs=9, patience=2))
    assert history["dev_mrr"].tolist() == [0.2, 0.5, 0.5, 0.4]


def test_the_epoch_with_the_best_dev_mrr_is_scored(cell, tmp_path, monkeypatch):
    measured_as(monkeypatch, [0.2, 0.5])
    until_best, *_ = train(cell, tmp_path / "b.pt", with_values(max_epochs=2))
    measured_as(monkeypatch, [0.2, 0.5, 0.4, 0.3])
    longer, *_ = train(cell, tmp_path / "c.pt", with_values(max_epochs=4, patience=4))
    pd.testing.assert_frame_equal(longer, until_best, check_exact=True)


@pytest.mark.parametrize("model", [ANALOGY, SIMILARITY], ids=["analogy", "similarity"])
def test_the_encoder_learns(cell, tmp_path, model):
    settings = Training(
        sentence_dim=8, dropout=0, weight_decay=0, learning_rate=0.02, batch_size=4, max_epochs=12,
        patience=12,
    )  # fmt: skip
    torch.manual_seed(0)
    untrained = arrays_of(build_encoder("bigru", cell.word_vectors, settings, 0).eval(), CPU)
    scores = scores_table(cell, "dev", 0, *score_split(untrained, cell, "dev", model))
    before = measure_questions(scores, cell.splits["dev"].question_types)["rr"].mean()
    scores, history, _ = train(cell, tmp_path / "a.pt", settings, model)
    assert history["loss"].iloc[-1] < 0.7 * history["loss"].iloc[0]
    assert history["dev_mrr"].max() > before + 0.1
    test = scores[scores["split"] == "test"]
    assert measure_questions(test, cell.splits["test"].question_types)["rr"].mean() > 0.8


@pytest.mark.parametrize("encoder", ["bigru", "cnn"])
def test_the_pairwise_loss_trains(cell, tmp_path, encoder):
    settings = pairwise_settings(
        sentence_dim=8, dropout=0, weight_decay=0, learning_rate=0.02, max_epochs=12, patience=12
    )
    model = Model(title="P", encoder=encoder, vectors="some", ranker="cosine")
    scores, history, _ = train(cell, tmp_path / "a.pt", settings, model)
    assert history["loss"].iloc[-1] < 0.7 * history["loss"].iloc[0]
    test = scores[scores["split"] == "test"]
    assert measure_questions(test, cell.splits["test"].question_types)["rr"].mean() > 0.8


def test_decoupled_weight_decay_is_another_training(cell, tmp_path):
    coupled, decoupled = (
        train(cell, tmp_path / f"{way}.pt", with_values(weight_decay_coupling=way)).scores["score"]
        for way in ("coupled", "decoupled")
    )
    assert not coupled.equals(decoupled)


def test_dropout_acts_in_training_only(cell, tmp_path):
    first, second = (
        train(cell, tmp_path / f"{dropout}.pt", with_values(dropout=dropout))
        for dropout in (0, 0.9)
    )
    assert first[1]["loss"].tolist() != second[1]["loss"].tolist()
    assert_same(second, train(cell, tmp_path / "0.9.pt", with_values(dropout=0.9)))


def test_what_requires_no_gradient_stays_as_it_is(cell, tmp_path, monkeypatch):
    def with_frozen_bias(*arguments):
        encoder = build_encoder(*arguments)
        encoder.gru.bias_ih_l0.requires_grad_(False)
        return encoder

    monkeypatch.setattr(loop, "build_encoder", with_frozen_bias)
    train(cell, tmp_path / "a.pt")
    before = build_encoder("bigru", cell.word_vectors, SMALL, 0).state_dict()
    after = torch.load(tmp_path / "a.pt", weights_only=True)["encoder"]
    same = {name for name, values in before.items() if torch.equal(values, after[name])}
    assert same == {"gru.bias_ih_l0"}
