"""Tiny models with random weights, saved in folders that the Hugging Face libraries read."""

import json
from collections.abc import Callable
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "dog", "sat"]
DIM = 8
BERT = {"hidden_size": DIM, "num_attention_heads": 2, "intermediate_size": DIM}


def build(family: str, head: str = "Model", **config) -> nn.Module:
    """Return a model of transformers, such as `BertModel`, for the words above."""
    torch.manual_seed(0)
    settings = getattr(transformers, f"{family}Config")(vocab_size=len(WORDS), **config)
    return getattr(transformers, f"{family}{head}")(settings).eval()


def save(folder: Path, model: nn.Module, words: list[str] = WORDS, **tokenizer) -> Path:
    """Save a model and a tokenizer of words; `tokenizer` is for its configuration."""
    folder.mkdir(exist_ok=True)
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(folder / "vocab.txt"), **tokenizer).save_pretrained(folder)
    return folder


def save_bert(folder: Path, **config) -> Path:
    return save(folder, build("Bert", num_hidden_layers=2, **BERT, **config))


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
        {
            "idx": number,
            "name": str(number),
            "path": path,
            "type": f"sentence_transformers.models.{module}",
        }
        for number, (path, module) in enumerate(types.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    rewrite_json(folder / "1_Pooling" / "config.json", word_embedding_dimension=DIM)
    return folder
