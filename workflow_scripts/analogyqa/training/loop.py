"""Train an encoder, with its ranker where that learns, too, and choose the epoch on dev."""

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

from analogyqa.encoders import Encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.examples.data import CellData
from analogyqa.measures import means_of, measure_items
from analogyqa.rankers import Quadruples
from analogyqa.schemas import HISTORY
from analogyqa.training.checkpoints import load_state, save_state
from analogyqa.training.devices import note_machine
from analogyqa.training.learner import Learner
from analogyqa.training.scoring import Encode, score_split, scores_table

if TYPE_CHECKING:
    from analogyqa.examples.batches import Batch
    from analogyqa.settings.systems import System, Training

log = logging.getLogger(__name__)

CONSTANTS = np.linspace(-1, 1, 41).tolist()
SCORE_BATCH = 1024  # pairs


def array_encoder(encoder: Encoder, device: torch.device) -> Encode:
    """Return a trained encoder as a function of arrays, without gradients."""

    @torch.no_grad()
    def on_arrays(words: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        vectors = encoder(torch.from_numpy(words).to(device), torch.from_numpy(lengths))
        return vectors.cpu().numpy()

    return on_arrays


@torch.no_grad()
def score_pairs(learner: Learner, split: str) -> np.ndarray:
    """Score all pairs of a split by a ranker that learns: float32 [M]."""
    data, part = learner.data, learner.data.splits[split]
    # Pairs of like length together, so that little is padded.
    order = np.argsort(data.sentences.lengths[part.candidates], kind="stable")
    scores, none = np.empty(len(order), dtype=np.float32), torch.zeros(0, dtype=torch.long)
    for rows in np.array_split(order, math.ceil(len(order) / SCORE_BATCH)):
        both = np.concatenate([part.questions[rows], part.candidates[rows]])
        unique, inverse = np.unique(both, return_inverse=True)
        c, d = torch.from_numpy(inverse).to(learner.device).chunk(2)
        quadruples = Quadruples(learner.encode(unique), none, none, c, d)
        (energies,) = learner.ranker.energies(quadruples)
        scores[rows] = energies.cpu().numpy()
    return scores


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
    start: dict[str, Tensor] | None = None,
) -> Trained:
    """Train one seed and score dev and test with its best epoch.

    The state is saved after each epoch; the same call resumes from there and gives, on the same
    kind of CPU, the same bytes as an uninterrupted one. It may resume on another device. A finished
    seed is read from its checkpoint, also for a system with which nothing but other weights score.

    Args:
        data: of this seed (its prototypes and quadruples).
        system: what to train and how.
        seed: of the initial weights, dropout, batches and drawn negatives.
        device: see `devices.device_for`.
        checkpoint: the file of this training and no other.
        name: for the log.
        on_epoch: called with the history so far, rows as in HISTORY, when a training resumes and
            after each epoch is saved.
        start: the first weights of the encoder, None where it begins with those it draws.

    Raises:
        AnalogyQAError: when the loss is not a number or the checkpoint is damaged.
    """
    training, learner = system.training, Learner(system, data, seed, device)
    model, ranker, sides = learner.model, learner.ranker, system.ranker_spec.sides
    # Of each kind of weights: its history and its best epoch.
    state: dict[str, Any] = {"epoch": 0, "history": {}, "best": {}}
    if checkpoint.exists():
        state = load_state(checkpoint, device)
        if not _finished(state, training):
            learner.load_state_dict(state)
        log.info("%s: resumed after epoch %d", name, state["epoch"])
        on_epoch(state["history"][system.scoring_weights])
    elif start:
        learner.encoder.load_state_dict(start)
    note_machine(state, device, name)

    def scores_of(split: str) -> tuple[np.ndarray, np.ndarray]:
        model.eval()
        if system.ranker_spec.trained:
            scores = score_pairs(learner, split)
            return scores, np.full(len(scores), -1)
        return score_split(array_encoder(learner.encoder, device), data, split, ranker)

    while not _finished(state, training):
        epoch = state["epoch"] + 1
        torch.manual_seed(int(np.random.default_rng([seed, 3, epoch]).integers(2**31)))
        started, loss, examples = time.perf_counter(), 0.0, 0
        constant = LossOfConstants(learner.summed_loss, sides) if epoch == 1 else None
        model.train()
        for batch in learner.batches(epoch):
            value, vectors = learner.step(batch)
            loss += value
            examples += len(batch.labels)
            if constant:
                constant.add(vectors, batch)
        seconds = time.perf_counter() - started
        loss /= max(examples, 1)
        if not math.isfinite(loss):
            raise AnalogyQAError(
                f"{name}, epoch {epoch}: the loss is not a number; the training has diverged. "
                "Lower training.learning_rate."
            )
        after = {"seconds": seconds, "examples_per_second": examples / seconds}
        if constant:
            after["constant_loss"] = constant.lowest()
        for kind, in_place in learner.kinds_of_weights().items():
            with in_place:
                found = scores_of("dev")
                table = scores_table(data, "dev", seed, *found)
                dev_means = means_of(measure_items(table, data.splits["dev"].groups))
                value = dev_means[training.select_by]
                if kind not in state["best"] or value > state["best"][kind]["value"]:
                    state["best"][kind] = {
                        "epoch": epoch,
                        "value": value,
                        "weights": {key: each.clone() for key, each in model.state_dict().items()},
                        "dev": [*map(torch.from_numpy, found)],
                    }
            dev_values = {f"dev_{measure}": each for measure, each in dev_means.items()}
            rows = {"loss": loss, **dev_values, **after}.items()
            state["history"].setdefault(kind, []).extend([seed, epoch, *row] for row in rows)
            log.info(
                "%s: epoch %d, loss %.4f, dev %s %.4f by the %s weights, %.1f s",
                *(name, epoch, loss, training.select_by, value, kind, seconds),
            )
        state.update(epoch=epoch, **learner.state_dict())
        if _finished(state, training):  # no step will follow
            for name in learner.state_dict():
                del state[name]
        save_state(state, checkpoint)
        on_epoch(state["history"][system.scoring_weights])
    best = state["best"][system.scoring_weights]
    model.load_state_dict(best["weights"])
    found = {"dev": [each.cpu().numpy() for each in best["dev"]], "test": scores_of("test")}
    tables = [scores_table(data, split, seed, *own) for split, own in found.items()]
    history = pd.DataFrame(state["history"][system.scoring_weights], columns=HISTORY.names)
    return Trained(pd.concat(tables, ignore_index=True), history, state["machines"])


class LossOfConstants:
    """The loss of an epoch if all energies were one number: what is to be learnt lies below it.

    It stands in for a ranker.

    Args:
        summed_loss: of a ranker, vectors and a batch; see `Learner`.
        sides: how many energies the ranker has, see the registry.
    """

    def __init__(self, summed_loss: Callable, sides: int) -> None:
        self.summed_loss, self.sides = summed_loss, sides
        self.losses, self.value, self.count = np.zeros(len(CONSTANTS)), 0.0, 0

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        energies = quadruples.vectors.new_full((len(quadruples.c),), self.value)
        return [energies] * (self.sides if both_sides else 1)

    def add(self, vectors: Tensor, batch: "Batch") -> None:
        for number, self.value in enumerate(CONSTANTS):
            self.losses[number] += self.summed_loss(self, vectors, batch).item()
        self.count += len(batch.labels)

    def lowest(self) -> float:
        return float(self.losses.min() / max(self.count, 1))


def _finished(state: dict, training: "Training") -> bool:
    last_gain = max((best["epoch"] for best in state["best"].values()), default=0)
    without_gain = state["epoch"] - last_gain
    return state["epoch"] >= training.max_epochs or without_gain >= training.patience
