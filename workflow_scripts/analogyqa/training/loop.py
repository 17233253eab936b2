"""Train an encoder on quadruples and choose its epoch on dev."""

import logging
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from analogyqa.encoders import Encoder, build_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.examples.batches import Batch, epoch_batches
from analogyqa.examples.data import CellData
from analogyqa.measures import means_of, measure_items
from analogyqa.rankers import Quadruples, build_ranker
from analogyqa.registry import OBJECTIVES
from analogyqa.schemas import HISTORY
from analogyqa.text import Sentences
from analogyqa.training.adam import Adam
from analogyqa.training.checkpoints import load_state, save_state
from analogyqa.training.devices import note_machine
from analogyqa.training.scoring import Encode, score_evaluated, score_split, scores_table

if TYPE_CHECKING:
    from analogyqa.settings.systems import System, Training

log = logging.getLogger(__name__)

CONSTANTS = np.linspace(-1, 1, 41).tolist()


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


class Trained(NamedTuple):
    """What a training leaves: the scores of dev and test (SCORES), the history (HISTORY), and the
    machines that it ran on, each with the epoch after which it began (`devices.note_machine`)."""

    scores: pd.DataFrame
    history: pd.DataFrame
    machines: list[dict]


def train_seed(
    data: CellData,
    system: "System",
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
        system: what to train and how.
        seed: of the initial weights, dropout, batches and drawn negatives.
        device: see `devices.device_for`.
        checkpoint: the file of this training and no other.
        name: for the log.
        on_epoch: called with the history so far, rows as in HISTORY, when a training resumes and
            after each epoch is saved.

    Raises:
        AnalogyQAError: when the loss is not a number or the checkpoint is damaged.
    """
    training, ranker = system.training, build_ranker(system)
    loss_of = OBJECTIVES[training.loss].load()
    encoder = build_encoder(system.encoder, data.word_vectors, training, seed).to(device)
    decoupled = training.weight_decay_coupling == "decoupled"
    learnt = [parameter for parameter in encoder.parameters() if parameter.requires_grad]
    optimiser = Adam(learnt, training.learning_rate, training.weight_decay, decoupled)
    state: dict[str, Any] = {"epoch": 0, "history": [], "best": None, "best_value": -1.0}
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
        constant = LossOfConstants(loss_of, training, system.compares) if epoch == 1 else None
        encoder.train()
        for batch in epoch_batches(data, training, seed, epoch, system.compares):
            optimiser.zero_grad()
            vectors = encode(encoder, data.sentences, batch.sentences, device)
            value = loss_of(ranker, vectors, batch, training)
            value.backward()
            optimiser.step()
            loss += value.item() * len(batch.labels)
            quadruples += len(batch.labels)
            if constant:
                constant.add(vectors.detach(), batch)
        seconds = time.perf_counter() - started
        loss /= max(quadruples, 1)
        if not math.isfinite(loss):
            raise AnalogyQAError(
                f"{name}, epoch {epoch}: the loss is not a number; the training has diverged. "
                "Lower training.learning_rate."
            )
        encoder.eval()
        scores = scores_table(
            data, "dev", seed, *score_split(arrays_of(encoder, device), data, "dev", ranker)
        )
        dev_means = means_of(measure_items(scores, dev.groups))
        values = {
            "loss": loss,
            **{f"dev_{name}": value for name, value in dev_means.items()},
            "seconds": seconds,
            "examples_per_second": quadruples / seconds,
        }
        if constant:
            values["constant_loss"] = constant.lowest()
        state["history"] += [[seed, epoch, name, value] for name, value in values.items()]
        value = dev_means[training.select_by]
        log.info(
            "%s: epoch %d, loss %.4f, dev %s %.4f, %.1f s",
            *(name, epoch, loss, training.select_by, value, seconds),
        )
        if value > state["best_value"]:
            weights = {key: value.clone() for key, value in encoder.state_dict().items()}
            state.update(best=weights, best_epoch=epoch, best_value=value)
        state.update(epoch=epoch, encoder=encoder.state_dict(), optimiser=optimiser.state_dict())
        save_state(state, checkpoint)
        on_epoch(state["history"])
    encoder.load_state_dict(state["best"])
    encoder.eval()
    scores = score_evaluated(arrays_of(encoder, device), data, ranker, seed)
    history = pd.DataFrame(state["history"], columns=HISTORY.names)
    return Trained(scores, history, state["machines"])


class LossOfConstants:
    """The loss of an epoch if all energies were one number: what is to be learnt lies below it.

    Args:
        loss_of: the objective.
        training: its section.
        compares: whether its ranker compares with prototypes, so that it may have two sides.
    """

    def __init__(self, loss_of: Callable, training: "Training", compares: bool) -> None:
        self.loss_of, self.training, self.compares = loss_of, training, compares
        self.losses, self.value, self.count = np.zeros(len(CONSTANTS)), 0.0, 0

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        """Stand in for the ranker."""
        sides = 2 if both_sides and self.compares else 1
        return [quadruples.vectors.new_full((len(quadruples.c),), self.value)] * sides

    def add(self, vectors: Tensor, batch: Batch) -> None:
        for number, self.value in enumerate(CONSTANTS):
            loss = self.loss_of(self, vectors, batch, self.training).item()
            self.losses[number] += loss * len(batch.labels)
        self.count += len(batch.labels)

    def lowest(self) -> float:
        return float(self.losses.min() / max(self.count, 1))


def _finished(state: dict, training: "Training") -> bool:
    epochs_without_gain = state["epoch"] - state.get("best_epoch", 0)
    return state["epoch"] >= training.max_epochs or epochs_without_gain >= training.patience
