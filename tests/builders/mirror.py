"""The real data, from the mirror named by ANALOGYQA_MIRROR."""

import os
from pathlib import Path

import pytest

from analogyqa.corpora.table import build_corpus
from analogyqa.schemas import SPLITS
from analogyqa.sources.registry import load_registry

ROOT = Path(__file__).parents[2]
MIRROR = Path(os.environ.get("ANALOGYQA_MIRROR") or "no mirror")
REGISTRY = load_registry(ROOT / "sources.yaml")
FASTTEXT = MIRROR / "vectors" / "enwiki-105m-300d.fasttext.vec.gz"
QUESTION_TYPES = {"who": ["who"], "when": ["when"], "where": ["where"]}
FILES = {
    "wikiqa": {split: f"wikiqa/WikiQA-{split}.tsv" for split in SPLITS},
    "trecqa": {
        "train": "trecqa/TRAIN-ALL.rebuilt.xml",
        "dev": "trecqa/DEV.xml",
        "test": "trecqa/TEST.xml",
    },
}


def needs(path: Path) -> list[pytest.MarkDecorator]:
    """Return the marks of tests that need a file or folder of the mirror."""
    reason = f"ANALOGYQA_MIRROR has no {path.name}"
    return [pytest.mark.real_data, pytest.mark.skipif(not path.exists(), reason=reason)]


def build(name: str, **files: str):
    """Return the corpus of a data set; `files` replace those of some splits."""
    paths = {split: str(MIRROR / file) for split, file in (FILES[name] | files).items()}
    return build_corpus(name, name, paths, QUESTION_TYPES, {})
