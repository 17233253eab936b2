"""The data cards: what was read, how much of it, under which licence, and its hashes."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from analogyqa.corpora.table import count_corpora
from analogyqa.report.page.runs import Run
from analogyqa.report.table_formats import Block, Value
from analogyqa.runs.depends_on import sha256
from analogyqa.schemas import SPLITS
from analogyqa.settings.data import ALL
from analogyqa.settings.run import Config
from analogyqa.sources.registry import Source


class File(NamedTuple):
    """A file that runs read; licence and citation are empty for one that no registry has."""

    title: str
    name: str
    sha256: str
    licence: str
    citation: str


class Card(NamedTuple):
    """A data set with its counts and the hash of its table, or what else was read."""

    id: str
    title: str
    counts: Block | None
    table: str
    files: list[File]


def data_cards(
    results: Path, runs: Iterable[Run], config: Config, registry: Mapping[str, Source]
) -> list[Card]:
    """Return a card for each data set that has a table, and one for all else that was read.

    Args:
        results: the output folder.
        runs: whose records name what was read.
        config: the titles of the data sets.
        registry: the sources by name.
    """
    # Of a data set each split's files; a dict for a set in order.
    read: dict[str, dict[str, dict[str, None]]] = {}
    others: dict[str, None] = {}
    for run in runs:
        settings, dataset = run.record["settings"], run.record["cell"]["dataset"]
        for split, names in settings["sources"].items():
            of_data = read.setdefault(dataset, {}).setdefault(split, {})
            into = of_data if split in SPLITS else others
            into |= dict.fromkeys(_names(names))
        for store in (settings["vectors"], settings["sentence_vectors"]):
            others |= dict.fromkeys(_names((store or {}).get("origin", "")))
    cards = []
    for name, dataset in config.datasets.items():
        corpus = results / "corpora" / f"{name}.parquet"
        if corpus.exists():
            names = [each for split in SPLITS for each in read.get(name, {}).get(split, {})]
            files = _known(_file(each, registry) for each in dict.fromkeys(names))
            counts = _counts(corpus, dataset.title)
            cards.append(Card(f"data-{name}", dataset.title, counts, sha256(corpus), files))
    known = _known([_file(each, registry) for each in others])
    return [
        *cards,
        *([Card("data-others", "Vectors and models", None, "", known)] if known else []),
    ]


def _counts(corpus: Path, title: str) -> Block:
    (counts,) = count_corpora([str(corpus)]).values()
    kinds = {
        "Questions": "all_questions",
        "with an answer": "questions",
        "Question-candidate pairs": "pairs",
    }
    rows = [
        ([split], [Value(f"{counts[kind][split][ALL]:,}") for kind in kinds.values()])
        for split in SPLITS
        if counts["pairs"][split][ALL]
    ]
    return Block(f"Counts of {title}", ["Split"], list(kinds), rows)


def _names(text: str) -> list[str]:
    return [name for name in re.split(r"[ ,]+", text) if name]


def _file(name: str, registry: Mapping[str, Source]) -> File | None:
    """Return a registered source or a file that is there; None for a word that names neither."""
    if name in registry:
        source = registry[name]
        hashes = ", ".join(source.sha256) or f"git blob {source.git_blob}"
        return File(source.title, name, hashes, source.licence, source.citation)
    if "/" in name and Path(name).is_file():
        return File(name, name, sha256(Path(name)), "", "")
    return None


def _known(files: Iterable[File | None]) -> list[File]:
    return [file for file in files if file]
