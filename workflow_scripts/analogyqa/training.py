"""Train an encoder on quadruples, choose the epoch on dev, score test once."""

import logging
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from analogyqa import losses, ranking
from analogyqa.checkpoints import atomic_path
from analogyqa.config import Model, Training
from analogyqa.encoders import Encoder, build_encoder
from analogyqa.errors import AnalogyQAError
from analogyqa.metrics import measure_questions
from analogyqa.quadruples import questions_of
from analogyqa.schemas import HISTORY, SCORES
from analogyqa.text import Sentences

log = logging.getLogger(__name__)

ENCODE_BATCH = 256


class SplitData(NamedTuple):
    """A split of a cell: its pairs and its quadruples as row numbers.

    `questions`, `candidates` are sentence numbers [M] and `labels` [M] of `pairs`. `prototypes` and
    `rows` are the quadruples [n]: rows of the prototypes and of the pairs.
    """

    pairs: pd.DataFrame
    questions: np.ndarray
    candidates: np.ndarray
    labels: np.ndarray
    prototypes: np.ndarray
    rows: np.ndarray

    @property
    def question_types(self) -> dict[str, str]:
        return dict(zip(self.pairs["question_id"], self.pairs["question_type"], strict=True))


class CellData(NamedTuple):
    """What one seed of a cell is trained and scored on."""

    sentences: Sentences
    word_vectors: np.ndarray | None
    prototype_ranks: np.ndarray
    prototype_questions: np.ndarray
    prototype_candidates: np.ndarray
    splits: dict[str, SplitData]


def cell_data(
    pairs: dict[str, pd.DataFrame],
    prototypes: pd.DataFrame,
    quadruples: dict[str, pd.DataFrame],
    word_vectors: np.ndarray | None,
    word_ids: dict[str, int] | None,
    lowercase: bool,
) -> CellData:
    """Number the sentences of a cell and turn its quadruples into row numbers.

    Args:
        pairs: split to the pairs of the subset (`quadruples.subset_of`).
        prototypes: the p prototypes of each type; empty for a model that needs none.
        quadruples: split to its table; a split that has none gets no quadruples.
        word_vectors: float32 [V, d], or None.
        word_ids: word to row of `word_vectors`, or None.
        lowercase: as the vocabulary was made.
    """
    texts = pd.concat([frame[column] for frame in pairs.values() for column in _TEXTS])
    sentences = Sentences(texts, word_ids, lowercase)
    train = pairs["train"].set_index("candidate_id")
    chosen = train.loc[prototypes["candidate_id"]]
    kinds = prototypes["question_type"].astype(str)
    by_rank = {key: row for row, key in enumerate(zip(kinds, prototypes["rank"], strict=True))}
    return CellData(
        sentences,
        word_vectors,
        prototypes["rank"].to_numpy(),
        sentences.numbers(chosen["question"]),
        sentences.numbers(chosen["candidate"]),
        {
            split: _split_data(frame, quadruples.get(split), sentences, by_rank)
            for split, frame in pairs.items()
        },
    )


_TEXTS = ("question", "candidate")


def _split_data(
    pairs: pd.DataFrame,
    quadruples: pd.DataFrame | None,
    sentences: Sentences,
    by_rank: dict[tuple[str, int], int],
) -> SplitData:
    numbers = [sentences.numbers(pairs[column]) for column in _TEXTS]
    prototypes = rows = np.zeros(0, dtype=np.int64)
    if quadruples is not None:
        row_of = pd.Series(np.arange(len(pairs)), index=pairs["candidate_id"])
        categories = quadruples["candidate_id"].cat
        rows = row_of.loc[categories.categories].to_numpy()[categories.codes]
        kinds = pairs["question_type"].astype(str).to_numpy()
        largest = 1 + max(rank for _, rank in by_rank)
        table = np.full((len(pairs), largest), -1, dtype=np.int64)
        for (kind, rank), row in by_rank.items():
            table[kinds == kind, rank] = row
        prototypes = table[rows, quadruples["prototype"].to_numpy()]
    return SplitData(pairs, *numbers, pairs["label"].to_numpy(), prototypes, rows)


def device_for(requested: str) -> torch.device:
    """Return the device that `auto`, `cpu` or `cuda` stands for.

    Raises AnalogyQAError when cuda is asked for where there is none.
    """
    available = torch.cuda.is_available()
    if requested == "cuda" and not available:
        raise AnalogyQAError(
            "device: cuda is asked for, but PyTorch sees no CUDA device on this machine. "
            "Use device: auto (or cpu), or run where there is a GPU and a CUDA build of PyTorch."
        )
    return torch.device("cuda" if available and requested != "cpu" else "cpu")


def encode(
    encoder: Encoder, sentences: Sentences, numbers: np.ndarray, device: torch.device
) -> Tensor:
    """Encode sentences by their numbers [n], all in one batch: [n, dim]."""
    words, lengths = sentences.batch(numbers)
    return encoder(torch.from_numpy(words).to(device), torch.from_numpy(lengths))


@torch.no_grad()
def encode_all(
    encoder: Encoder, sentences: Sentences, numbers: np.ndarray, device: torch.device
) -> np.ndarray:
    """Encode sentences [n] once each, in batches of like length: float32 [n, dim]."""
    unique, inverse = np.unique(numbers, return_inverse=True)
    order = np.argsort(sentences.lengths[unique], kind="stable")
    batches = np.array_split(order, math.ceil(len(order) / ENCODE_BATCH))
    parts = [encode(encoder, sentences, unique[part], device).cpu().numpy() for part in batches]
    vectors = np.concatenate(parts)
    return vectors[np.argsort(order, kind="stable")][inverse]


def score_split(
    encoder: Encoder, data: CellData, split: str, model: Model, device: torch.device
) -> tuple[np.ndarray, np.ndarray]:
    """Score all pairs of a split: float32 [M], and the rank of the best prototype (-1: none)."""
    part = data.splits[split]
    numbers = [part.questions, part.candidates]
    if model.ranker == "analogy":
        numbers += [data.prototype_questions, data.prototype_candidates]
    vectors = encode_all(encoder, data.sentences, np.concatenate(numbers), device)
    ends = np.cumsum([len(column) for column in numbers])[:-1]
    questions, candidates, *prototypes = np.split(vectors, ends)
    if model.ranker == "cosine":
        return ranking.cosine_scores(questions, candidates), np.full(len(questions), -1)
    scores, best = ranking.analogy_scores(
        prototypes[0] - prototypes[1],
        questions - candidates,
        part.prototypes,
        part.rows,
        model.aggregate,
    )
    return scores, data.prototype_ranks[best]


def scores_table(data: CellData, split: str, seed: int, scores, best_prototype) -> pd.DataFrame:
    """Return the scored candidates of a split as a table of schema SCORES."""
    pairs = data.splits[split].pairs[["split", "question_id", "candidate_id", "label"]]
    frame = pairs.assign(seed=seed, score=scores, best_prototype=best_prototype)
    return frame[SCORES.names]


def score_untrained(data: CellData, model: Model, training: Training, seed: int) -> pd.DataFrame:
    """Score dev and test with an encoder that is not trained."""
    torch.manual_seed(seed)
    encoder = build_encoder(model.encoder, data.word_vectors, training)
    device = torch.device("cpu")
    return pd.concat(
        [
            scores_table(data, split, seed, *score_split(encoder, data, split, model, device))
            for split in ("dev", "test")
        ],
        ignore_index=True,
    )


class Batch(NamedTuple):
    """Quadruples of a few questions, over the sentences that they share.

    `sentences` [u] are unique sentence numbers; a, b, c, d [n] point into them.
    """

    sentences: np.ndarray
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    labels: np.ndarray


def epoch_batches(data: CellData, training: Training, seed: int, epoch: int) -> Iterator[Batch]:
    """Yield the batches of an epoch: questions in random order, all quadruples of each.

    A batch holds questions of one type, so that a step encodes the prototypes of that type only.
    With `negatives.draw: resampled` the wrong candidates are drawn anew. Everything follows from
    seed and epoch, so that a resumed training sees what an uninterrupted one would.
    """
    part = data.splits["train"]
    generator = np.random.default_rng([seed, 2, epoch])
    rows = part.rows
    if training.negatives.draw == "resampled":
        rows = _resample(part, generator)
    question_of = np.empty(len(part.pairs), dtype=np.int64)
    questions = questions_of(part.pairs)
    for number, question in enumerate(questions):
        question_of[question.rows] = number
    order = np.argsort(question_of[rows], kind="stable")
    starts = np.searchsorted(question_of[rows][order], np.arange(len(questions) + 1))
    kinds = np.array([question.kind for question in questions])
    chunks = []
    for kind in np.unique(kinds):
        shuffled = generator.permutation(np.flatnonzero(kinds == kind))
        count = math.ceil(len(shuffled) / training.batch_size)
        chunks += np.array_split(shuffled, count)
    for chunk in generator.permutation(len(chunks)):
        members = [order[starts[number] : starts[number + 1]] for number in chunks[chunk]]
        chosen = np.concatenate(members)
        if len(chosen):
            yield _batch(data, rows[chosen], part.prototypes[chosen])


def _resample(part: SplitData, generator: np.random.Generator) -> np.ndarray:
    """Return the pair rows of the quadruples, each wrong candidate drawn again."""
    rows = part.rows.copy()
    counts = np.zeros(len(part.pairs), dtype=np.int64)
    starts = np.zeros(len(part.pairs), dtype=np.int64)
    wrong_rows, total = [], 0
    for question in questions_of(part.pairs):
        counts[question.rows], starts[question.rows] = len(question.wrong), total
        wrong_rows.append(question.wrong)
        total += len(question.wrong)
    wrong = np.flatnonzero(part.labels[rows] == 0)
    if len(wrong):
        drawn = starts[rows[wrong]] + generator.integers(0, counts[rows[wrong]])
        rows[wrong] = np.concatenate(wrong_rows)[drawn]
    return rows


def _batch(data: CellData, rows: np.ndarray, prototypes: np.ndarray) -> Batch:
    part = data.splits["train"]
    columns = (
        data.prototype_questions[prototypes],
        data.prototype_candidates[prototypes],
        part.questions[rows],
        part.candidates[rows],
    )
    unique, inverse = np.unique(np.concatenate(columns), return_inverse=True)
    return Batch(unique, *np.split(inverse, 4), part.labels[rows])


def batch_loss(vectors: Tensor, batch: Batch, ranker: str, training: Training) -> Tensor:
    """Return the mean loss of a batch, given the vectors [u, dim] of its unique sentences.

    The similarity baseline sees the same quadruples and reads c and d only.
    """
    a, b, c, d, labels = (
        torch.from_numpy(column).to(vectors.device)
        for column in (batch.a, batch.b, batch.c, batch.d, batch.labels)
    )
    labels = labels.to(vectors.dtype)
    hinge = training.loss == "hinge"
    if ranker == "cosine":
        energies = losses.energy(vectors[c], vectors[d])
    elif training.loss == "lwda":
        corners = (vectors[corner] for corner in (a, b, c, d))
        return losses.both_sides(*corners, labels, training.margin).mean()
    else:
        energies = losses.energy(vectors[a] - vectors[b], vectors[c] - vectors[d])
    return losses.contrastive(energies, labels, training.margin, hinge).mean()


def train_seed(
    data: CellData,
    model: Model,
    training: Training,
    seed: int,
    device: torch.device,
    checkpoint: Path,
    name: str,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train one seed and score dev and test with its best epoch.

    The state is saved after each epoch; the same call resumes from there and gives, on the CPU, the
    same bytes as an uninterrupted one. A finished seed is read from its checkpoint.

    Args:
        data: of this seed (its prototypes and quadruples).
        model, training: what to train and how.
        seed: of the initial weights, dropout, batches and drawn negatives.
        device: see `device_for`.
        checkpoint: the file of this training and no other.
        name: for the log.

    Returns:
        The scores of dev and test (SCORES) and the history (HISTORY).

    Raises:
        AnalogyQAError: when the loss is not a number or the checkpoint is damaged.
    """
    torch.manual_seed(seed)
    encoder = build_encoder(model.encoder, data.word_vectors, training).to(device)
    coupled = training.weight_decay_coupling == "coupled"
    optimiser = (torch.optim.Adam if coupled else torch.optim.AdamW)(
        encoder.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay
    )
    state: dict[str, Any] = {"epoch": 0, "history": [], "best": None, "best_mrr": -1.0}
    if checkpoint.exists():
        state = _load_checkpoint(checkpoint, device)
        encoder.load_state_dict(state["encoder"])
        optimiser.load_state_dict(state["optimiser"])
        log.info("%s: resumed after epoch %d", name, state["epoch"])
    dev = data.splits["dev"]
    while not _finished(state, training):
        epoch = state["epoch"] + 1
        torch.manual_seed(int(np.random.default_rng([seed, 3, epoch]).integers(2**31)))
        started, loss, quadruples = time.perf_counter(), 0.0, 0
        encoder.train()
        for batch in epoch_batches(data, training, seed, epoch):
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
            data, "dev", seed, *score_split(encoder, data, "dev", model, device)
        )
        measured = measure_questions(scores, dev.question_types)
        dev_map, dev_mrr = float(measured["ap"].mean()), float(measured["rr"].mean())
        state["history"].append([seed, epoch, loss, dev_map, dev_mrr, seconds, quadruples / seconds])
        log.info("%s: epoch %d, loss %.4f, dev MRR %.4f, %.1f s", name, epoch, loss, dev_mrr, seconds)
        if dev_mrr > state["best_mrr"]:
            weights = {key: value.clone() for key, value in encoder.state_dict().items()}
            state.update(best=weights, best_epoch=epoch, best_mrr=dev_mrr)
        state.update(
            epoch=epoch, encoder=encoder.state_dict(), optimiser=optimiser.state_dict()
        )
        with atomic_path(checkpoint) as temporary:
            torch.save(state, temporary)
    encoder.load_state_dict(state["best"])
    encoder.eval()
    scores = pd.concat(
        [
            scores_table(data, split, seed, *score_split(encoder, data, split, model, device))
            for split in ("dev", "test")
        ],
        ignore_index=True,
    )
    return scores, pd.DataFrame(state["history"], columns=HISTORY.names)


def _finished(state: dict, training: Training) -> bool:
    epochs_without_gain = state["epoch"] - state.get("best_epoch", 0)
    return state["epoch"] >= training.max_epochs or epochs_without_gain >= training.patience


def _load_checkpoint(path: Path, device: torch.device) -> dict:
    try:
        return torch.load(path, map_location=device, weights_only=True)
    except Exception as error:
        raise AnalogyQAError(
            f"{path}: damaged checkpoint ({error}). Delete it and run the same command again; "
            "this seed then starts from its first epoch."
        ) from error
