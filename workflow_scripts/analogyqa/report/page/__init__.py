"""The report: one HTML page with all that a run came to, and where each number is from.

It is made of the files that a run left, as far as they are there, and needs no other file and no
network. Its tables are those of tables/, its verdicts those of ledger.csv.
"""

from collections.abc import Mapping
from pathlib import Path

import yaml

from analogyqa.errors import AnalogyQAError
from analogyqa.report.claims import CLAIMS
from analogyqa.report.claims_page import primary_claims
from analogyqa.report.html_pages import render
from analogyqa.report.ledger_pages import (
    LEGEND,
    verdict_counts,
    verdict_meanings,
    verdict_with_sign,
)
from analogyqa.report.page.data import data_cards
from analogyqa.report.page.papers import part_of
from analogyqa.report.page.runs import (
    duration,
    logs_by_rule,
    original_split,
    read_run_records,
    short_commit,
    time_block,
)
from analogyqa.report.summary import LEDGER, SUMMARY, by_cell, read_csv
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.sources.registry import Source

# Where something lies or listens, which may hold a password and is no part of what was run.
_PLACES = {"tracking_uri"}


def build_page(
    results: str | Path,
    config: Config,
    papers: Mapping[str, Paper],
    registry: Mapping[str, Source],
    command: str,
) -> str:
    """Return the page.

    Args:
        results: the output folder, with ledger.csv and summary.csv at least.
        config: what the runs were made with.
        papers: by name.
        registry: the sources by name.
        command: what makes the results, for the message where there are none.

    Raises AnalogyQAError where there is no ledger yet, and when a file is damaged.
    """
    results = Path(results)
    runs = read_run_records(results, config)
    if not all((results / name).exists() for name in ("ledger.csv", "summary.csv")):
        there = f"{len(runs)} runs and no ledger yet" if runs else "no results yet"
        raise AnalogyQAError(f"{results}: {there}. Make them first: {command}")
    ledger = read_csv(results / "ledger.csv", LEDGER)
    summaries = by_cell(read_csv(results / "summary.csv", SUMMARY))
    path = results / "claims.csv"
    claims = primary_claims(read_csv(path, CLAIMS), papers.values()) if path.exists() else []
    dumped = config.model_dump(mode="json", exclude=_PLACES)
    return render(
        "report.html",
        title=f"Results of {', '.join(papers)}",
        origin=original_split(runs),
        results=results.as_posix(),
        comparable=config.comparable,
        counts=verdict_counts(ledger, verdict_with_sign),
        verdicts=verdict_meanings(),
        legend=LEGEND,
        claims=claims,
        papers=[part_of(results, paper, summaries, config) for paper in papers.values()],
        command=command,
        runs=runs,
        others=[run for run in runs if run.other],
        duration=duration,
        short_commit=short_commit,
        time=time_block(results),
        cards=data_cards(results, runs, config, registry),
        configuration=yaml.safe_dump(dumped, sort_keys=False, allow_unicode=True, width=110),
        logs=logs_by_rule(results),
    )
