"""What the libraries of Hugging Face do not check: all weights are there, the tokenizer fits."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analogyqa.errors import AnalogyQAError, one_line

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# The least share of the rows of a model's embeddings that its tokenizer has a token for: models
# round the number of rows up, by a few per cent at most.
LEAST_SHARE = 0.9
NO_LIMIT = int(1e30)  # as transformers has it for a tokenizer


@contextmanager
def loading_model(folder: Path) -> Iterator[list[str]]:
    """Load a model in this context; a weight that its files lack is NaN, not a random number.

    A vector that depends on such a weight is then not finite, and one that does not is right: a
    model may lack a layer that is not used, such as that for pooling.

    Yields:
        The names of these weights, and of those that have another shape in the files.

    Raises:
        AnalogyQAError: for any exception, as each file of the folder has a reader of its own.
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

    PreTrainedModel.from_pretrained = classmethod(load_and_mark)
    try:
        yield missing
    except AnalogyQAError:
        raise
    except Exception as error:
        raise AnalogyQAError(
            f"{folder}: the model cannot be loaded ({one_line(error)}). Is the folder complete? "
            "Copy or install it again."
        ) from error
    finally:
        PreTrainedModel.from_pretrained = original


def fit_tokenizer(
    folder: Path,
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    texts: Sequence[str],
) -> np.ndarray:
    """Prepare a tokenizer for its model, and return which of n texts have any token: bool [n].

    Texts are cut off where the model has no more positions. Batches are padded on the right, where
    padding shifts no position, and by any special token if there is none for it: the attention mask
    hides it.

    Raises:
        AnalogyQAError: when the tokenizer is not the model's: it has more tokens than the model, or
            far fewer, does not know most words, or leaves out its first token; and when it has no
            special token to pad with.
    """
    remedy = "Copy the tokenizer of this model into the folder (tokenizer.json or its vocabulary)."
    size, rows = len(tokenizer), getattr(model.config.get_text_config(), "vocab_size", None)
    if rows and not LEAST_SHARE * rows <= size <= rows:
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
    return np.array([adds_tokens or bool(row) for row in ids], dtype=bool)


def _longest_input(model: "PreTrainedModel") -> int:
    """Return how many tokens a model has positions for; models of the kind of RoBERTa skip some."""
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None) or -1
    skipped = [
        module.padding_idx + 1
        for name, module in model.named_modules()
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None
    ]
    # A model without positions of its own has none, or -1 as XLNet does.
    return positions - max(skipped, default=0) if positions > 0 else NO_LIMIT


def encode_whole(
    folder: Path,
    encode: Callable[[list[str]], np.ndarray],
    texts: Sequence[str],
    has_tokens: np.ndarray,
    missing: Sequence[str],
    remedy: str = "",
) -> np.ndarray:
    """Encode n texts, the longest by itself first: float32 [n, d].

    A text without tokens is the zero vector.

    Args:
        folder: of the model, for messages.
        encode: from texts to float32 [texts, d].
        texts: what to encode.
        has_tokens: bool [n], see `fit_tokenizer`.
        missing: names of weights, see `loading_model`.
        remedy: another one for missing weights, to end the message.

    Raises:
        AnalogyQAError: when the model cannot encode a text, or uses a weight that is missing.
    """
    rows = np.flatnonzero(has_tokens)
    with_tokens = [texts[row] for row in rows]
    try:
        first = encode([max(with_tokens, key=len, default="a")])
    except AnalogyQAError:
        raise
    except Exception as error:  # of any kind: the code is the model's
        raise AnalogyQAError(
            f"{folder}: this model cannot encode a sentence ({one_line(error)}). Name a model that "
            "reads text."
        ) from error
    if missing and not np.isfinite(first).all():
        raise AnalogyQAError(
            f"{folder}: {len(missing)} weights of the model are missing from its files, or have "
            f"another shape there: {', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}. "
            f"Copy the model again, or save it again with save_pretrained{remedy}."
        )
    vectors = np.zeros((len(texts), first.shape[1]), dtype=np.float32)
    if len(rows):
        vectors[rows] = encode(with_tokens)
    return vectors
