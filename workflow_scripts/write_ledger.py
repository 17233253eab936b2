"""Summarise every run and compare the published values with it."""

from pathlib import Path

from analogyqa.cells import reported_cells
from analogyqa.evaluation.coverage import measure_coverage
from analogyqa.evaluation.published import build_ledger, compare_numbers
from analogyqa.evaluation.summary import read_results, write_csv
from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.ledger_pages import to_markdown
from analogyqa.report.verdict_picture import verdict_svg

with job(snakemake):
    (config, by_name), inputs = reported(snakemake), snakemake.input
    papers = list(by_name.values())
    results = read_results(
        config,
        reported_cells(config, by_name),
        *(inputs.records, inputs.metrics, inputs.histories, inputs.corpora, inputs.costs),
    )
    numbers = compare_numbers(papers, config, results)
    ledger = build_ledger(numbers)
    write_csv(results.summary, snakemake.output.summary)
    write_csv(ledger, snakemake.output.ledger)
    coverage = measure_coverage(numbers, results, config.bootstrap.confidence)
    write_csv(coverage, snakemake.output.coverage)
    write_text(snakemake.output.md, to_markdown(ledger, papers))
    for path in snakemake.output.verdicts:
        paper = by_name[Path(path).parent.name]
        write_text(path, verdict_svg(paper, ledger))
