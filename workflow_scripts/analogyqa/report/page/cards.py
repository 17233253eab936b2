"""The cards of the page: the primary claims, and the files that runs read."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.corpora.table import count_corpora
from analogyqa.evaluation.claims import CLAIM_MARKS, UNDECIDED, effect_text
from analogyqa.measures import MEASURES
from analogyqa.report.claims_page import judged_on
from analogyqa.report.page.runs import Run
from analogyqa.report.table_formats import Block, Value
from analogyqa.runs.depends_on import sha256
from analogyqa.schemas import SPLITS
from analogyqa.settings.data import ALL
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.sources.registry import Source
from analogyqa.tasks import dataset_task


class Judgement(NamedTuple):
    """A verdict on a claim: the data and settings it rests on, facts in words, and a drawing.

    `interval` has the places of `low`, `effect`, `high` and `paper_effect` in percent of the width.
    No effect is in the middle, and all cards of a paper have one scale.
    """

    judged_on: str
    verdict: str
    mark: str
    facts: list[str]
    interval: dict[str, float | None]


class ClaimCard(NamedTuple):
    """A primary claim of a paper with its judgements."""

    paper: str
    claim: str
    where: str
    judgements: list[Judgement]


def claim_cards(claims: pd.DataFrame, papers: Iterable[Paper], config: Config) -> list[ClaimCard]:
    """Return a card for each primary claim; `claims` are the verdicts, columns CLAIMS."""
    primary = claims[claims["primary"]]
    cards = []
    for paper in papers:
        of_paper = primary[primary["paper"] == paper.paper]
        # 1 if all systems are equal.
        largest = of_paper[["low", "high", "paper_effect"]].abs().max(axis=None) or 1
        for name, rows in of_paper.groupby("claim", sort=False):
            claim = paper.claims[str(name)]
            side = claim.sides()[0][0]
            dataset = config.datasets.get(side.dataset)  # None if it is not configured
            items = dataset_task(dataset).items if dataset else ""
            judgements = [_judgement(row, largest, items) for row in rows.to_dict("records")]
            where = f"{claim.where}; {MEASURES[side.measured].short}"
            cards.append(ClaimCard(paper.paper, claim.claim, where, judgements))
    return cards


def _judgement(row: dict, largest: float, items: str) -> Judgement:
    if pd.isna(row["p_value"]):
        facts, interval = [row["reason"]], {}
    else:
        facts = [
            # Without the effect, which follows.
            row["evidence"].rpartition(" (")[0],
            f"{effect_text(row['effect'], row, row['kind'])}, p = {row['p_value']:.2g}",
            f"{row['n_items']} {items}, seeds: {row['n_seeds']}",
            _needed(row, items),
            row["reason"],
        ]
        interval = {
            name: None if pd.isna(row[name]) else round(50 + 48 * row[name] / largest, 1)
            for name in ("low", "effect", "high", "paper_effect")
        }
    mark = CLAIM_MARKS[row["verdict"]]
    return Judgement(judged_on(row), row["verdict"], mark, list(filter(None, facts)), interval)


def _needed(row: dict, items: str) -> str:
    """Return how many items would find the published difference, or what these items would find."""
    if row["verdict"] != UNDECIDED:
        return ""
    if pd.isna(row["paper_effect"]):
        return f"a difference of {row['detectable']:.3f} would probably be found"
    published = f"the published {row['paper_effect']:+.3f}"
    if pd.isna(row["items_needed"]):
        return f"with so few seeds, no number of {items} would show {published}"
    return f"about {row['items_needed']:.0f} {items} would show {published}"


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
    texts: dict[tuple[str, str], list[str]] = {}  # by data set and split, ("", "") for the others
    for run in runs:
        dataset = run.record["cell"]["dataset"]
        for split, text in run.record["sources"].items():
            texts.setdefault((dataset, split) if split in SPLITS else ("", ""), []).append(text)
        for store in run.record["stores"].values():
            texts.setdefault(("", ""), []).append(store["origin"])
    cards = []
    for name, dataset in config.datasets.items():
        corpus = results / "corpora" / f"{name}.parquet"
        if corpus.exists():
            named = [text for split in SPLITS for text in texts.get((name, split), [])]
            counts = _counts(corpus, dataset.title, dict(dataset_task(dataset).counts))
            files = _files(named, registry)
            cards.append(DataCard(f"data-{name}", dataset.title, counts, sha256(corpus), files))
    if files := _files(texts.get(("", ""), []), registry):
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


def _files(texts: Iterable[str], registry: Mapping[str, Source]) -> list[File]:
    """Return the registered sources and existing files that the words of records name."""
    files = []
    for name in dict.fromkeys(word for text in texts for word in re.findall(r"[^ ,]+", text)):
        if name in registry:
            source = registry[name]
            hashes = ", ".join(source.sha256)
            text = f"sha256 {hashes}" if hashes else f"git blob {source.git_blob}"
            files.append(File(source.title, text, source.licence, source.citation))
        elif "/" in name and Path(name).is_file():
            files.append(File(name, f"sha256 {sha256(Path(name))}"))
    return files
