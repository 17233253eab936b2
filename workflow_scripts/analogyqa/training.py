"""Train an encoder on quadruples and choose its epoch on dev."""

import logging
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from analogyqa import losses
from analogyqa.adam import Adam
from analogyqa.cells import CellData, SplitData
from analogyqa.checkpoints import load_state, save_state
from analogyqa.config import Model, Training
from analogyqa.devices import note_machine
from analogyqa.encoders import Encoder, build_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.metrics import measure_questions
from analogyqa.quadruples import Question, draw_wrong, questions_of
from analogyqa.schemas import HISTORY
from analogyqa.scoring import Encode, score_evaluated, score_split, scores_table
from analogyqa.text import Sentences

log = logging.getLogger(__name__)


class Batch(NamedTuple):
    """Quadruples of a few questions, over the sentences that they share.

    `sentences` [u] are unique sentence numbers; a, b, c, d [n] point into them. Without prototypes
    a and b are empty.
    """

    sentences: np.ndarray
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    labels: np.ndarray


def epoch_batches(
    data: CellData, training: Training, seed: int, epoch: int, with_prototypes: bool = True
) -> Iterator[Batch]:
    """Yield the batches of an epoch: questions in random order, all quadruples of each.

    A batch holds questions of one type, so that a step encodes the prototypes of that type only.
    With `negatives.draw: resampled` the wrong candidates are drawn anew. Everything follows from
    seed and epoch, so that a resumed training sees what an uninterrupted one would.
    """
    part = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    questions = questions_of(part.pairs)
    question_of = np.empty(len(part.pairs), dtype=np.int64)
    for number, question in enumerate(questions):
        question_of[question.rows] = number
    order = np.argsort(question_of[part.rows], kind="stable")
    starts = np.searchsorted(question_of[part.rows][order], np.arange(len(questions) + 1))
    kinds = np.array([question.kind for question in questions])
    chunks = []
    for kind in np.unique(kinds):
        shuffled = generator.permutation(np.flatnonzero(kinds == kind))
        chunks += np.array_split(shuffled, math.ceil(len(shuffled) / training.batch_size))
    for chunk in generator.permutation(len(chunks)):
        rows, prototypes = [], []
        for number in chunks[chunk]:
            members = order[starts[number] : starts[number + 1]]
            own_rows, own_prototypes = part.rows[members], part.prototypes[members]
            if training.negatives.draw == "resampled":
                own_rows = _redraw(
                    questions[number], own_rows, own_prototypes, part, training, generator
                )
            rows.append(own_rows)
            prototypes.append(own_prototypes)
        if sum(map(len, rows)):
            chosen = np.concatenate(prototypes) if with_prototypes else np.zeros(0, dtype=np.int64)
            yield _batch(data, np.concatenate(rows), chosen)


def _redraw(
    question: Question,
    rows: np.ndarray,
    prototypes: np.ndarray,
    part: SplitData,
    training: Training,
    generator: np.random.Generator,
) -> np.ndarray:
    """Return the pair rows of a question's quadruples with its wrong candidates drawn anew.

    The Parquet holds the negatives of one prototype after the other.
    """
    negative = part.labels[rows] == 0
    if not negative.any():
        return rows
    count = len(np.unique(prototypes[negative]))
    redrawn = rows.copy()
    redrawn[negative] = draw_wrong(question, count, training.negatives, generator).ravel()
    return redrawn


def _batch(data: CellData, rows: np.ndarray, prototypes: np.ndarray) -> Batch:
    part = data.splits["train"]
    columns = (
        data.prototype_questions[prototypes],
        data.prototype_candidates[prototypes],
        part.questions[rows],
        part.candidates[rows],
    )
    unique, inverse = np.unique(np.concatenate(columns), return_inverse=True)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return Batch(unique, *np.split(inverse, ends), part.labels[rows])


def encode(
    encoder: Encoder, sentences: Sentences, numbers: np.ndarray, device: torch.device
) -> Tensor:
    """Encode sentences by their numbers [n], all in one batch: [n, dim]."""
    words, lengths = sentences.batch(numbers)
    return encoder(torch.from_numpy(words).to(device), torch.from_numpy(lengths))


def arrays_of(encoder: Encoder, device: torch.device) -> Encode:
    """Return a trained encoder as a function of arrays, without gradients."""

    @torch.no_grad()
    def on_arrays(words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        vectors = encoder(torch.from_numpy(words).to(device), torch.from_numpy(lengths))
        return vectors.cpu().numpy()

    return on_arrays


def batch_loss(vectors: Tensor, batch: Batch, ranker: str, training: Training) -> Tensor:
    """Return the mean loss of a batch, given the vectors [u, dim] of its unique sentences.

    `printed` and `hinge` are the readings of the CoNLL paper's eq. 9. The workshop paper sums over
    both pairs of opposite sides of the parallelogram (its eq. 3). Its text calls the energy the
    cosine between shifts; its eq. 1 prints the length of their difference, which is the same for
    both pairs, and its eq. 2 brings the energy of analogies to 0. `lwda` takes the energy and loss
    of the CoNLL paper, as printed, for each side, `lwda_distance` eq. 2 with 1 - cosine.

    The similarity baseline sees the same quadruples and reads c and d only, which is one side. The
    pairwise loss compares each pair of a question and a candidate once.
    """
    if training.loss == "pairwise":
        return _pairwise_loss(vectors, batch, training.margin)
    a, b, c, d, labels = (
        torch.from_numpy(column).to(vectors.device)
        for column in (batch.a, batch.b, batch.c, batch.d, batch.labels)
    )
    labels = labels.to(vectors.dtype)
    if ranker == "cosine":
        sides = [(vectors[c], vectors[d])]
    else:
        sides = [(vectors[a] - vectors[b], vectors[c] - vectors[d])]
        if training.loss in ("lwda", "lwda_distance"):
            sides.append((vectors[a] - vectors[c], vectors[b] - vectors[d]))
    return sum(_contrastive(losses.energy(*side), labels, training) for side in sides).mean()


def _contrastive(energies: Tensor, labels: Tensor, training: Training) -> Tensor:
    if training.loss == "lwda_distance":
        return losses.contrastive_distance(energies, labels, training.margin)
    return losses.contrastive(energies, labels, training.margin, hinge=training.loss == "hinge")


def _pairwise_loss(vectors: Tensor, batch: Batch, margin: float) -> Tensor:
    _, first = np.unique(np.stack([batch.c, batch.d]), axis=1, return_index=True)
    c, d, labels = (
        torch.from_numpy(column[first]).to(vectors.device)
        for column in (batch.c, batch.d, batch.labels)
    )
    energies = losses.energy(vectors[c], vectors[d])
    return losses.pairwise(energies, labels, c, margin)


class Trained(NamedTuple):
    """What a training leaves: the scores of dev and test (SCORES), the history (HISTORY), and the
    machines that it ran on, each with the epoch after which it began (`devices.note_machine`)."""

    scores: pd.DataFrame
    history: pd.DataFrame
    machines: list[dict]


def train_seed(
    data: CellData,
    model: Model,
    training: Training,
    seed: int,
    device: torch.device,
    checkpoint: Path,
    name: str,
    on_epoch: Callable[[list[list]], None] = lambda history: None,
) -> Trained:
    """Train one seed and score dev and test with its best epoch.

    The state is saved after each epoch; the same call resumes from there and gives, on the same
    kind of CPU, the same bytes as an uninterrupted one. It may resume on another device. A finished
    seed is read from its checkpoint.

    Args:
        data: of this seed (its prototypes and quadruples).
        model, training: what to train and how.
        seed: of the initial weights, dropout, batches and drawn negatives.
        device: see `devices.device_for`.
        checkpoint: the file of this training and no other.
        name: for the log.
        on_epoch: called with the history so far, rows as in HISTORY, when a training resumes and
            after each epoch is saved.

    Raises:
        AnalogyQAError: when the loss is not a number or the checkpoint is damaged.
    """
    encoder = build_encoder(model.encoder, data.word_vectors, training, seed).to(device)
    decoupled = training.weight_decay_coupling == "decoupled"
    optimiser = Adam(encoder.parameters(), training.learning_rate, training.weight_decay, decoupled)
    state: dict[str, Any] = {"epoch": 0, "history": [], "best": None, "best_mrr": -1.0}
    if checkpoint.exists():
        state = load_state(checkpoint, device)
        encoder.load_state_dict(state["encoder"])
        optimiser.load_state_dict(state["optimiser"])
        log.info("%s: resumed after epoch %d", name, state["epoch"])
        on_epoch(state["history"])
    note_machine(state, device, name)
    dev = data.splits["dev"]
    while not _finished(state, training):
        epoch = state["epoch"] + 1
        torch.manual_seed(int(np.random.default_rng([seed, 3, epoch]).integers(2**31)))
        started, loss, quadruples = time.perf_counter(), 0.0, 0
        encoder.train()
        with_prototypes = model.ranker == "analogy"
        for batch in epoch_batches(data, training, seed, epoch, with_prototypes):
            optimiser.zero_grad()
            vectors = encode(encoder, data.sentences, batch.sentences, device)
            value = batch_loss(vectors, batch, model.ranker, training)
            value.backward()
            optimiser.step()
            loss += value.item() * len(batch.labels)
            quadruples += len(batch.labels)
        seconds = time.perf_counter() - started
        loss /= max(quadruples, 1)
        if not math.isfinite(loss):
            raise AnalogyQAError(
                f"{name}, epoch {epoch}: the loss is not a number; the training has diverged. "
                "Lower training.learning_rate."
            )
        encoder.eval()
        scores = scores_table(
            data, "dev", seed, *score_split(arrays_of(encoder, device), data, "dev", model)
        )
        measured = measure_questions(scores, dev.question_types)
        dev_map, dev_mrr = float(measured["ap"].mean()), float(measured["rr"].mean())
        state["history"].append(
            [seed, epoch, loss, dev_map, dev_mrr, seconds, quadruples / seconds]
        )
        log.info(
            "%s: epoch %d, loss %.4f, dev MRR %.4f, %.1f s", name, epoch, loss, dev_mrr, seconds
        )
        if dev_mrr > state["best_mrr"]:
            weights = {key: value.clone() for key, value in encoder.state_dict().items()}
            state.update(best=weights, best_epoch=epoch, best_mrr=dev_mrr)
        state.update(epoch=epoch, encoder=encoder.state_dict(), optimiser=optimiser.state_dict())
        save_state(state, checkpoint)
        on_epoch(state["history"])
    encoder.load_state_dict(state["best"])
    encoder.eval()
    scores = score_evaluated(arrays_of(encoder, device), data, model, seed)
    history = pd.DataFrame(state["history"], columns=HISTORY.names)
    return Trained(scores, history, state["machines"])


def _finished(state: dict, training: Training) -> bool:
    epochs_without_gain = state["epoch"] - state.get("best_epoch", 0)
    return state["epoch"] >= training.max_epochs or epochs_without_gain >= training.patience
