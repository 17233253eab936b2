"""Train an encoder, and its ranker if that learns too, and choose the epoch on dev."""

import logging
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from analogyqa.errors import AnalogyQAError
from analogyqa.measures import mean_values, measure_items
from analogyqa.rankers import Quadruples, unranked
from analogyqa.schemas import HISTORY
from analogyqa.settings.systems import Training
from analogyqa.training.data import split_evenly
from analogyqa.training.devices import note_machine
from analogyqa.training.learner import Learner, load_state, save_state
from analogyqa.training.scoring import array_encoder, score_split, scores_table

log = logging.getLogger(__name__)

CONSTANTS = np.linspace(-1, 1, 41).tolist()  # energies of `ConstantRanker`
SCORE_BATCH = 1024  # pairs


class TrainedSeed(NamedTuple):
    """The result of a training run."""

    scores: pd.DataFrame  # of dev and test, a table of schema SCORES
    history: pd.DataFrame  # a table of schema HISTORY
    machines: list[dict]  # as `devices.note_machine` notes them


def train_seed(
    learner: Learner,
    checkpoint: Path,
    name: str,
    on_epoch: Callable[[list[list]], None] = lambda history: None,
    start: dict[str, Tensor] | None = None,
) -> TrainedSeed:
    """Train one seed, and score dev and test with the weights of its best epoch.

    The state is saved after each epoch. An interrupted training run resumes at its last epoch and
    gives, on the same kind of CPU, the same bytes as an uninterrupted one. It may resume on another
    device. A finished one is read from its checkpoint, also by a system that differs only in the
    weights it scores with.

    Args:
        learner: The system with the tables of this seed, and its initial weights.
        checkpoint: The file for the state of this training run alone.
        name: The name of the training run in the log.
        on_epoch: Called with the history so far, as rows of HISTORY, when a training run resumes
            and after each saved epoch.
        start: The first weights of the encoder; None to draw them.

    Raises AnalogyQAError when the loss is not a number, or the checkpoint is damaged.
    """
    system, data, seed, device = learner.system, learner.data, learner.seed, learner.device
    training = system.training
    # The history and the best epoch are kept for each version of the weights.
    state: dict[str, Any] = {"epoch": 0, "history": {}, "best": {}}
    if checkpoint.exists():
        state = load_state(checkpoint, device)
        status = "finished" if _is_finished(state, training) else "resumed"
        if status == "resumed":
            learner.load_state_dict(state)
        log.info("%s: %s after epoch %d", name, status, state["epoch"])
        on_epoch(state["history"][system.scoring_weights])
    elif start:
        learner.encoder.load_state_dict(start)
    precision = training.precision if system.has_precision else "float32"
    note_machine(state, device, name, precision)
    while not _is_finished(state, training):
        epoch = state["epoch"] + 1
        torch.manual_seed(int(np.random.default_rng([seed, 3, epoch]).integers(2**31)))
        results = _train_epoch(learner, epoch)
        loss = results.pop("loss")
        if not math.isfinite(loss):
            raise AnalogyQAError(
                f"{name}, epoch {epoch}: the loss is not a number; the training has diverged. "
                "Lower training.learning_rate."
            )
        for version, in_place in learner.weight_versions().items():
            with in_place:
                dev = score_learner(learner, "dev")
                table = scores_table(data, "dev", seed, *dev)
                means = mean_values(measure_items(table, data.splits["dev"].groups))
                value = means[training.select_by]
                before = state["best"].get(version)
                if not before or value > before["value"] or training.keeps == "last":
                    weights = learner.model.state_dict().items()
                    state["best"][version] = {
                        "epoch": epoch,
                        "value": value,
                        "weights": {key: weight.clone() for key, weight in weights},
                        "dev": [*map(torch.from_numpy, dev)],
                    }
            dev_means = {f"dev_{measure}": mean for measure, mean in means.items()}
            rows = {"loss": loss, **dev_means, **results}.items()
            state["history"].setdefault(version, []).extend([seed, epoch, *row] for row in rows)
            log.info(
                "%s: epoch %d, loss %.4f, dev %s %.4f by the %s weights, %.1f s",
                *(name, epoch, loss, training.select_by, value, version, results["seconds"]),
            )
        state.update(epoch=epoch, **learner.state_dict())
        if _is_finished(state, training):  # what only a further step would need
            for key in learner.state_dict():
                del state[key]
        save_state(state, checkpoint)
        on_epoch(state["history"][system.scoring_weights])
    best = state["best"][system.scoring_weights]
    learner.model.load_state_dict(best["weights"])
    best_dev = [column.cpu().numpy() for column in best["dev"]]
    tables = [
        scores_table(data, "dev", seed, *best_dev),
        scores_table(data, "test", seed, *score_learner(learner, "test")),
    ]
    history = pd.DataFrame(state["history"][system.scoring_weights], columns=HISTORY.names)
    return TrainedSeed(pd.concat(tables, ignore_index=True), history, state["machines"])


def _train_epoch(learner: Learner, epoch: int) -> dict[str, float]:
    """Take the steps of an epoch; return its mean loss, its seconds and its examples per second.

    For the first epoch, also return `constant_loss`, the lowest loss of rankers that give every
    pair the same energy. A run that learns has a loss below it.
    """
    started = time.perf_counter()
    loss = 0.0
    examples = 0
    sides = learner.system.ranker_spec.sides
    constants = [ConstantRanker(sides, energy) for energy in CONSTANTS] if epoch == 1 else []
    constant_losses = np.zeros(len(constants))
    learner.model.train()
    for batch in learner.batches(epoch):
        value, vectors = learner.step(batch)
        loss += value
        examples += len(batch.labels)
        if constants:
            quadruples, labels = batch.quadruples(vectors)
            losses = (learner.loss(constant, quadruples, labels) for constant in constants)
            constant_losses += [learner.summed(loss, labels).item() for loss in losses]
    seconds = time.perf_counter() - started
    results = {"loss": loss / max(examples, 1), "seconds": seconds}
    results["examples_per_second"] = examples / seconds
    if constants:
        results["constant_loss"] = float(constant_losses.min() / max(examples, 1))
    return results


@torch.no_grad()
def score_learner(learner: Learner, split: str) -> tuple[np.ndarray, np.ndarray]:
    """Score a split with the present weights: as `score_split`, also for a ranker that learns."""
    learner.model.eval()
    data = learner.data
    if not learner.system.ranker_spec.trained:
        return score_split(
            array_encoder(learner.encoder, learner.device), data, split, learner.ranker
        )
    part = data.splits[split]
    # Pairs of similar length share a batch, so that little is padded.
    order = np.argsort(data.sentences.lengths[part.candidates], kind="stable")
    scores, none = np.empty(len(order), dtype=np.float32), torch.zeros(0, dtype=torch.long)
    for rows in split_evenly(order, SCORE_BATCH):
        both = np.concatenate([part.questions[rows], part.candidates[rows]])
        unique, inverse = np.unique(both, return_inverse=True)
        c, d = torch.from_numpy(inverse).to(learner.device).chunk(2)
        quadruples = Quadruples(learner.encode(unique), none, none, c, d)
        (energies,) = learner.ranker.energies(quadruples)
        scores[rows] = energies.cpu().numpy()
    return unranked(scores)


class ConstantRanker(NamedTuple):
    """A ranker that gives every pair the same energy, on one or both `sides`."""

    sides: int
    energy: float

    def energies(self, quadruples: Quadruples, both_sides: bool = False) -> list[Tensor]:
        energies = quadruples.vectors.new_full((len(quadruples.c),), self.energy)
        return [energies] * (self.sides if both_sides else 1)

    def distances(self, quadruples: Quadruples) -> list[Tensor]:
        return [1 + energies for energies in self.energies(quadruples, both_sides=True)]


def _is_finished(state: dict, training: Training) -> bool:
    last_gain = max((best["epoch"] for best in state["best"].values()), default=0)
    epochs_without_gain = state["epoch"] - last_gain
    return state["epoch"] >= training.max_epochs or epochs_without_gain >= training.patience
