"""The report: one HTML page with all results of a run, and the origin of each number.

It shows those files of a run that exist: its tables are those in tables/, its verdicts those in
ledger.csv. The page needs no other file and no network. Its script sorts, filters and opens the
origin of a number; without it, a number links to its run at the end of the page.
"""

from collections.abc import Mapping
from pathlib import Path

import yaml
from markupsafe import Markup

from analogyqa.errors import AnalogyQAError
from analogyqa.evaluation.claims import CLAIM_MARKS, CLAIM_MEANINGS, CLAIMS
from analogyqa.evaluation.published import LEDGER, build_ledger, compare_numbers
from analogyqa.evaluation.summary import SUMMARY, read_csv, read_finished, to_frame
from analogyqa.evaluation.verdicts import LOOKS
from analogyqa.report.html_pages import render
from analogyqa.report.outcomes import headline, verdict_svg
from analogyqa.report.page.papers import PaperPage, claim_cards
from analogyqa.report.page.runs import (
    commits_and_machines,
    data_cards,
    duration,
    read_run_records,
    short_commit,
    time_block,
)
from analogyqa.report.table_formats import Table
from analogyqa.report.tables import INTERVALS, SUBSTITUTES, build_table, cell_legend
from analogyqa.report.trace import Provenance
from analogyqa.settings.load import REPOSITORY
from analogyqa.settings.paper import OWN, Paper
from analogyqa.settings.run import Config
from analogyqa.sources.registry import load_registry


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
    provenance = Provenance(results, config, command)
    try:
        cards = list(claim_cards(claims, papers.values(), config))
        parts = [
            PaperPage(results, paper, config, ledger, claims, summary, tables).part(provenance)
            for paper in papers.values()
        ]
    except LookupError as error:
        raise AnalogyQAError(
            f"{results}: a table or claims.csv names {error}, which is no longer in the "
            f"configuration or paper.yaml. Make the tables again: {command}"
        ) from error
    # The address of the tracking server may contain a password.
    settings = config.model_dump(mode="json", exclude={"tracking_uri"})
    verdicts, claim_verdicts = {*ledger["verdict"]}, {*claims["verdict"]}
    return render(
        "report.html",
        title=f"Results of {', '.join(papers).replace(OWN, 'own data')}",
        origin=commits_and_machines(runs),
        results=results.as_posix(),
        comparable=config.comparable,
        opening=[
            (
                paper.paper,
                paper.citation,
                headline(paper, ledger, claims),
                Markup(verdict_svg(paper, ledger, provenance.compared)),
            )
            for paper in papers.values()
        ],
        cards=cards,
        verdicts=[(name, look) for name, look in LOOKS.items() if name in verdicts],
        claim_verdicts=[
            (name, CLAIM_MARKS[name], meaning)
            for name, meaning in CLAIM_MEANINGS.items()
            if name in claim_verdicts
        ],
        legend=(cell_legend(), INTERVALS, *([SUBSTITUTES] if config.comparable else [])),
        papers=parts,
        provenance=provenance.encoded(),
        command=command,
        runs=runs,
        others=[run for run in runs if run.other],
        duration=duration,
        short_commit=short_commit,
        time=time_block(results),
        data=data_cards(results, runs, config, load_registry(REPOSITORY / "sources.yaml")),
        configuration=yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=110),
    )
