"""InferSent: a BiLSTM with max pooling, trained on natural language inference.

Conneau, Kiela, Schwenk, Barrault and Bordes, Supervised Learning of Universal Sentence
Representations from Natural Language Inference Data, EMNLP 2017 (section 3.2.2, figure 2).
"""

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence, pad_packed_sequence

from analogyqa.errors import AnalogyQAError, explain_damage
from analogyqa.pretrained import Resources
from analogyqa.text import tokenize
from analogyqa.vectors.files import known_vectors

ENCODE_BATCH = 64
SECOND_VERSION = "infersent2.pkl"


class InferSent(nn.Module):
    """The sentence encoder. Its state dict has the names and shapes of the published weights."""

    def __init__(self, word_dim: int, lstm_dim: int) -> None:
        super().__init__()
        self.enc_lstm = nn.LSTM(word_dim, lstm_dim, bidirectional=True)

    def forward(self, words: PackedSequence) -> Tensor:
        """Encode n non-empty sentences of word vectors: [n, 2 lstm_dim]."""
        states, _ = self.enc_lstm(words)
        # Padding never wins the maximum. In the first published encoder it could.
        padded, _ = pad_packed_sequence(states, batch_first=True, padding_value=-torch.inf)
        return padded.amax(dim=1)

    def encode_words(self, sentences: Sequence[np.ndarray], vectors: Tensor) -> Tensor:
        """Encode n sentences, given as rows of `vectors` [V, word_dim]: [n, 2 lstm_dim].

        A sentence without words gets a zero vector.
        """
        encoded = vectors.new_zeros(len(sentences), 2 * self.enc_lstm.hidden_size)
        non_empty = [number for number, rows in enumerate(sentences) if len(rows)]
        if non_empty:
            words = [vectors[torch.from_numpy(sentences[number])] for number in non_empty]
            encoded[torch.tensor(non_empty)] = self(pack_sequence(words, enforce_sorted=False))
        return encoded


def load(weights: str | Path) -> InferSent:
    """Load a published encoder (`.pkl`), or one that this project trained.

    Raises AnalogyQAError for a file that is not a state dict of this encoder, with the missing and
    unexpected keys and the wrong shapes.
    """
    try:
        state = torch.load(weights, map_location="cpu", weights_only=True)
    except Exception as error:
        # After the first line, PyTorch explains how to load unsafe files.
        cause = str(error).partition("\n")[0] or type(error).__name__
        raise AnalogyQAError(
            f"{weights}: not a file of PyTorch weights, or damaged ({cause}). Delete it, then "
            "fetch or train it again."
        ) from error
    remedy = "Use a published encoder, or train one."
    with explain_damage(weights, "not the weights of InferSent", remedy):
        if not isinstance(state, dict):
            raise TypeError(f"a {type(state).__name__}")
        sizes = [state[f"enc_lstm.weight_{kind}_l0"].shape[1] for kind in ("ih", "hh")]
        encoder = InferSent(*sizes)
        encoder.load_state_dict(state)
    return encoder.eval()


def encode(texts: Sequence[str], resources: Resources) -> np.ndarray:
    """Encode n sentences: float32 [n, 2 lstm_dim].

    The published encoders read cased text (`lowercase: false`). The first needs the word vectors
    glove.840B.300d. The second, recognised by its name infersent2.pkl, needs crawl-300d-2M. Words
    without a vector are ignored; a sentence without words gets a zero vector.

    Raises AnalogyQAError as `load` and `select_vectors`, and for word vectors of the wrong length.
    """
    encoder = load(resources.weights)
    is_second = Path(resources.weights).name == SECOND_VERSION
    sentences = [mark(tokenize(text, resources.lowercase), is_second) for text in texts]
    rows, vectors = look_up(sentences, resources.vectors)
    if vectors.shape[1] != encoder.enc_lstm.input_size:
        raise AnalogyQAError(
            f"{resources.vectors}: word vectors with {vectors.shape[1]} dimensions, but "
            f"{resources.weights} needs {encoder.enc_lstm.input_size}."
        )
    encoded = np.empty((len(texts), 2 * encoder.enc_lstm.hidden_size), dtype=np.float32)
    order = np.argsort([-len(sentence) for sentence in rows], kind="stable")
    with torch.inference_mode():
        for start in range(0, len(order), ENCODE_BATCH):
            batch = order[start : start + ENCODE_BATCH]
            encoded[batch] = encoder.encode_words([rows[number] for number in batch], vectors)
    return encoded


def mark(tokens: Sequence[str], second_version: bool = False) -> list[str]:
    """Add an encoder's sentence markers: `<s>`, or `<p>` for the second version.

    The second version also splits "did n't" as "didn 't", except at the end of a sentence.
    """
    if not second_version:
        return ["<s>", *tokens, "</s>"]
    return ["<p>", *re.sub(r" n't(?= )", "n 't", " ".join(tokens)).split(), "</p>"]


def look_up(
    sentences: Sequence[Sequence[str]], path: str | Path
) -> tuple[list[np.ndarray], Tensor]:
    """Return sentences as rows of word vectors, and the vectors: float32 [V, d].

    Words and markers that are not in the file `path` are dropped.
    """
    vectors, word_rows = known_vectors(path, chain.from_iterable(sentences))
    rows = [
        np.array([word_rows[token] for token in tokens if token in word_rows], dtype=np.int64)
        for tokens in sentences
    ]
    return rows, torch.from_numpy(vectors)
