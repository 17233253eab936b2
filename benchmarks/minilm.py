"""MiniLM in training and in scoring, ours against the padded float32 model of transformers."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import cells
import torch
from measure import in_turn, record
from torch import Tensor

from analogyqa.encoders.minilm import MiniLMEncoder, vocabulary
from analogyqa.settings.systems import Training
from analogyqa.surroundings import MALLOC_OPTIONS
from analogyqa.text import Sentences

SENTENCES, ROUNDS, STEPS, BATCH = 200, 3, 4, 32
TRAINING = Training(dropout=0.1, sentence_dim=384)


def read_sentences() -> Sentences:
    """Return candidates of the data, drawn at random."""
    texts = cells.read_corpus()["candidate"].drop_duplicates()
    return Sentences(texts.sample(SENTENCES, random_state=cells.SEED), *vocabulary())


def padded(encoder: MiniLMEncoder, words: Tensor, lengths: Tensor) -> Tensor:
    """Encode in batches of similar length, with the library's own model."""
    order, means = lengths.argsort(), []
    for rows in order.split(BATCH):
        inside = torch.arange(int(lengths[rows].max())) < lengths[rows][:, None]
        states = encoder.model(words[rows, : inside.shape[1]], attention_mask=inside.long())
        own = states.last_hidden_state.masked_fill(~inside[:, :, None], 0)
        means.append(own.sum(dim=1) / lengths[rows][:, None])
    return torch.cat(means)[order.argsort()]


def seconds_of_steps() -> float:
    """Take some steps of training, without an optimiser, after one that is not timed."""
    torch.set_num_threads(1)
    sentences, encoder = read_sentences(), MiniLMEncoder(None, TRAINING, cells.SEED).train()
    words, lengths = map(torch.from_numpy, sentences.batch(range(SENTENCES)))
    for number in range(STEPS + 1):
        if number == 1:
            started = time.perf_counter()
        encoder(words, lengths).square().sum().backward()
    return time.perf_counter() - started


def in_new_process(variables: dict[str, str]) -> float:
    """Return `seconds_of_steps` with these malloc options only."""
    for name in MALLOC_OPTIONS:
        os.environ.pop(name, None)
    os.environ |= variables
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(seconds_of_steps).result()


def main() -> None:
    torch.set_num_threads(1)
    sentences, encoder = read_sentences(), MiniLMEncoder(None, TRAINING, cells.SEED)
    words, lengths = map(torch.from_numpy, sentences.batch(range(SENTENCES)))

    def train(encode) -> None:
        encoder.train().zero_grad()
        encode(words, lengths).square().sum().backward()

    @torch.no_grad()
    def score(encode) -> None:
        encoder.eval()
        encode(words, lengths)

    ways = {"ours": encoder, "other": lambda *both: padded(encoder, *both)}
    name = f"{SENTENCES} candidates of {cells.corpus_name()}"
    for goal, step in (("MiniLM: training", train), ("MiniLM: scoring", score)):
        calls = {key: lambda step=step, way=way: step(way) for key, way in ways.items()}
        seconds = in_turn(calls, ROUNDS)
        ours, other = (int(lengths.sum()) / seconds[key] for key in ways)
        record(goal, name, "tokens/s", ours, other, packages=["torch", "transformers"])

    name = f"{name}, {STEPS} steps"
    kept, given_back = in_new_process(MALLOC_OPTIONS), in_new_process({})
    record("memory kept", name, "s", kept, given_back, packages=["torch"])


if __name__ == "__main__":
    main()
