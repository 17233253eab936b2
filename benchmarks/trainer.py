"""The trainer of sentence-transformers on the same quadruples, epochs and encoder.

Its losses compare two texts. So a text is a pair here, question and answer with a tab between
them, and the encoder's vector of it is their shift: ContrastiveLoss then has both shifts.
"""

import logging
import tempfile
import time
from pathlib import Path

import cells
import torch
from datasets import Dataset
from measure import record
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
from sentence_transformers import SentenceTransformerTrainingArguments as Arguments
from sentence_transformers.sentence_transformer.losses import ContrastiveLoss
from sentence_transformers.sentence_transformer.modules import InputModule

from analogyqa.encoders import Encoder, build_encoder
from analogyqa.measures import means_of, measure_items
from analogyqa.rankers import build_ranker
from analogyqa.settings.systems import System, Training
from analogyqa.training.data import CellData
from analogyqa.training.loop import train_seed
from analogyqa.training.scoring import array_encoder, score_split, scores_table

P, EPOCHS, BATCH = 10, 3, 64
CPU = torch.device("cpu")
TRAINING = Training(max_epochs=EPOCHS, patience=EPOCHS)
SYSTEM = System(title="", encoder="bigru", vectors="drawn", ranker="analogy", training=TRAINING)


class Shift(InputModule):
    """The shift from a question to its answer, by our encoder."""

    def __init__(self, encoder: Encoder, data: CellData) -> None:
        super().__init__()
        self.encoder, self.data = encoder, data

    def preprocess(self, inputs: list[str], **_) -> dict[str, torch.Tensor]:
        questions, answers = zip(*(text.split("\t") for text in inputs), strict=True)
        numbers = self.data.sentences.numbers([*questions, *answers])
        words, lengths = map(torch.from_numpy, self.data.sentences.batch(numbers))
        # One row for each text, as the trainer expects: its question's words, then its answer's.
        # The trainer knows the features of a text by the name of their first entry.
        both = {"input_ids": words.chunk(2), "lengths": lengths[:, None].chunk(2)}
        return {name: torch.hstack(halves) for name, halves in both.items()}

    def forward(self, features: dict[str, torch.Tensor], **_) -> dict[str, torch.Tensor]:
        words, lengths = features["input_ids"], features["lengths"]
        both = self.encoder(torch.vstack(words.chunk(2, dim=1)), lengths.t().flatten())
        questions, answers = both.chunk(2)
        return features | {"sentence_embedding": questions - answers}

    def get_embedding_dimension(self) -> int:
        return TRAINING.sentence_dim

    def save(self, output_path: str, *_, **__) -> None:
        raise NotImplementedError("nothing is saved")


def quadruples(data: CellData) -> Dataset:
    """Return the training quadruples as pairs of texts with labels."""
    texts, part = list(data.sentences.index), data.splits["train"]

    def pairs(questions, answers) -> list[str]:
        return [f"{texts[q]}\t{texts[a]}" for q, a in zip(questions, answers, strict=True)]

    prototypes, rows = part.prototypes, part.rows
    return Dataset.from_dict(
        {
            "prototype": pairs(
                data.prototype_questions[prototypes], data.prototype_candidates[prototypes]
            ),
            "pair": pairs(part.questions[rows], part.candidates[rows]),
            "label": part.labels[rows].astype(int).tolist(),
        }
    )


def dev_mrr(encoder: Encoder, data: CellData) -> float:
    scores = score_split(array_encoder(encoder.eval(), CPU), data, "dev", build_ranker(SYSTEM))
    table = scores_table(data, "dev", 0, *scores)
    return means_of(measure_items(table, data.splits["dev"].groups))["mrr"]


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    corpus = cells.read_corpus()
    vectors, words = cells.word_vectors(corpus, cells.vectors_file())
    with tempfile.TemporaryDirectory() as folder:
        data = cells.build_cell(corpus, Path(folder), vectors, words, P)
        history = train_seed(
            data, SYSTEM, cells.SEED, CPU, Path(folder, "state.pt"), "ours"
        ).history.set_index("measure")["value"]
        encoder = build_encoder("bigru", data.word_vectors, TRAINING, cells.SEED)
        model = SentenceTransformer(modules=[Shift(encoder, data)], device="cpu")
        trainer = SentenceTransformerTrainer(
            model=model,
            args=Arguments(
                output_dir=folder, num_train_epochs=EPOCHS, per_device_train_batch_size=BATCH,
                learning_rate=TRAINING.learning_rate, weight_decay=TRAINING.weight_decay,
                save_strategy="no", report_to="none", use_cpu=True, seed=cells.SEED,
                disable_tqdm=True, lr_scheduler_type="constant",
            ),
            train_dataset=quadruples(data),
            loss=ContrastiveLoss(model),
        )  # fmt: skip
        started = time.perf_counter()
        trainer.train()
        seconds = (time.perf_counter() - started) / EPOCHS
    name = f"{cells.corpus_name()} comb, p = {P}, {EPOCHS} epochs"
    ours = history["seconds"].mean()
    packages = ("sentence-transformers", "torch")
    record("trainer: time", name, "s/epoch", ours, seconds, packages=packages)
    ours, other = history["dev_mrr"].iloc[-1], dev_mrr(encoder, data)
    record("trainer: dev MRR", name, "MRR", ours, other, packages=packages)


if __name__ == "__main__":
    main()
