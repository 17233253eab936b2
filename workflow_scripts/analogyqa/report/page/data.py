"""The data cards: the files that runs read, with counts, licences and hashes."""

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
from analogyqa.tasks import task_of


class File(NamedTuple):
    """A file that runs read; without licence and citation if it is not registered."""

    title: str
    hash: str
    licence: str = ""
    citation: str = ""


class DataCard(NamedTuple):
    """The files of a data set with its counts and the hash of its table, or all other files."""

    id: str
    title: str
    counts: Block | None
    table: str
    files: list[File]


def data_cards(
    results: Path, runs: Iterable[Run], config: Config, registry: Mapping[str, Source]
) -> list[DataCard]:
    """Return a card for each data set with a corpus, and one for all other files.

    `results` is the output folder; the records of the runs name what they read.
    """
    by_dataset: dict[str, dict[str, list[str]]] = {}
    others: list[str] = []
    for run in runs:
        names = by_dataset.setdefault(run.record["cell"]["dataset"], {})
        for split, text in run.record["sources"].items():
            (names.setdefault(split, []) if split in SPLITS else others).extend(_names(text))
        for store in run.record["stores"].values():
            others += _names(store["origin"])
    cards = []
    for name, dataset in config.datasets.items():
        corpus = results / "corpora" / f"{name}.parquet"
        if corpus.exists():
            splits = by_dataset.get(name, {})
            files = _files((file for split in SPLITS for file in splits.get(split, [])), registry)
            counts = _counts(corpus, dataset.title, dict(task_of(dataset).counts))
            cards.append(DataCard(f"data-{name}", dataset.title, counts, sha256(corpus), files))
    if files := _files(others, registry):
        cards.append(DataCard("data-others", "Vectors and models", None, "", files))
    return cards


def _counts(corpus: Path, title: str, columns: Mapping[str, str]) -> Block:
    (counts,) = count_corpora([str(corpus)]).values()
    rows = [
        ([split], [Value(f"{counts[counted][split][ALL]:,}") for counted in columns.values()])
        for split in SPLITS
        if counts["pairs"][split][ALL]
    ]
    return Block(f"Counts of {title}", ["Split"], list(columns), rows)


def _names(text: str) -> list[str]:
    return re.findall(r"[^ ,]+", text)


def _files(names: Iterable[str], registry: Mapping[str, Source]) -> list[File]:
    """Return registered sources and existing files; other words of a record are left out."""
    files = []
    for name in dict.fromkeys(names):
        if name in registry:
            source = registry[name]
            hashes = ", ".join(source.sha256)
            text = f"sha256 {hashes}" if hashes else f"git blob {source.git_blob}"
            files.append(File(source.title, text, source.licence, source.citation))
        elif "/" in name and Path(name).is_file():
            files.append(File(name, f"sha256 {sha256(Path(name))}"))
    return files
