"""The report: one HTML page with all results of a run, and the origin of each number.

It shows those files of a run that exist: its tables are those in tables/, its verdicts those in
ledger.csv. The page needs no other file and no network. Its script sorts, filters and opens the
origin of a number; without it, a number links to its run at the end of the page.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import yaml
from markupsafe import Markup

from analogyqa.cells.cell import Cell, differences
from analogyqa.cells.made import made_files
from analogyqa.corpora.table import count_corpora
from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.claims import CLAIM_MARKS, CLAIM_MEANINGS, CLAIMS
from analogyqa.evaluation.published import LEDGER, build_ledger, compare_numbers
from analogyqa.evaluation.summary import (
    SUMMARY,
    find_records,
    read_csv,
    read_finished,
    read_record,
    to_frame,
)
from analogyqa.evaluation.verdicts import LOOKS
from analogyqa.report.html_pages import render
from analogyqa.report.outcomes import headline
from analogyqa.report.page.papers import PaperPage, claim_cards
from analogyqa.report.stored import is_archive
from analogyqa.report.table_formats import Block, Table, Value
from analogyqa.report.tables import SUBSTITUTES, build_table, cell_legend
from analogyqa.report.trace import page_provenance, run_log
from analogyqa.report.verdict_picture import verdict_svg
from analogyqa.runs.depends_on import sha256
from analogyqa.schemas import SPLITS
from analogyqa.settings.data import ALL
from analogyqa.settings.load import REPOSITORY
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.sources.registry import Source, load_registry
from analogyqa.tasks import dataset_task


def build_page(
    results: str | Path, config: Config, papers: Mapping[str, Paper], command: str
) -> str:
    """Return the page of an output folder.

    Until a run has written its ledger, the tables are made of the runs that are finished. `command`
    makes the results; messages name it.

    Raises AnalogyQAError if there is no run yet, or if a file is damaged.
    """
    results = Path(results)
    runs = read_run_records(results, config)
    if not runs:
        raise AnalogyQAError(f"{results}: no results yet. Make them first: {command}")
    tables: dict[tuple[str, str], Table] = {}
    if all((results / name).exists() for name in ("ledger.csv", "summary.csv")):
        ledger = read_csv(results / "ledger.csv", LEDGER)
        summary = read_csv(results / "summary.csv", SUMMARY)
    else:
        computed = read_finished(results, config, papers)
        numbers = compare_numbers(list(papers.values()), config, computed)
        ledger, summary = build_ledger(numbers), computed.summary
        tables = {
            (paper.paper, name): build_table(paper, name, numbers, config, computed)
            for paper in papers.values()
            for name, artefact in paper.artefacts.items()
            if not artefact.is_figure
        }
    path = results / "claims.csv"
    claims = read_csv(path, CLAIMS) if path.exists() else to_frame([], CLAIMS)
    claims = claims[claims["paper"].isin(list(papers))]
    if not config.comparable:
        ledger = ledger.iloc[:0]
    shown: list[tuple[Paper, str, dict]] = []
    try:
        cards = list(claim_cards(claims, papers.values(), config))
        parts = [
            PaperPage(results, paper, config, ledger, claims, summary, tables).part(shown)
            for paper in papers.values()
        ]
        ids, provenance = page_provenance(results, config, command, shown)
    except LookupError as error:
        raise AnalogyQAError(
            f"{results}: a table or claims.csv names {error}, which is no longer in the "
            f"configuration or paper.yaml. Make the tables again: {command}"
        ) from error
    questions = [paper.title for paper in papers.values()]
    # The address of the tracking server may contain a password.
    settings = config.model_dump(mode="json", exclude={"tracking_uri"})
    verdicts, claim_verdicts = {*ledger["verdict"]}, {*claims["verdict"]}
    return render(
        "report.html",
        title=questions[0]
        if len(questions) == 1
        else f"Which claims of {len(questions)} papers hold?",
        origin=commits_and_machines(runs),
        results=config.output_dir if is_archive(results) else results.as_posix(),
        comparable=config.comparable,
        answers=[
            {
                "paper": paper.paper,
                "question": paper.title,
                "headline": headline(paper, ledger, claims),
                "cards": [card for card in cards if card["paper"] == paper.paper],
                "picture": Markup(verdict_svg(paper, ledger, ids)),
            }
            for paper in papers.values()
        ],
        verdicts=[(name, look) for name, look in LOOKS.items() if name in verdicts],
        claim_verdicts=[
            (name, CLAIM_MARKS[name], meaning)
            for name, meaning in CLAIM_MEANINGS.items()
            if name in claim_verdicts
        ],
        legend=(*cell_legend(), *([SUBSTITUTES] if config.comparable else [])),
        papers=parts,
        provenance=provenance,
        command=command,
        runs=runs,
        others=[run for run in runs if run.other],
        duration=duration,
        short_commit=short_commit,
        time=time_block(results),
        data=data_cards(results, runs, config, load_registry(REPOSITORY / "sources.yaml")),
        configuration=yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=110),
    )


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
    """Return how long the jobs of each rule took, from benchmarks/, the longest rule first."""
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
