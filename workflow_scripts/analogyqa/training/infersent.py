"""Train InferSent on natural language inference (Conneau et al. 2017, sections 3.1 and 3.3)."""

import logging
import math
import time
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from analogyqa.errors import AnalogyQAError
from analogyqa.files import write_json
from analogyqa.pretrained.infersent import InferSent, look_up, mark
from analogyqa.pretrained.nli import LABELS, read_nli, without_sentences
from analogyqa.settings.systems import Training
from analogyqa.text import tokenize
from analogyqa.training.devices import note_machine
from analogyqa.training.learner import load_state, save_state
from analogyqa.training.optimisers import Adam

log = logging.getLogger(__name__)

SIDES = ("premise", "hypothesis")
HIDDEN = 512
BATCH = 64
MAX_EPOCHS = 20
PATIENCE = 3
OPTIMISER = Training(learning_rate=1e-3, weight_decay=0)
LONGEST_GRADIENT = 5.0


class InferenceClassifier(nn.Module):
    """Classifies a premise u and a hypothesis v from (u, v, |u - v|, u * v) with a hidden layer.

    The layer is linear: the published code has no non-linearity in its classifier.
    """

    def __init__(self, word_dim: int, lstm_dim: int) -> None:
        super().__init__()
        self.encoder = InferSent(word_dim, lstm_dim)
        self.classifier = nn.Sequential(
            nn.Linear(4 * 2 * lstm_dim, HIDDEN), nn.Linear(HIDDEN, len(LABELS))
        )

    def forward(
        self, premises: Sequence[np.ndarray], hypotheses: Sequence[np.ndarray], vectors: Tensor
    ) -> Tensor:
        """Return the scores of the labels [n, 3]; sentences are given as rows of `vectors`."""
        u, v = self.encoder.encode_words([*premises, *hypotheses], vectors).chunk(2)
        return self.classifier(torch.cat([u, v, (u - v).abs(), u * v], dim=1))


def _batch_scores(
    network: InferenceClassifier, pairs: pd.DataFrame, vectors: Tensor
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the scores and labels of batches of pairs; words are rows of `vectors`."""
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        labels = torch.tensor(batch["label"].map(LABELS.index).tolist(), device=vectors.device)
        yield network(*(batch[side].tolist() for side in SIDES), vectors), labels


def train(
    train_files: Sequence[str],
    dev_files: Sequence[str],
    vectors: str,
    lowercase: bool,
    lstm_dim: int,
    seed: int,
    device: torch.device,
    checkpoint: Path,
    path: Path,
    max_epochs: int = MAX_EPOCHS,
    disjoint_from: Collection[str] = (),
) -> None:
    """Train an encoder and write its weights to `path`, with a `.json` record beside it.

    Keep the epoch with the best dev accuracy. Adam replaces the published stochastic gradient
    descent, whose learning rate shrinks before it has learned from a few thousand pairs. An
    interrupted training run resumes at its last epoch and gives, on a CPU with one thread, the same
    bytes as an uninterrupted one.

    The weights have the names of the published files, for `infersent.load`. From the seed follow
    the initial weights and the batches.

    Args:
        train_files, dev_files: Files that `read_nli` can read.
        vectors: A file of word vectors.
        lstm_dim: The number of states per direction; 2048 in the paper.
        checkpoint: The file for the state of this training run alone.
        disjoint_from: Sentences whose pairs are left out.

    Raises AnalogyQAError when a file cannot be read, the loss is not a number, or the checkpoint is
    damaged.
    """
    tables = [read_nli(train_files, "train"), read_nli(dev_files, "dev")]
    if disjoint_from:
        tables = [without_sentences(table, disjoint_from) for table in tables]
    texts = [text for table in tables for side in SIDES for text in table[side]]
    rows, word_vectors = look_up([mark(tokenize(text, lowercase)) for text in texts], vectors)
    word_vectors = word_vectors.to(device)
    remaining = iter(rows)
    training, dev = (
        table.assign(**{side: list(islice(remaining, len(table))) for side in SIDES})
        for table in tables
    )
    torch.manual_seed(seed)
    network = InferenceClassifier(word_vectors.shape[1], lstm_dim).to(device)
    optimiser = Adam(network.parameters(), OPTIMISER)
    state: dict[str, Any] = {"epoch": 0, "best_epoch": 0, "best_accuracy": -1.0}
    if checkpoint.exists():
        state = load_state(checkpoint, device)
        network.load_state_dict(state["network"])
        optimiser.load_state_dict(state["optimiser"])
        log.info("resumed after epoch %d", state["epoch"])
    note_machine(state, device, path.stem)
    while state["epoch"] < max_epochs and state["epoch"] - state["best_epoch"] < PATIENCE:
        epoch = state["epoch"] + 1
        started = time.perf_counter()
        order = np.random.default_rng([seed, epoch]).permutation(len(training))
        loss = _train_epoch(network, optimiser, training.iloc[order], word_vectors)
        if not math.isfinite(loss):
            raise AnalogyQAError(
                f"{path}, epoch {epoch}: the loss is not a number; the training has diverged. "
                "Check the word vectors: they may be damaged or have very large values."
            )
        accuracy = _accuracy(network, dev, word_vectors)
        log.info(
            "epoch %d: loss %.4f, dev accuracy %.4f, %.0f s",
            *(epoch, loss, accuracy, time.perf_counter() - started),
        )
        if accuracy > state["best_accuracy"]:
            best = {key: value.clone() for key, value in network.encoder.state_dict().items()}
            state.update(best=best, best_epoch=epoch, best_accuracy=accuracy)
        state.update(epoch=epoch, network=network.state_dict(), optimiser=optimiser.state_dict())
        save_state(state, checkpoint)
    save_state({key: value.cpu() for key, value in state["best"].items()}, path)
    record = {
        "dev_accuracy": state["best_accuracy"],
        "best_epoch": state["best_epoch"],
        "epochs": state["epoch"],
        "lstm_dim": lstm_dim,
        "seed": seed,
        "machines": state["machines"],
        "lowercase": lowercase,
        "pairs": {"train": len(training), "dev": len(dev)},
        "sources": {"train": list(train_files), "dev": list(dev_files), "vectors": vectors},
    }
    write_json(path.with_suffix(".json"), record)


def _train_epoch(
    network: InferenceClassifier, optimiser: Adam, pairs: pd.DataFrame, vectors: Tensor
) -> float:
    """Train on all pairs once and return the mean loss."""
    network.train()
    total = 0.0
    for scores, labels in _batch_scores(network, pairs, vectors):
        loss = F.cross_entropy(scores, labels)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), LONGEST_GRADIENT)
        optimiser.step()
        total += loss.item() * len(labels)
    return total / len(pairs)


@torch.no_grad()
def _accuracy(network: InferenceClassifier, pairs: pd.DataFrame, vectors: Tensor) -> float:
    network.eval()
    batches = _batch_scores(network, pairs, vectors)
    correct = sum(int((scores.argmax(dim=1) == labels).sum()) for scores, labels in batches)
    return correct / len(pairs)
