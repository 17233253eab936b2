"""Sentence vectors for a model: those that its run has stored, and those of new texts."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np
import pandas as pd

from analogyqa.arithmetic import reproducible_arithmetic
from analogyqa.errors import AnalogyQAError, explain_damage, looked_in
from analogyqa.pretrained import LocalModel, Resources, local_class
from analogyqa.pretrained.hugging_face import find_model, hash_model
from analogyqa.text import as_one_word
from analogyqa.training.data import VocabularyParts
from analogyqa.vectors.store import read_store, write_store

COPY = "encoder"  # a copy of the model, in the folder of the vectors


class TextVectors:
    """The vectors of texts: stored, or encoded by the model that made the stored ones.

    Args:
        path: The store of sentence vectors. Its record names the model.

    Raises AnalogyQAError when the model is not on this machine, or its files differ from those that
    made the vectors.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._vectors, self._rows = read_store(path)
        record_path = self._path.with_suffix(".json")
        remedy = "Delete it, then run the command of the whole run again to make it."
        with explain_damage(record_path, "does not name the model of its vectors", remedy):
            self._record = json.loads(record_path.read_text(encoding="utf-8"))
            name, recorded = (self._record["model"][key] for key in ("name", "sha256"))
            encoder = self._record["settings"]["encoder"]
        self._class = local_class(encoder)
        self._lock = Lock()  # tokenizers are for one thread at a time
        copy = self._path.with_name(COPY)
        self._folder = copy if copy.is_dir() else find_model(name, self._class.file)
        if self._folder is None:
            raise AnalogyQAError(
                f"{name}: the model that encodes texts ({encoder}) is neither installed nor a "
                f"folder{looked_in(name)}. Install it, or copy its folder to {copy}"
            )
        if hash_model(self._folder) != recorded:
            raise AnalogyQAError(
                f"{self._folder}: this model is not the one that encoded the sentences of the run "
                f"({recorded[:12]}). Copy that one to {copy}, or run the system again with this one"
            )

    @cached_property
    def _model(self) -> LocalModel:
        settings = self._record["settings"]
        options = settings["lowercase"], settings["options"]
        return self._class(Resources(str(self._folder), "", [], *options))

    def look_up(self, texts: Sequence[str]) -> VocabularyParts:
        """Return the vectors of the n texts among `texts`: [n, dim], and the row of each text."""
        texts = [*dict.fromkeys(texts)]
        known = [text for text in texts if text in self._rows]
        new = [text for text in texts if text not in self._rows]
        vectors = self._vectors[[self._rows[text] for text in known]]
        if new:
            with self._lock:
                model = self._model  # imports PyTorch
                with reproducible_arithmetic():
                    vectors = np.concatenate([vectors, model.encode(new)])
        return vectors, {text: row for row, text in enumerate([*known, *new])}, as_one_word

    def unread(self, text: str) -> int:
        """Return how many tokens of a text its encoder does not read, because it is too long."""
        with self._lock:
            return self._model.unread(text)

    def write(self, texts: Sequence[str], path: str | Path) -> None:
        """Write the stored vectors of some texts, which `TextVectors` reads again."""
        stored = [text for text in texts if text in self._rows]
        vectors, record = self._vectors[[self._rows[text] for text in stored]], self._record
        about = record["origin"], path, record["settings"]
        write_store(vectors, np.ones(len(stored), bool), stored, *about, model=record["model"])


def unique_texts(*tables: pd.DataFrame) -> list[str]:
    """Return the unique questions and candidates of tables of schema CORPUS."""
    texts = [table[side] for table in tables for side in ("question", "candidate")]
    return pd.concat(texts).unique().tolist()
