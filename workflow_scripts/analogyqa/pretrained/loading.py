"""Check what Hugging Face's libraries do not: missing weights and tokenizers that do not fit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from analogyqa.errors import AnalogyQAError, one_line

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# Smallest share of a model's embeddings that its tokenizer must use. Models round their number up,
# by a few per cent at most.
MIN_SHARE = 0.9
NO_LIMIT = int(1e30)  # transformers's value for a tokenizer without a limit


@contextmanager
def loading_model(folder: Path) -> Iterator[list[str]]:
    """Load models in this context so that missing weights are NaN instead of random.

    A vector that depends on a missing weight is then not finite. Other vectors are correct, because
    a model may lack an unused layer, such as the one for pooling.

    Yields:
        A list of the weights that are missing from the files or have another shape there.

    Raises:
        AnalogyQAError: when the model cannot be loaded.
    """
    from transformers import PreTrainedModel

    original, missing = vars(PreTrainedModel)["from_pretrained"], []

    def load_and_mark(cls, *arguments, **options):
        options |= {"output_loading_info": True, "ignore_mismatched_sizes": True}
        model, info = original.__func__(cls, *arguments, **options)
        names = info["missing_keys"] | {name for name, *_ in info["mismatched_keys"]}
        for name, weight in model.state_dict().items():
            if name in names and weight.is_floating_point():
                weight.fill_(float("nan"))
                missing.append(name)
        return model

    try:
        with patch.object(PreTrainedModel, "from_pretrained", classmethod(load_and_mark)):
            yield missing
    except AnalogyQAError:
        raise
    except Exception as error:
        raise AnalogyQAError(
            f"{folder}: the model cannot be loaded ({one_line(error)}). Is the folder complete? "
            "Copy or install it again."
        ) from error


def fit_tokenizer(
    folder: Path,
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    texts: Sequence[str],
    with_special: bool = True,
) -> np.ndarray:
    """Prepare a tokenizer for its model, and return which of n texts have any token: bool [n].

    Special tokens, such as [CLS], are tokens too if `with_special` is set.

    Texts are truncated to the model's positions. Batches are padded on the right, which shifts no
    position. Without a padding token, any special token serves, because the attention mask hides
    it.

    Raises:
        AnalogyQAError: when the tokenizer does not belong to the model (it has more tokens, or far
            fewer, does not know most words, or omits the first token), or has no special token.
    """
    remedy = "Copy the tokenizer of this model into the folder (tokenizer.json or its vocabulary)."
    size, rows = len(tokenizer), getattr(model.config.get_text_config(), "vocab_size", None)
    if rows and not MIN_SHARE * rows <= size <= rows:
        raise AnalogyQAError(
            f"{folder}: its tokenizer has {size} tokens, but the model has embeddings of {rows}. "
            f"{remedy}"
        )
    tokenizer.model_max_length = min(tokenizer.model_max_length, _longest_input(model))
    tokenizer.padding_side = "right"
    if tokenizer.pad_token is None:
        if not tokenizer.all_special_tokens:
            raise AnalogyQAError(
                f"{folder}: its tokenizer has no special token to pad sentences with. Set "
                "pad_token in its tokenizer_config.json."
            )
        tokenizer.pad_token = tokenizer.all_special_tokens[0]
    ids = []
    if texts:
        ids = tokenizer([*texts], add_special_tokens=False, truncation=True)["input_ids"]
    known = sum(token != tokenizer.unk_token_id for row in ids for token in row)
    if 2 * known < max(sum(map(len, ids)), sum(bool(text.strip()) for text in texts)):
        raise AnalogyQAError(
            f"{folder}: its tokenizer does not know most of the words, which would be ignored. "
            f"{remedy} Are the sentences in its language?"
        )
    adds_tokens = tokenizer.num_special_tokens_to_add() > 0
    if tokenizer.cls_token_id is not None and not adds_tokens:
        raise AnalogyQAError(
            f"{folder}: its tokenizer does not put {tokenizer.cls_token} before a sentence, as the "
            f"model was trained. {remedy}"
        )
    return np.array([(with_special and adds_tokens) or bool(row) for row in ids], dtype=bool)


def _longest_input(model: "PreTrainedModel") -> int:
    """Return the number of positions of a model. RoBERTa and similar models skip the first ones."""
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None) or -1
    skipped = [
        module.padding_idx + 1
        for name, module in model.named_modules()
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None
    ]
    # Models without a limit have no such setting, or -1 as XLNet.
    return positions - max(skipped, default=0) if positions > 0 else NO_LIMIT


def encode_whole(
    folder: Path,
    encode: Callable[[list[str]], np.ndarray],
    texts: Sequence[str],
    has_tokens: np.ndarray,
    missing: Sequence[str],
    remedy: str = "",
) -> np.ndarray:
    """Encode n texts, after a first check with the longest one: float32 [n, d].

    A text without tokens gets a zero vector.

    Args:
        folder: the folder of the model, for messages.
        encode: encodes a list of texts: float32 [texts, d].
        texts: the texts to encode.
        has_tokens: result of `fit_tokenizer`, bool [n].
        missing: names of missing weights, from `loading_model`.
        remedy: a further remedy for missing weights, for the message.

    Raises:
        AnalogyQAError: when the model cannot encode a text, or uses a missing weight.
    """
    rows = np.flatnonzero(has_tokens)
    with_tokens = [texts[row] for row in rows.tolist()]
    try:
        first = encode([max(with_tokens, key=len, default="a")])
    except AnalogyQAError:
        raise
    except Exception as error:  # models raise many types
        raise AnalogyQAError(
            f"{folder}: this model cannot encode a sentence ({one_line(error)}). Choose a model "
            "that reads text."
        ) from error
    if missing and not np.isfinite(first).all():
        raise AnalogyQAError(
            f"{folder}: {len(missing)} weights of the model are missing from its files, or have "
            f"the wrong shape: {', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}. "
            f"Copy the model again, or save it again with save_pretrained{remedy}."
        )
    vectors = np.zeros((len(texts), first.shape[1]), dtype=np.float32)
    if len(rows):
        vectors[rows] = encode(with_tokens)
    return vectors
