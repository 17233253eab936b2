"""Training sees exactly its quadruples, resumes to the same bytes, and learns."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analogyqa.encoders import build_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.measures import RANKED, mean_values, measure_items
from analogyqa.objectives.losses import contrastive
from analogyqa.objectives.specs import OBJECTIVES
from analogyqa.rankers import Quadruples, build_ranker
from analogyqa.rankers.energy import energy
from analogyqa.schemas import HISTORY, SCORES, write_table
from analogyqa.settings.systems import Negatives, Training
from analogyqa.training import learner, loop
from analogyqa.training.batches import quadruple_batches
from analogyqa.training.data import load_cell
from analogyqa.training.learner import Learner, WeightAverages, encode
from analogyqa.training.loop import CONSTANTS, ConstantRanker, train_seed
from analogyqa.training.scoring import array_encoder, score_split, scores_table
from builders.cells import COMB, stop_after, trained_system, written_quadruples

CPU = torch.device("cpu")
torch.set_num_threads(1)  # the tensors are tiny: more threads wait for each other
# For training runs long enough to learn.
LEARNING = {"sentence_dim": 8, "dropout": 0, "weight_decay": 0, "learning_rate": 0.02}
LEARNING |= {"max_epochs": 12, "patience": 12}


def train(data, checkpoint, system=None, seed=0):
    return train_seed(Learner(system or trained_system(), data, seed, CPU), checkpoint, "test")


def history_values(trained, measure):
    history = trained.history
    return history.loc[history["measure"] == measure, "value"].tolist()


def assert_same(first, second):
    """Compare scores and histories, without times, bit by bit."""
    pd.testing.assert_frame_equal(first.scores, second.scores, check_exact=True)
    untimed = [
        trained.history[~trained.history["measure"].isin(["seconds", "examples_per_second"])]
        for trained in (first, second)
    ]
    pd.testing.assert_frame_equal(*untimed, check_exact=True)


# The loss


@pytest.mark.parametrize(
    ("loss", "ranker"),
    [
        *((name, "analogy") for name, entry in OBJECTIVES.items() if not entry.ranks_pairs),
        ("printed", "cosine"),
    ],
)
def test_unique_sentences_give_the_loss_and_gradients_of_four_towers(cell_files, loss, ranker):
    """Encoding each unique sentence of a batch once equals encoding a, b, c, d one by one.

    In double precision: shifts of an untrained encoder are short and magnify rounding errors.
    """
    fixed = Negatives(draw="fixed")
    files = cell_files(negatives=fixed)
    data = load_cell(files, COMB, trained_system(), lowercase=True)
    system = trained_system(ranker, loss=loss, margin=0.3, negatives=fixed)
    encoder = build_encoder("bigru", data.word_vectors, system.training, seed=0).eval().double()
    objective = partial(OBJECTIVES[loss].load(), build_ranker(system), training=system.training)

    def take_gradients():
        values = [parameter.grad.clone() for parameter in encoder.parameters()]
        encoder.zero_grad()
        return values

    *corners, labels = zip(*written_quadruples(files), strict=True)
    shared_loss = 0.0
    for batch in quadruple_batches(data, system.training, 0, 1, system.compares):
        vectors = encode(encoder, data.sentences, batch.sentences, CPU)
        value = objective(*batch.quadruples(vectors)) * len(batch.labels) / len(labels)
        value.backward()
        shared_loss += value.item()
    shared_gradients = take_gradients()
    text_vectors = {
        text: encode(encoder, data.sentences, data.sentences.numbers([text]), CPU)
        for text in set().union(*corners)
    }
    vectors = torch.cat([text_vectors[text] for text in itertools.chain(*corners)])
    quadruples = Quadruples(vectors, *torch.arange(len(vectors)).view(4, -1))
    four_towers = objective(quadruples, torch.tensor(labels, dtype=torch.float64))
    four_towers.backward()
    assert shared_loss == pytest.approx(four_towers.item(), abs=1e-6)
    for gradient, expected in zip(shared_gradients, take_gradients(), strict=True):
        assert expected.abs().max() > 0
        torch.testing.assert_close(gradient, expected, atol=1e-6, rtol=0)


# Training runs


def test_the_tables_have_the_columns_of_their_schemas(cell, tmp_path):
    scores, history, _ = train(cell, tmp_path / "a.pt")
    write_table(scores, SCORES, tmp_path / "scores.parquet")
    write_table(history, HISTORY, tmp_path / "history.parquet")
    measures = ["loss", *(f"dev_{name}" for name in RANKED), "seconds", "examples_per_second"]
    expected = [(epoch, name) for epoch in (1, 2, 3) for name in measures]
    expected.insert(len(measures), (1, "constant_loss"))
    assert list(zip(history["epoch"], history["measure"], strict=True)) == expected
    assert set(history["seed"]) == set(scores["seed"]) == {0}
    assert np.isfinite(history["value"]).all()
    for split in ("dev", "test"):
        candidate_ids = scores.loc[scores["split"] == split, "candidate_id"]
        assert candidate_ids.tolist() == cell.splits[split].pairs["candidate_id"].tolist()


@pytest.mark.parametrize(
    ("module", "function", "call", "training"),
    [
        (learner, "encode", 9, {}),
        (loop, "measure_items", 2, {"weight_averaging": 0.9}),
        (loop, "save_state", 1, {"precision": "bfloat16"}),
        (loop, "save_state", 2, {"weight_averaging": 0.9}),
    ],
)
def test_an_interrupted_training_run_resumes_to_the_same_bits(
    cell, tmp_path, monkeypatch, module, function, call, training
):
    system = trained_system(max_epochs=2, **training)
    expected = train(cell, tmp_path / "whole.pt", system)
    original, calls = getattr(module, function), itertools.count(1)

    def interrupted(*arguments):
        if next(calls) == call:
            raise KeyboardInterrupt
        return original(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(module, function, interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(cell, tmp_path / "cut.pt", system)
    assert_same(train(cell, tmp_path / "cut.pt", system), expected)


def train_and_stop(data, checkpoint, system, epochs):
    with pytest.raises(KeyboardInterrupt):
        train_seed(Learner(system, data, 0, CPU), checkpoint, "test", stop_after(epochs))


def test_a_loss_that_is_not_a_number_stops_training_and_keeps_the_last_epoch(
    cell, tmp_path, monkeypatch
):
    train_and_stop(cell, tmp_path / "a.pt", trained_system(), 1)
    before = (tmp_path / "a.pt").read_bytes()
    printed = "analogyqa.objectives.losses.printed"
    monkeypatch.setattr(printed, lambda _, quadruples, *__: quadruples.vectors.sum() * float("nan"))
    with pytest.raises(AnalogyQAError, match=r"test, epoch 2: the loss is not .*learning_rate"):
        train(cell, tmp_path / "a.pt")
    assert (tmp_path / "a.pt").read_bytes() == before


def set_dev_measures(monkeypatch, values, measure="mrr"):
    """Give a dev measure these values in successive epochs; the other measures fall."""
    means = [{**dict.fromkeys(RANKED, -i), measure: value} for i, value in enumerate(values)]
    remaining = iter(means)
    monkeypatch.setattr(loop, "mean_values", lambda _: next(remaining))


@pytest.mark.parametrize("measure", ["mrr", "map"])
def test_training_stops_when_dev_has_not_risen_for_patience_epochs(
    cell, tmp_path, monkeypatch, measure
):
    set_dev_measures(monkeypatch, [0.2, 0.5, 0.5, 0.4, 0.9], measure)
    system = trained_system(max_epochs=9, patience=2, select_by=measure)
    values = history_values(train(cell, tmp_path / "a.pt", system), f"dev_{measure}")
    assert values == [0.2, 0.5, 0.5, 0.4]


def test_the_epoch_with_the_best_dev_measure_is_scored(cell, tmp_path, monkeypatch):
    set_dev_measures(monkeypatch, [0.2, 0.5], "map")
    until_best = train(cell, tmp_path / "b.pt", trained_system(max_epochs=2, select_by="map"))
    set_dev_measures(monkeypatch, [0.2, 0.5, 0.4], "map")
    longer = train(cell, tmp_path / "c.pt", trained_system(select_by="map"))
    pd.testing.assert_frame_equal(longer.scores, until_best.scores, check_exact=True)


def test_the_last_epoch_is_scored_if_it_is_kept(cell, tmp_path, monkeypatch):
    system = trained_system(max_epochs=3, patience=1, keeps="last", select_by="map")
    set_dev_measures(monkeypatch, [0.5, 0.2, 0.4], "map")
    last = train(cell, tmp_path / "d.pt", system)
    set_dev_measures(monkeypatch, [0.1, 0.2, 0.3], "map")
    rising = train(cell, tmp_path / "e.pt", trained_system(max_epochs=3, select_by="map"))
    pd.testing.assert_frame_equal(last.scores, rising.scores, check_exact=True)


def compute_mrr(data, scores, split):
    rows = scores[scores["split"] == split]
    return mean_values(measure_items(rows, data.splits[split].groups))["mrr"]


@pytest.mark.parametrize(
    ("labels", "sides", "training", "loss"),
    [
        ([1, 1], 2, {}, 0),
        ([1, 0, 0, 0], 2, {"margin": 0.2}, 3 / 16 * 0.64),
        ([1, 0], 2, {"loss": "lwda", "margin": 0.2}, 0.32),  # over both sides
        ([1, 0], 1, {"loss": "lwda", "margin": 0.2}, 0.16),
        ([1, 0], 2, {"loss": "lwda_euclidean", "margin": 0.2}, 0.02),  # a distance of .1
        ([1, 0, 0], 2, {"loss": "pairwise", "margin": 0.3}, 0.3),
    ],
)
def test_the_loss_of_a_constant_by_hand(labels, sides, training, loss):
    training, rows = Training(**{"loss": "printed"} | training), torch.arange(len(labels))
    quadruples = Quadruples(torch.ones(9, 2), *[torch.zeros_like(rows)] * 3, rows)
    arguments = quadruples, torch.tensor(labels, dtype=torch.float32), training
    objective = OBJECTIVES[training.loss].load()
    losses = [objective(ConstantRanker(sides, energy), *arguments) for energy in CONSTANTS]
    assert min(losses).item() == pytest.approx(loss, abs=1e-6)


def test_the_first_epoch_has_the_loss_of_a_constant_which_changes_no_weights(
    cell, tmp_path, monkeypatch
):
    system = trained_system(margin=0.3, max_epochs=1)
    first = train(cell, tmp_path / "a.pt", system)
    (constant,) = history_values(first, "constant_loss")
    batches = quadruple_batches(cell, system.training, seed=0, epoch=1)
    right = np.concatenate([batch.labels for batch in batches]).mean()
    energies = np.array(CONSTANTS)
    losses = right * (1 - energies) ** 2 + (1 - right) * (energies - 0.3) ** 2
    assert constant == pytest.approx(losses.min(), rel=1e-5)
    monkeypatch.setattr(loop, "CONSTANTS", [])
    second = train(cell, tmp_path / "b.pt", system)
    assert history_values(second, "constant_loss") == []
    assert history_values(first, "loss") == history_values(second, "loss")
    pd.testing.assert_frame_equal(first.scores, second.scores, check_exact=True)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_the_loss_of_an_epoch_is_the_mean_over_its_quadruples(cell, tmp_path, batch_size):
    """Steps too short to change a weight leave the losses of the first weights."""
    frozen = {"learning_rate": 1e-30, "weight_decay": 0, "dropout": 0, "max_epochs": 1}
    system = trained_system(batch_size=batch_size, **frozen)
    (recorded,) = history_values(train(cell, tmp_path / "a.pt", system), "loss")
    encoder = build_encoder("bigru", cell.word_vectors, system.training, seed=0)
    losses = []
    for batch in quadruple_batches(cell, system.training, seed=0, epoch=1):
        vectors = encode(encoder, cell.sentences, batch.sentences, CPU).detach()
        a, b, c, d = (vectors[rows] for rows in (batch.a, batch.b, batch.c, batch.d))
        losses += contrastive(energy(a - b, c - d), torch.from_numpy(batch.labels), 0.1).tolist()
    assert recorded == pytest.approx(np.mean(losses), rel=1e-5)


@pytest.mark.parametrize(
    ("ranker", "encoder", "training"),
    [
        ("hybrid", "bigru", {}),
        ("centroid", "bigru", {}),
        ("cosine", "cnn", {"loss": "pairwise", "margin": 0.5}),
    ],
)
def test_the_encoder_learns(cell, tmp_path, ranker, encoder, training):
    system = trained_system(ranker, encoder, **LEARNING | training)
    untrained = array_encoder(
        build_encoder(encoder, cell.word_vectors, system.training, 0).eval(), CPU
    )
    scored = score_split(untrained, cell, "dev", build_ranker(system))
    before = compute_mrr(cell, scores_table(cell, "dev", 0, *scored), "dev")
    trained = train(cell, tmp_path / "a.pt", system)
    losses = history_values(trained, "loss")
    assert losses[-1] < 0.7 * losses[0]
    assert max(history_values(trained, "dev_mrr")) > before + 0.1
    assert compute_mrr(cell, trained.scores, "test") > 0.8


@pytest.mark.parametrize("ranker", ["ap_cnn", "compare_aggregate"])
def test_a_ranker_over_words_learns_whatever_the_length_of_their_vectors(cell, tmp_path, ranker):
    training = LEARNING | {"sentence_dim": 6, "loss": "pairwise", "margin": 0.5}
    assert cell.word_vectors.shape[1] != training["sentence_dim"]
    system = trained_system(ranker, "words", **training)
    losses = history_values(train(cell, tmp_path / "a.pt", system), "loss")
    assert losses[-1] < 0.8 * losses[0]


def test_one_training_run_scores_with_last_or_averaged_weights(cell, tmp_path, monkeypatch):
    plain = train(cell, tmp_path / "plain.pt")
    averaged = trained_system(weight_averaging=0.95)
    last = averaged.model_copy(update={"scores_with": "last"})
    expected = train(cell, tmp_path / "averaged.pt", averaged)
    monkeypatch.setattr(learner, "encode", None)  # training again would fail
    assert_same(train(cell, tmp_path / "averaged.pt", last), plain)
    assert_same(train(cell, tmp_path / "averaged.pt", averaged), expected)
    assert not plain.scores["score"].equals(expected.scores["score"])
    # A finished training run keeps no other weights.
    assert not {"model", "optimiser"} & set(torch.load(tmp_path / "averaged.pt"))


def test_training_continues_while_either_version_of_the_weights_improves(
    cell, tmp_path, monkeypatch
):
    """In each epoch, the last weights are measured first, then the averages."""
    set_dev_measures(monkeypatch, [0.5, 0.1, 0.4, 0.2, 0.4, 0.1, 0.4, 0.1])
    system = trained_system(max_epochs=8, patience=2, weight_averaging=0.5)
    trained = train(cell, tmp_path / "a.pt", system)
    assert history_values(trained, "dev_mrr") == [0.1, 0.2, 0.1, 0.1]


# The learner: averages of its weights, and its losses

STEPS = st.lists(st.floats(-100, 100, width=32), max_size=9)


def make_parameter(value: float) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.full((2,), value))


@given(steps=STEPS, decay=st.sampled_from([0.1, 0.5, 0.9, 0.99]))
def test_a_step_weighs_decay_to_the_power_of_the_later_steps(steps, decay):
    parameter = make_parameter(7.0)
    averages = WeightAverages([parameter], decay)
    for value in steps:
        parameter.data.fill_(value)
        averages.update()
    shares = decay ** np.arange(len(steps))[::-1]
    with averages.in_place():
        averaged = parameter.tolist()
    expected = np.average(steps, weights=shares) if steps else 7
    np.testing.assert_allclose(averaged, [expected] * 2, rtol=1e-3, atol=1e-3)
    assert parameter.tolist() == [[7, *steps][-1]] * 2


def test_an_error_restores_the_weights():
    parameter = make_parameter(7.0)
    averages = WeightAverages([parameter], 0.5)
    averages.update()
    parameter.data.fill_(1)
    with pytest.raises(KeyboardInterrupt), averages.in_place():
        assert parameter.tolist() == [7, 7]
        raise KeyboardInterrupt
    assert parameter.tolist() == [1, 1]


@pytest.mark.parametrize(("loss", "expected"), [("pairwise", 6.0), ("mix", 2.0)])
def test_a_mean_becomes_a_sum_over_the_batch_and_a_sum_stays(cell, loss, expected):
    learner = Learner(trained_system("cosine", loss=loss), cell, 0, torch.device("cpu"))
    assert learner.summed(2.0, torch.zeros(3)) == expected
