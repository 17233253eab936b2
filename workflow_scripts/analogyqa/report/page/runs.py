"""The runs in the report, the files that they read, and the time that the jobs took."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analogyqa.cells.cell import Cell, differences
from analogyqa.cells.made import made_files
from analogyqa.corpora.table import count_corpora
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.summary import find_records, read_record
from analogyqa.report.table_formats import Block, Value
from analogyqa.report.trace import run_log
from analogyqa.runs.depends_on import sha256
from analogyqa.schemas import SPLITS
from analogyqa.settings.data import ALL
from analogyqa.settings.run import Config
from analogyqa.sources.registry import Source
from analogyqa.tasks import dataset_task


class Run(NamedTuple):
    """A run: its path, its coordinates, its record, and the log of its job ("" for none).

    `other`: the settings in which it differs from the configuration, "" for none.
    """

    path: str
    label: str
    record: dict
    log: str
    other: str = ""


def read_run_records(results: Path, config: Config) -> list[Run]:
    """Return the runs in the results that the configuration can make, sorted by path.

    Runs of other papers may be in the same folder. Raises AnalogyQAError if a record is damaged.
    """
    runs = []
    for path in find_records(results).values():
        cell = Cell.from_path(path.parent)
        if cell.system not in config.systems or cell.dataset not in config.datasets:
            continue
        try:
            now = cell.settings(config)
        except (AnalogyQAError, ValueError):  # such as an override that the system does not have
            continue
        record, log = read_record(path), run_log(results, cell)
        name = log.relative_to(results).as_posix() if log else ""
        other = ", ".join(islice(differences(record["settings"], now), 3))
        runs.append(Run(cell.path, cell.label, record, name, other))
    return runs


def time_block(results: Path) -> Block:
    """Return how long the jobs of each rule took, the longest rule first.

    Each job has a file benchmarks/{rule}/**.jsonl with a line for each time that it ran.
    """
    rows = []
    for path in made_files(results, "benchmarks/*/**/*.jsonl"):
        name = path.relative_to(results / "benchmarks").with_suffix("").as_posix()
        rule, _, job = name.partition("/")
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            # An interrupted job may leave a line that cannot be read.
            with suppress(ValueError, KeyError, TypeError):
                times = json.loads(line)
                seconds, cpu, memory = times["s"], times["cpu_time"], times["max_rss"]
                rows.append((rule, job, float(seconds), cpu, memory))
    jobs = pd.DataFrame(rows, columns=["rule", "job", "seconds", "cpu", "memory"])
    for name in ("cpu", "memory"):
        jobs[name] = pd.to_numeric(jobs[name], errors="coerce")
    total, lines = jobs["seconds"].sum(), []
    for rule, part in sorted(jobs.groupby("rule"), key=lambda item: -item[1]["seconds"].sum()):
        seconds, memory = part["seconds"].sum(), part["memory"].max()
        longest = part.loc[part["seconds"].idxmax()]
        texts = [
            str(part["job"].nunique()),
            duration(seconds),
            f"{seconds / total:.0%}" if total else "",
            duration(part["cpu"].sum()),
            "" if pd.isna(memory) else f"{memory:,.0f} MB",
            f"{longest['job']}, {duration(longest['seconds'])}",
        ]
        lines.append(([str(rule)], list(map(Value, texts))))
    columns = ["Jobs", "Time", "Share", "CPU time", "Most memory", "Longest job"]
    return Block("", ["Rule"], columns, lines)


def duration(seconds: float) -> str:
    """Return a time in words, such as 2 h 05 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02} min"


def commits_and_machines(runs: Iterable[Run]) -> str:
    """Return the commits of the runs, and the machines that trained them, in one line."""
    records = [run.record for run in runs]
    commits = dict.fromkeys(map(short_commit, records))
    text = f"{len(records)} run{'s' * (len(records) != 1)} of commit {', '.join(commits)}"
    trained_on = machines(records)
    return f"{text}, trained on {trained_on}" if trained_on else text


def machines(records: Iterable[dict]) -> str:
    """Return the kinds of machines that trained, "" if nothing was trained."""
    kinds = {
        machine.get("gpu") or f"CPU ({machine['instructions']})"
        for record in records
        for seed_machines in record["machines"].values()
        for machine in seed_machines
    }
    return " and ".join(sorted(kinds))


def short_commit(record: dict) -> str:
    """Return the abbreviated commit of a record, with `-dirty` for uncommitted changes."""
    name, _, dirty = record["git_commit"].partition("-")
    return name[:12] + (f"-{dirty}" if dirty else "")


def data_cards(
    results: Path, runs: Sequence[Run], config: Config, registry: Mapping[str, Source]
) -> Iterator[dict]:
    """Yield, for the template, a card for each data set with a corpus, and one for other files.

    A card has an id, a title, the counts of the data set as a Block, the hash of its table, and the
    files that the records of the runs name.
    """
    texts: dict[str, list[str]] = {name: [] for name in (*config.datasets, "")}
    for split in SPLITS:
        for run in runs:
            texts[run.record["cell"]["dataset"]] += [run.record["sources"].get(split, "")]
    for run in runs:
        sources = run.record["sources"].items()
        texts[""] += [text for split, text in sources if split not in SPLITS]
        texts[""] += [store["origin"] for store in run.record["stores"].values()]
    for name, dataset in config.datasets.items():
        corpus = results / "corpora" / f"{name}.parquet"
        if corpus.exists():
            yield {
                "id": f"data-{name}",
                "title": dataset.title,
                "counts": _counts(corpus, dataset.title, dict(dataset_task(dataset).counts)),
                "table": sha256(corpus),
                "files": list(_files(texts[name], registry)),
            }
    if files := list(_files(texts[""], registry)):
        title = "Vectors and models"
        yield {"id": "data-others", "title": title, "counts": None, "table": "", "files": files}


def _counts(corpus: Path, title: str, columns: Mapping[str, str]) -> Block:
    (counts,) = count_corpora([str(corpus)]).values()
    rows = [
        ([split], [Value(f"{counts[counted][split][ALL]:,}") for counted in columns.values()])
        for split in SPLITS
        if counts["pairs"][split][ALL]
    ]
    return Block(f"Counts of {title}", ["Split"], list(columns), rows)


def _files(texts: Iterable[str], registry: Mapping[str, Source]) -> Iterator[dict[str, str]]:
    """Yield the registered sources and existing files that the words of records name."""
    for name in dict.fromkeys(word for text in texts for word in re.findall(r"[^ ,]+", text)):
        if source := registry.get(name):
            hashes = ", ".join(source.sha256)
            text = f"sha256 {hashes}" if hashes else f"git blob {source.git_blob}"
            facts = {"title": source.title, "hash": text}
            yield facts | {"licence": source.licence, "citation": source.citation}
        elif "/" in name and Path(name).is_file():
            text = f"sha256 {sha256(Path(name))}"
            yield {"title": name, "hash": text, "licence": "", "citation": ""}
