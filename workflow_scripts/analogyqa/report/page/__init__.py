"""The report: one HTML page with all results of a run, and the origin of each number.

It shows those files of a run that exist: its tables are those in tables/, its verdicts those in
ledger.csv. The page needs no other file and no network.
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
from analogyqa.report.page.papers import paper_part
from analogyqa.report.page.runs import (
    commits_and_machines,
    duration,
    logs_by_rule,
    read_run_records,
    short_commit,
    time_block,
)
from analogyqa.report.summary import LEDGER, SUMMARY, by_cell, read_csv
from analogyqa.settings.load import REPOSITORY
from analogyqa.settings.paper import Paper
from analogyqa.settings.run import Config
from analogyqa.sources.registry import load_registry


def build_page(
    results: str | Path,
    config: Config,
    papers: Mapping[str, Paper],
    command: str,
) -> str:
    """Return the page.

    Args:
        results: the output folder, with at least ledger.csv and summary.csv.
        papers: the papers by name.
        command: the command that makes the results, for messages.

    Raises AnalogyQAError if there is no ledger yet, or if a file is damaged.
    """
    results = Path(results)
    runs = read_run_records(results, config)
    if not all((results / name).exists() for name in ("ledger.csv", "summary.csv")):
        state = f"{len(runs)} runs and no ledger yet" if runs else "no results yet"
        raise AnalogyQAError(f"{results}: {state}. Make them first: {command}")
    ledger = read_csv(results / "ledger.csv", LEDGER)
    summaries = by_cell(read_csv(results / "summary.csv", SUMMARY))
    path = results / "claims.csv"
    claims = primary_claims(read_csv(path, CLAIMS), papers.values()) if path.exists() else []
    registry = load_registry(REPOSITORY / "sources.yaml")
    # The address of the tracking server may contain a password.
    settings = config.model_dump(mode="json", exclude={"tracking_uri"})
    return render(
        "report.html",
        title=f"Results of {', '.join(papers)}",
        origin=commits_and_machines(runs),
        results=results.as_posix(),
        comparable=config.comparable,
        counts=verdict_counts(ledger, verdict_with_sign),
        verdicts=verdict_meanings(),
        legend=LEGEND,
        claims=claims,
        papers=[paper_part(results, paper, summaries, config) for paper in papers.values()],
        command=command,
        runs=runs,
        others=[run for run in runs if run.other],
        duration=duration,
        short_commit=short_commit,
        time=time_block(results),
        cards=data_cards(results, runs, config, registry),
        configuration=yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=110),
        logs=logs_by_rule(results),
    )
