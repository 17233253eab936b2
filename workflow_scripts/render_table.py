"""Render a table of a paper."""

from analogyqa.cells import artefact_cells
from analogyqa.evaluation.published import compare_numbers
from analogyqa.evaluation.summary import read_results, write_csv
from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.table_formats import to_latex, to_markdown
from analogyqa.report.tables import build_table
from analogyqa.report.views.show import build_view, tabulate_view

with job(snakemake):
    (config, papers), inputs = reported(snakemake), snakemake.input
    paper = papers[snakemake.wildcards.paper]
    name = snakemake.wildcards.artefact
    if name in paper.views:
        content = build_view(paper, name, inputs.get("tables", []), config)
        table = tabulate_view(content, paper, name, config)
    else:
        results = read_results(
            config,
            artefact_cells(config, paper, name),
            *(inputs.records, inputs.metrics, inputs.histories, inputs.corpora, inputs.costs),
        )
        numbers = compare_numbers([*papers.values()], config, results, (paper.paper, name))
        table = build_table(paper, name, numbers, config, results)
    write_csv(table.frame, snakemake.output.csv)
    write_text(snakemake.output.md, to_markdown(table))
    write_text(snakemake.output.tex, to_latex(table, f"tab:{paper.paper}-{name}"))
