"""Tiny pretrained models: folders of Hugging Face with random weights, and Sent2Vec files."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "dog", "sat"]
DIM = 8
BERT = {"hidden_size": DIM, "num_attention_heads": 2, "intermediate_size": DIM}


def build(family: str, head: str = "Model", words: list[str] = WORDS, **config) -> nn.Module:
    """Return a model of transformers, such as `BertModel`, for some words."""
    torch.manual_seed(0)
    settings = getattr(transformers, f"{family}Config")(vocab_size=len(words), **config)
    return getattr(transformers, f"{family}{head}")(settings).eval()


def save(folder: Path, model: nn.Module, words: list[str] = WORDS, **tokenizer) -> Path:
    """Save a model and a tokenizer of words; `tokenizer` is for its configuration."""
    folder.mkdir(exist_ok=True)
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(folder / "vocab.txt"), **tokenizer).save_pretrained(folder)
    return folder


def save_bert(folder: Path, words: list[str] = WORDS, **config) -> Path:
    return save(folder, build("Bert", words=words, num_hidden_layers=2, **BERT, **config), words)


def rewrite_weights(folder: Path, rewrite: Callable[[dict], dict]) -> None:
    path = folder / "model.safetensors"
    save_file(rewrite(load_file(path)), path, metadata={"format": "pt"})


def rewrite_json(path: Path, **values) -> None:
    """Set some keys of a JSON file, which is created if it is missing."""
    before = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(before | values))


def add_pooling(folder: Path) -> Path:
    """Let sentence-transformers read a folder, with the mean over the tokens."""
    types = {"": "Transformer", "1_Pooling": "Pooling"}
    modules = [
        {"idx": row, "name": str(row), "path": path, "type": f"sentence_transformers.models.{name}"}
        for row, (path, name) in enumerate(types.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    rewrite_json(folder / "1_Pooling" / "config.json", word_embedding_dimension=DIM)
    return folder


MAGIC, SENT2VEC = 793712314, 4


def sent2vec_bytes(
    words: list[str],
    matrix: np.ndarray,
    dim: int,
    buckets: int,
    order: int = 2,
    magic: int = MAGIC,
    version: int = 11,
    kind: int = SENT2VEC,
    pruned: int = -1,
    quantised: bool = False,
    label: str | None = None,
    word_count: int | None = None,
    height: int | None = None,
) -> bytes:
    """Return a model as the original program writes it, or one with other values in its header.

    `matrix` has the vectors of words and buckets, float32 [words + buckets, dim]; `height` rows are
    stated before it. `label` is in the dictionary, after the words.
    """
    arguments = (dim, 5, 1, 1, 10, order, 2, kind, buckets, 0, 0, 100, 1e-4)
    entries = [(word, 0) for word in words] + ([(label, 1)] if label else [])
    word_count = len(words) if word_count is None else word_count
    counts = (len(entries), word_count, len(entries) - len(words), 99, pruned)
    height = len(matrix) if height is None else height
    output = np.ones((len(words), dim), dtype=np.float32)
    return b"".join(
        [
            struct.pack("<2i12id3i2q", magic, version, *arguments, *counts),
            *(word.encode() + struct.pack("<xqb", 9, type_) for word, type_ in entries),
            struct.pack("<?2q", quantised, height, matrix.shape[1]) + matrix.tobytes(),
            struct.pack("<?2q", False, *output.shape) + output.tobytes(),
        ]
    )
